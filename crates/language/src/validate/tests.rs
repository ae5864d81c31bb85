//! Accessors of a validated document.

use super::{Options, validate};
use crate::error::Error;
use crate::limits::Limits;
use crate::syntax::ast::{Selection, ValueKind};
use crate::syntax::parser::{Edition, parse, parse_edition};
use crate::type_system::Schema;

pub(super) const OPTIONS: Options =
    Options { limits: Limits::STANDARD, suggestions: true, edition_2026: false, subscriptions_beside: false };

const ALBUMS: &str = "type Query { album(id: Int): Album } type Album { title: String }";

/// The schema of the corpus.
const MUSIC: &str = include_str!("../../tests/corpus/music/schema.graphql");

pub(super) fn schema(sdl: &str) -> Schema {
    Schema::from_sdl(sdl).expect("the schema is sound")
}

fn lines(schema: &Schema, text: &str, options: &Options) -> Vec<String> {
    let document = parse(text, &Limits::NONE).expect("the document parses");
    let errors = validate(schema, &document, options).err().unwrap_or_default();
    let line = |error: &Error| {
        let places = error.locations(text);
        let places: String = places.iter().map(|at| format!("{}:{} ", at.line, at.column)).collect();
        places + &error.message
    };
    errors.iter().map(line).collect()
}

/// Holds the errors of `text` against `expected`: places and message of each, all suggestions on.
#[track_caller]
pub(super) fn check(text: &str, expected: &[&str]) {
    check_against(MUSIC, text, expected);
}

/// The same with another schema.
#[track_caller]
pub(super) fn check_against(sdl: &str, text: &str, expected: &[&str]) {
    assert_eq!(lines(&schema(sdl), text, &OPTIONS), expected, "{text}");
}

#[test]
fn names_are_resolved_into_the_tables() {
    let schema = schema(ALBUMS);
    let text = "query A($n: Int) { a: album(id: $n) { ...F ... on Album { title } } } fragment F on Album { title } \
                query B($m: Int, $n: Int) { album(id: $n) { title } b: album(id: $m) { title } }";
    let document = parse(text, &Limits::STANDARD).unwrap();
    let valid = validate(&schema, &document, &OPTIONS).unwrap();
    let album = schema.type_by_name("Album").unwrap();
    let mut fields = 0;
    for (at, selection) in document.selections.iter().enumerate() {
        match selection {
            Selection::Field(field) => {
                fields += 1;
                assert_eq!(schema.field_name(valid.field(at)), document.str(field.name));
                assert_eq!(schema.field(valid.field(at)).parent, valid.parent(at));
            }
            Selection::Spread(_) | Selection::Inline(_) => assert_eq!(valid.type_condition(at), album),
        }
    }
    assert_eq!(fields, 7);
    assert_eq!(schema.input_name(valid.input(0)), "id");
    let uses: Vec<_> = (0..document.values.len() as u32).map(crate::syntax::ast::ValueId).collect();
    let numbers = |name: &str| -> Vec<u32> {
        let operation = valid.operation(Some(name)).unwrap();
        let is_variable = |id: &&_| matches!(document.value(**id).kind, ValueKind::Variable(_));
        uses.iter().filter(is_variable).filter_map(|&id| operation.variable(id)).collect()
    };
    assert_eq!(numbers("A")[0], 0);
    assert_eq!(numbers("B")[1..], [1, 0]);
    assert_eq!(valid.operation(None).unwrap_err().code.text(), "OPERATION_RESOLUTION_FAILURE");
    assert_eq!(valid.operation(Some("C")).unwrap_err().message, "Unknown operation named \"C\".");
}

#[test]
fn variables_are_numbered_as_defined_wherever_they_are_used_first() {
    let schema = schema("type Query { two(a: Int, b: Int): Int }");
    let text = "fragment F on Query { two(a: $y, b: $x) } query ($x: Int, $y: Int) { ...F }";
    let document = parse(text, &Limits::STANDARD).expect("it parses");
    let valid = validate(&schema, &document, &OPTIONS).expect("it is valid");
    let operation = valid.operation(None).expect("there is one");
    let number = |at: usize| operation.variable(document.arguments[at].value);
    assert_eq!([number(0), number(1)], [Some(1), Some(0)]);
}

#[test]
fn errors_come_in_document_order() {
    let expected = [
        "1:3 1:19 Fields \"album\" conflict because they have differing arguments. Use different aliases on the fields to \
         fetch both if this was intentional.",
        "1:11 Cannot query field \"titel\" on type \"Album\". Did you mean \"title\"?",
        "1:25 Unknown argument \"ix\" on field \"Query.album\". Did you mean \"id\"?",
        "1:44 Cannot query field \"nothing\" on type \"Query\".",
    ];
    check_against(ALBUMS, "{ album { titel } album(ix: \"a\") { title } nothing }", &expected);
}

#[test]
fn without_leave_no_message_names_what_exists() {
    let quiet = Options { suggestions: false, ..OPTIONS };
    let text = "{ artist(id: 1) { nam } node { name } int(z: 1) genre(x: ROC) by(x: { nam: 1 }) owner } query ($a: Artst) { a }";
    let said = lines(&schema(MUSIC), text, &quiet).join("\n");
    assert!(!said.contains("Did you mean"), "{said}");
    assert!(lines(&schema(MUSIC), text, &OPTIONS).join("\n").matches("Did you mean").count() >= 6);
}

#[test]
fn at_most_as_many_errors_as_allowed_are_reported() {
    let few = Options { limits: Limits { errors_max: 3, ..Limits::STANDARD }, ..OPTIONS };
    let text = "{ a b c d e f } fragment F on X { y } fragment F on Y { z }";
    assert_eq!(lines(&schema(MUSIC), text, &few).len(), 3);
}

#[test]
fn the_next_edition_allows_empty_selection_sets_of_objects() {
    let next = Options { edition_2026: true, ..OPTIONS };
    let schema = schema(MUSIC);
    let text = "{ artist(id: 1) {} int {} }";
    let document = parse_edition(text, &Limits::STANDARD, Edition::September2026).expect("it parses");
    let found = |options: &Options| {
        let errors = validate(&schema, &document, options).expect_err("a leaf has no selection set");
        errors.into_iter().map(|error| error.message).collect::<Vec<_>>()
    };
    let leaf = "Field \"int\" must not have a selection since type \"Int\" has no subfields.";
    assert_eq!(found(&next), [leaf]);
    let empty = "Field \"artist\" of type \"Artist\" must have at least one field selected.";
    assert_eq!(found(&OPTIONS), [empty, leaf]);
}

#[test]
fn an_empty_set_does_not_hide_a_set_that_conflicts() {
    let next = Options { edition_2026: true, ..OPTIONS };
    let schema = schema(ALBUMS);
    for text in [
        // The empty set comes first, and the innermost set is the first of the arena.
        "query A {} query B { a: __typename a: album { title } }",
        "query A {} query B { album { a: title a: __typename } }",
    ] {
        let document = parse_edition(text, &Limits::STANDARD, Edition::September2026).expect("it parses");
        let errors = validate(&schema, &document, &next).expect_err("it conflicts");
        assert!(errors[0].message.starts_with("Fields \"a\" conflict because"), "{errors:?}");
    }
}
