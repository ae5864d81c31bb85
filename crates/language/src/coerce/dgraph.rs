//! The words of Dgraph's validator, [gqlparser](https://github.com/dgraph-io/gqlparser), where several rules have them.
//!
//! The value of a text is told by its kind alone, which gqlparser does not: it may be a password without its quotes.

use crate::schema::{ScalarReader, SchemaView, TypeRef};

/// `found` stands where `ty` is expected.
pub(crate) fn expected(ty: &str, found: &str) -> String {
    format!("Expected type {ty}, found {found}.")
}

/// The literal `found`, of `kind`, is none of the scalar of `ty`, which `reader` reads.
pub(crate) fn scalar(
    schema: SchemaView<'_>,
    ty: TypeRef,
    reader: ScalarReader,
    found: &str,
    kind: &str,
) -> String {
    let is_digits = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit())
    };
    let name = schema.type_name(ty.base);
    match reader {
        ScalarReader::Int if is_digits(found) => out_of_range(found, name),
        ScalarReader::BigInt if is_digits(found.trim_matches('"')) => {
            out_of_range(found.trim_matches('"'), name)
        }
        ScalarReader::BigInt => mismatched(found, name),
        ScalarReader::String => expected(&schema.type_text(ty), kind),
        ScalarReader::Int
        | ScalarReader::Float
        | ScalarReader::Boolean
        | ScalarReader::Id
        | ScalarReader::Decimal
        | ScalarReader::Text
        | ScalarReader::Moment
        | ScalarReader::Json => expected(&schema.type_text(ty), found),
    }
}

/// An integer that has too many digits for the type `name`.
pub(crate) fn out_of_range(number: &str, name: &str) -> String {
    format!("Out of range value '{number}', for type `{name}`")
}

/// A value of another kind than an integer of the type `name`.
pub(crate) fn mismatched(value: &str, name: &str) -> String {
    format!("Type mismatched for Value `{value}`, expected:`{name}`")
}

/// A suggestion without the quotes around names.
pub(crate) fn unquoted(suggestion: &str) -> String {
    suggestion.replace('"', "")
}
