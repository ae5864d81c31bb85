//! A variable's type fits every place it is used in.
//!
//! Lenient, as Hasura: a list may have nullable items where the place's has none. Then the variable's items are read as those of the place,
//! so a null among them is refused when the request comes.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-All-Variable-Usages-Are-Allowed>

use crate::coerce::Reading;
use crate::ids::TypeId;
use crate::syntax::ast::{Operation, ValueKind, VariableDefinition};
use crate::type_system::TypeRef;
use crate::validate::rule_context::{Context, Use};
use crate::validate::valid::NONE;

/// Holds each use against the definition at its name's place.
pub(in crate::validate) fn operation(
    cx: &mut Context<'_>,
    operation: &Operation,
    uses: &[Use],
    places: &[u32],
) {
    if operation.variables.is_empty() {
        return;
    }
    for used in uses {
        let place = places[used.name as usize];
        if place == NONE {
            continue;
        }
        let base = cx.tables.variables[place as usize].ty;
        let definition = cx.document.variables[place as usize];
        let ty = TypeRef { base: TypeId(base), wraps: definition.ty.wraps };
        if let Some(expected) = used.expected
            && base != NONE
        {
            usage(cx, (used, place), &definition, ty, expected);
            if cx.is_full() {
                return;
            }
        }
    }
}

fn usage(
    cx: &mut Context<'_>,
    (used, place): (&Use, u32),
    definition: &VariableDefinition,
    ty: TypeRef,
    expected: TypeRef,
) {
    let spans = [definition.span, cx.document.value(used.value).span];
    let name = cx.quoted_text(definition.name);
    let has_default = used.has_default
        || definition.default.is_some_and(|value| !matches!(cx.document.value(value).kind, ValueKind::Null));
    let wraps = if has_default && !ty.is_non_null() { expected.wraps.nullable() } else { expected.wraps };
    let narrowed = match cx.reading {
        Reading::Lenient if ty.wraps.lists() == wraps.lists() => ty.wraps.narrowed_below(wraps),
        Reading::Lenient | Reading::Strict => ty.wraps,
    };
    if ty.base == expected.base && wraps.accepts(narrowed) {
        let known = &mut cx.tables.variables[place as usize].wraps;
        *known = known.narrowed_below(narrowed);
    } else {
        let ty = cx.schema.type_text(ty);
        let expected = cx.schema.type_text(expected);
        let message =
            format!("Variable \"${name}\" of type \"{ty}\" used in position expecting type \"{expected}\".");
        cx.report(&spans, message);
    }
    if let Some(one_of) = used.one_of
        && !ty.is_non_null()
    {
        let ty = cx.schema.type_text(ty);
        let one_of = cx.schema.type_name(one_of);
        let message = format!(
            "Variable \"${name}\" is of type \"{ty}\" but must be non-nullable to be used for OneOf Input Object \
             \"{one_of}\"."
        );
        cx.report(&spans, message);
    }
}

#[cfg(test)]
mod tests {
    use crate::coerce::Reading;
    use crate::limits::Limits;
    use crate::syntax::parser::parse;
    use crate::validate::tests::{OPTIONS, check, schema};
    use crate::validate::validate_for;

    #[test]
    fn a_variable_fits_its_place() {
        check(
            "query ($a: Int) { intSure(x: $a) }",
            &["1:8 1:30 Variable \"$a\" of type \"Int\" used in position expecting type \"Int!\"."],
        );
        check(
            "query ($a: [Int]) { intsSure(x: $a) }",
            &["1:8 1:33 Variable \"$a\" of type \"[Int]\" used in position expecting type \"[Int!]!\"."],
        );
        check("query ($a: Int = 1) { intSure(x: $a) }", &[]);
        check("query ($a: Int) { intDefault(x: $a) }", &[]);
        check(
            "query ($a: Int) { intsSure(x: [1, $a]) }",
            &["1:8 1:35 Variable \"$a\" of type \"Int\" used in position expecting type \"Int!\"."],
        );
        check("query ($a: ID) { key(x: $a) }", &[]);
    }

    /// Reads `text` leniently: the type as which its first variable is read, or the first error.
    fn lenient(text: &str) -> String {
        let schema =
            schema("type Query { ints(x: [Int!]!): Int, deep(x: [[Int!]!]): Int, plain(x: [Int]): Int }");
        let document = parse(text, &Limits::NONE).expect("the document parses");
        match validate_for(&schema, &document, &OPTIONS, Reading::Lenient) {
            Ok(valid) => schema.type_text(valid.variable_type(0)),
            Err(errors) => errors[0].message.clone(),
        }
    }

    #[test]
    fn items_may_be_declared_nullable_where_reading_is_lenient() {
        assert_eq!(lenient("query ($a: [Int]!) { ints(x: $a) }"), "[Int!]!");
        assert_eq!(lenient("query ($a: [Int]! = [1]) { ints(x: $a) }"), "[Int!]!");
        assert_eq!(lenient("query ($a: [[Int]]) { deep(x: $a) }"), "[[Int!]!]");
        assert_eq!(
            lenient("query ($a: [[Int!]]!) { ...F } fragment F on Query { deep(x: $a) }"),
            "[[Int!]!]!"
        );
        assert_eq!(lenient("query ($a: [Int]!) { plain(x: $a) ints(x: $a) }"), "[Int!]!");
        assert_eq!(lenient("query ($a: [Int]) { plain(x: $a) }"), "[Int]");
        for (text, ty, place) in [
            ("query ($a: [Int]) { ints(x: $a) }", "[Int]", "[Int!]!"),
            ("query ($a: Int!) { ints(x: $a) }", "Int!", "[Int!]!"),
            ("query ($a: [[Int]]!) { ints(x: $a) }", "[[Int]]!", "[Int!]!"),
            ("query ($a: [String]!) { ints(x: $a) }", "[String]!", "[Int!]!"),
        ] {
            let expected =
                format!("Variable \"$a\" of type \"{ty}\" used in position expecting type \"{place}\".");
            assert_eq!(lenient(text), expected, "{text}");
        }
    }

    #[test]
    fn variables_of_one_of_objects_are_non_null() {
        check(
            "query ($a: ID = 1) { by(x: { id: $a }) }",
            &[
                "1:8 1:34 Variable \"$a\" is of type \"ID\" but must be non-nullable to be used for OneOf Input Object \"By\".",
            ],
        );
        check("query ($a: ID!) { by(x: { id: $a }) }", &[]);
    }
}
