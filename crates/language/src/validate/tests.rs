//! What a checked document answers.

use super::{Options, validate};
use crate::ast::{Selection, ValueKind};
use crate::error::Error;
use crate::limits::Limits;
use crate::parser::{Edition, parse, parse_edition};
use crate::schema::build::SchemaBuilder;
use crate::schema::{Schema, TypeRef};
use crate::wraps::Wraps;

const OPTIONS: Options = Options { limits: Limits::STANDARD, suggestions: true, edition_2026: false };

fn schema() -> Schema {
    let mut b = SchemaBuilder::new();
    let int = TypeRef { base: b.reference("Int"), wraps: Wraps::default() };
    let string = TypeRef { base: b.reference("String"), wraps: Wraps::default() };
    let query = b.object("Query", "");
    let album = TypeRef { base: b.reference("Album"), wraps: Wraps::default() };
    b.field("album", "", album);
    b.argument("id", "", int);
    b.object("Album", "");
    b.field("title", "", string);
    b.query(query);
    b.build().unwrap()
}

fn messages(errors: Vec<Error>) -> Vec<String> {
    errors.into_iter().map(|error| error.message).collect()
}

#[test]
fn names_are_resolved_into_the_tables() {
    let schema = schema();
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
    let uses: Vec<_> = (0..document.values.len() as u32).map(crate::ast::ValueId).collect();
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
fn what_breaks_a_rule_is_refused_in_document_order() {
    let schema = schema();
    let document =
        parse("{ album { titel } album(ix: \"a\") { title } nothing }", &Limits::STANDARD).unwrap();
    assert_eq!(
        messages(validate(&schema, &document, &OPTIONS).unwrap_err()),
        [
            "Fields \"album\" conflict because they have differing arguments. Use different aliases on the fields to fetch \
         both if this was intentional.",
            "Cannot query field \"titel\" on type \"Album\". Did you mean \"title\"?",
            "Unknown argument \"ix\" on field \"Query.album\". Did you mean \"id\"?",
            "Cannot query field \"nothing\" on type \"Query\".",
        ]
    );
}

#[test]
fn an_empty_set_does_not_hide_a_set_that_conflicts() {
    let schema = schema();
    let text = "query A {} query B { a: __typename a: album { title } }";
    let document = parse_edition(text, &Limits::STANDARD, Edition::September2026).unwrap();
    // The empty set comes first, and the innermost set is the first of the arena.
    let options = Options { edition_2026: true, ..OPTIONS };
    let errors = messages(validate(&schema, &document, &options).unwrap_err());
    assert!(errors[0].starts_with("Fields \"a\" conflict because"), "{errors:?}");
    let text = "query A {} query B { album { a: title a: __typename } }";
    let document = parse_edition(text, &Limits::STANDARD, Edition::September2026).unwrap();
    let errors = messages(validate(&schema, &document, &options).unwrap_err());
    assert!(errors[0].starts_with("Fields \"a\" conflict because"), "{errors:?}");
}
