//! A literal is of the type its place takes.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Values-of-Correct-Type>

use crate::coerce::{dgraph, is_beyond, kind_of_literal};
use crate::suggest;
use crate::syntax::ast::{ValueId, ValueKind};
use crate::type_system::{ScalarReader, TypeRef, Wording};
use crate::validate::rule_context::Context;
use crate::validate::shown_literal;

/// Reports `null` where `ty` is expected, which takes none.
#[cold]
pub(in crate::validate) fn null(cx: &mut Context<'_>, value: ValueId, ty: Option<TypeRef>) {
    let ty = ty.map_or_else(String::new, |ty| cx.schema.type_text(ty));
    let message = match cx.schema.wording() {
        Wording::GraphqlJs => format!("Expected value of non-null type \"{ty}\" not to be null."),
        Wording::Dgraph => dgraph::expected_type_message(&ty, "null"),
    };
    cx.report(&[cx.document.value(value).span], message);
}

/// Reports something else where an input object is expected.
#[cold]
pub(in crate::validate) fn not_an_object(cx: &mut Context<'_>, value: ValueId, ty: TypeRef) {
    let name = cx.schema.type_name(ty.base);
    let found = shown_literal::value(cx.document, value);
    let message = match cx.schema.wording() {
        Wording::GraphqlJs => format!("Expected value of type \"{name}\" to be an object, found: {found}."),
        Wording::Dgraph => dgraph::expected_type_message(&cx.schema.type_text(ty), &found),
    };
    cx.report(&[cx.document.value(value).span], message);
}

/// Holds a literal against the enum of `ty`.
pub(in crate::validate) fn enumeration(cx: &mut Context<'_>, value: ValueId, ty: TypeRef) {
    let base = ty.base;
    let literal = *cx.document.value(value);
    let schema = cx.schema;
    let is_name = matches!(literal.kind, ValueKind::Enum);
    let text = cx.document.str(literal.span);
    if is_name && schema.enum_value_by_name(base, text).is_some() {
        return;
    }
    let found = shown_literal::value(cx.document, value);
    let mut suggestion = String::new();
    if cx.options.suggestions {
        let values = schema.enum_values(base).map(|it| schema.str(schema.enum_value(it).name));
        let near = suggest::find_near(&found, values);
        suggestion = suggest::did_you_mean("the enum value ", &near);
    }
    let name = schema.type_name(base);
    let message = if schema.wording() == Wording::Dgraph {
        let expected = dgraph::expected_type_message(&schema.type_text(ty), &found);
        format!("{expected}{}", dgraph::strip_quotes(&suggestion))
    } else if is_name {
        format!("Value \"{found}\" does not exist in \"{name}\" enum.{suggestion}")
    } else {
        format!("Enum \"{name}\" cannot represent non-enum value: {found}.{suggestion}")
    };
    cx.report(&[literal.span], message);
}

/// Holds a literal against the scalar of `ty`, read by `reader`.
pub(in crate::validate) fn scalar(cx: &mut Context<'_>, value: ValueId, ty: TypeRef, reader: ScalarReader) {
    let literal = *cx.document.value(value);
    let text = cx.document.str(literal.span);
    let kind = literal.kind;
    let is_string = matches!(kind, ValueKind::String { .. } | ValueKind::Block);
    let is_int = matches!(kind, ValueKind::Int);
    let is_number = is_int || matches!(kind, ValueKind::Float);
    let is_right = match reader {
        ScalarReader::Int => is_int && text.len() <= 11 && text.parse::<i32>().is_ok(),
        // A literal like 1e400 is no double; graphql-js would let it through as infinity.
        ScalarReader::Float => is_number && text.parse::<f64>().is_ok_and(f64::is_finite),
        ScalarReader::String => is_string,
        ScalarReader::Boolean => matches!(kind, ValueKind::Boolean(_)),
        ScalarReader::Id => is_string || is_int,
        ScalarReader::BigInt => {
            (is_int && text.parse::<i64>().is_ok()) || (is_string && trim_quotes(text).parse::<i64>().is_ok())
        }
        ScalarReader::Decimal => {
            is_number || (is_string && (is_decimal(trim_quotes(text)) || is_beyond(trim_quotes(text))))
        }
        ScalarReader::Text => is_string || is_number || matches!(kind, ValueKind::Boolean(_)),
        ScalarReader::Moment => is_string || is_number,
        ScalarReader::Json => true,
    };
    if !is_right {
        wrong(cx, value, ty, reader, is_int);
    }
}

/// The text between the quotes. Digits need no escapes, so escapes need no decoding here.
fn trim_quotes(text: &str) -> &str {
    text.trim_matches('"')
}

/// True if `text` is a number as JSON writes one, leading zeros and `+` allowed, with at least one digit.
fn is_decimal(text: &str) -> bool {
    let digits = text.bytes().any(|byte| byte.is_ascii_digit());
    let shape =
        text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'));
    digits && shape && text.parse::<f64>().is_ok()
}

#[cold]
fn wrong(cx: &mut Context<'_>, value: ValueId, ty: TypeRef, reader: ScalarReader, is_int: bool) {
    let found = shown_literal::value(cx.document, value);
    let message = match reader {
        _ if cx.schema.wording() == Wording::Dgraph => {
            let kind = kind_of_literal(cx.document.value(value).kind);
            dgraph::scalar(cx.schema, ty, reader, &found, kind)
        }
        ScalarReader::Int if is_int => {
            format!("Int cannot represent non 32-bit signed integer value: {found}")
        }
        ScalarReader::Int => format!("Int cannot represent non-integer value: {found}"),
        ScalarReader::Float => format!("Float cannot represent non numeric value: {found}"),
        ScalarReader::String => {
            // Show only the kind: the text may be a password without its quotes.
            let kind = kind_of_literal(cx.document.value(value).kind);
            format!("String cannot represent a non string value: {kind}")
        }
        ScalarReader::Boolean => format!("Boolean cannot represent a non boolean value: {found}"),
        ScalarReader::Id => format!("ID cannot represent a non-string and non-integer value: {found}"),
        ScalarReader::BigInt
        | ScalarReader::Decimal
        | ScalarReader::Text
        | ScalarReader::Moment
        | ScalarReader::Json => {
            format!("Expected value of type \"{}\", found: {found}.", cx.schema.type_name(ty.base))
        }
    };
    cx.report(&[cx.document.value(value).span], message);
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn literals_of_scalars_are_of_their_kind() {
        check(
            "{ int(x: 2147483648) }",
            &["1:10 Int cannot represent non 32-bit signed integer value: 2147483648"],
        );
        check("{ int(x: 1.5) }", &["1:10 Int cannot represent non-integer value: 1.5"]);
        check("{ float(x: \"1\") }", &["1:12 Float cannot represent non numeric value: \"1\""]);
        check("{ float(x: 1e400) }", &["1:12 Float cannot represent non numeric value: 1e400"]);
        check("{ text(x: 1) }", &["1:11 String cannot represent a non string value: an integer"]);
        check("{ text(x: secret) }", &["1:11 String cannot represent a non string value: an enum value"]);
        check("{ key(x: 1.5) }", &["1:10 ID cannot represent a non-string and non-integer value: 1.5"]);
        check("{ yes(x: 1) }", &["1:10 Boolean cannot represent a non boolean value: 1"]);
        check("{ any(x: { from: 1 }) }", &[]);
    }

    #[test]
    fn literals_of_enums_are_their_names() {
        check("{ genre(x: \"1\") }", &["1:12 Enum \"Genre\" cannot represent non-enum value: \"1\"."]);
        check(
            "{ genre(x: jazz) }",
            &["1:12 Value \"jazz\" does not exist in \"Genre\" enum. Did you mean the enum value \"JAZZ\"?"],
        );
        check("{ genre(x: JAZZ) }", &[]);
    }

    #[test]
    fn a_single_value_stands_for_a_list_but_null_for_nothing_else() {
        check("{ grid(x: 1) }", &[]);
        check(
            "{ intsSure(x: [1, null]) }",
            &["1:19 Expected value of non-null type \"Int!\" not to be null."],
        );
        check("{ grid(x: [[[1]]]) }", &["1:13 Int cannot represent non-integer value: […]"]);
        check("{ intSure(x: null) }", &["1:14 Expected value of non-null type \"Int!\" not to be null."]);
        check(
            "{ range(x: [1, 2]) }",
            &["1:12 Expected value of type \"Range\" to be an object, found: […]."],
        );
    }
}
