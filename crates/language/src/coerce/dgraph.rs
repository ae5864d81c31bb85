//! Messages of Dgraph's validator, [gqlparser](https://github.com/dgraph-io/gqlparser), that several rules share.
//!
//! A message shows only the kind of a text value, unlike in gqlparser: the value may be a password without its quotes.

use crate::type_system::{ScalarReader, SchemaView, TypeRef};

/// Message: the value `found` is used where `ty` is expected.
pub(crate) fn expected_type_message(ty: &str, found: &str) -> String {
    format!("Expected type {ty}, found {found}.")
}

/// Message: the literal `found`, of `kind`, is no value of the scalar `ty`, which `reader` reads.
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
        ScalarReader::BigInt => type_mismatch_message(found, name),
        ScalarReader::String => expected_type_message(&schema.type_text(ty), kind),
        ScalarReader::Int
        | ScalarReader::Float
        | ScalarReader::Boolean
        | ScalarReader::Id
        | ScalarReader::Decimal
        | ScalarReader::Text
        | ScalarReader::Moment
        | ScalarReader::Json => expected_type_message(&schema.type_text(ty), found),
    }
}

/// Message: an integer has too many digits for the type `name`.
pub(crate) fn out_of_range(number: &str, name: &str) -> String {
    format!("Out of range value '{number}', for type `{name}`")
}

/// Message: a value is of another kind than the integer type `name`.
pub(crate) fn type_mismatch_message(value: &str, name: &str) -> String {
    format!("Type mismatched for Value `{value}`, expected:`{name}`")
}

/// Removes the quotes around names in a suggestion.
pub(crate) fn strip_quotes(suggestion: &str) -> String {
    suggestion.replace('"', "")
}
