//! Functions and computed fields under permissions, on PostgreSQL; and rows that are written by variables, on both databases.

use crate::role_kit::fleet::{ANN, ask_with, fleet, fleet_with};
use crate::role_kit::side::{Database, Side, ask, caller_with};
use serde_json::json;
use weir_engine::source::Protocol;
use weir_metadata::document::function::FunctionEntry;

const FUNCTIONS: &str = "
CREATE FUNCTION boats_from(low integer) RETURNS SETOF boat STABLE LANGUAGE sql AS 'SELECT * FROM boat WHERE id >= low';
CREATE FUNCTION rename_all() RETURNS SETOF boat VOLATILE LANGUAGE sql AS 'UPDATE boat SET name = name || ''!'' RETURNING *';
CREATE FUNCTION label(boat) RETURNS text STABLE LANGUAGE sql AS 'SELECT $1.name || $1.code';
CREATE FUNCTION mates(boat) RETURNS SETOF boat STABLE LANGUAGE sql AS 'SELECT * FROM boat WHERE id <> $1.id';
";

fn with_functions() -> Side {
    let functions: Vec<FunctionEntry> = serde_json::from_value(json!([
        {"function": "boats_from"},
        {"function": "rename_all", "configuration": {"exposed_as": "mutation"}, "permissions": [{"role": "trader"}]}
    ]))
    .unwrap();
    fleet_with(Database::Postgres, FUNCTIONS, &functions, &|tables| {
        let boat = &mut tables[1];
        boat["computed_fields"] = json!([
            {"name": "label", "definition": {"function": "label"}}, {"name": "mates", "definition": {"function": "mates"}}
        ]);
        boat["select_permissions"][0]["permission"]["computed_fields"] = json!(["label"]);
        boat["select_permissions"][0]["permission"]["limit"] = json!(2);
    })
}

#[test]
fn rows_of_functions_are_rows_of_their_table() {
    let side = with_functions();
    for (role, operation, expected) in [
        (
            "sailor",
            "{ boats_from(args: {low: 1}) { id label } }",
            r#"{"data":{"boats_from":[{"id":1,"label":"Adax"}]}}"#,
        ),
        ("sailor", "{ boats_from(args: {low: 2}) { id } }", r#"{"data":{"boats_from":[]}}"#),
        (
            "sailor",
            "{ boats_from_aggregate(args: {low: 1}) { aggregate { count } nodes { id } } }",
            r#"{"data":{"boats_from_aggregate":{"aggregate":{"count":1},"nodes":[{"id":1}]}}}"#,
        ),
        ("sailor", "{ boat { mates { id } } }", r#"{"data":{"boat":[{"mates":[]}]}}"#),
        ("sailor", "{ boat(where: {label: {_like: \"A%\"}}) { id } }", r#"{"data":{"boat":[{"id":1}]}}"#),
        ("sailor", "{ boats_from(args: {low: 1}) { price } }", "~field 'price' not found in type: 'boat'"),
        ("buyer", "{ boat { label } }", "~field 'label' not found in type: 'boat'"),
        // The field is that of one parent: it is shown in the rows that this one sees.
        (
            "trader",
            "{ boat(order_by: {name: asc}) { name label } }",
            r#"{"data":{"boat":[{"name":"Ada","label":"Adax"},{"name":"Bel","label":null}]}}"#,
        ),
        (
            "trader",
            "{ boat(where: {label: {_is_null: true}}) { name } }",
            r#"{"data":{"boat":[{"name":"Bel"}]}}"#,
        ),
        (
            "buyer",
            "{ boats_from_aggregate(args: {low: 1}) { aggregate { count } } }",
            "~field 'boats_from_aggregate' not found",
        ),
        ("remover", "{ boats_from(args: {low: 1}) { id } }", "~field 'boats_from' not found"),
        ("sailor", "mutation { rename_all { id } }", "~field 'rename_all' not found"),
        // An entry that names an inherited role.
        (
            "trader",
            "mutation { rename_all { name } }",
            r#"{"data":{"rename_all":[{"name":"Ada!"},{"name":"Bel!"}]}}"#,
        ),
        // The hidden row would come first, and its owner with it.
        (
            "trader",
            "mutation { rename_all(order_by: {name: desc}) { name owner } }",
            r#"{"data":{"rename_all":[{"name":"Bel!!","owner":null},{"name":"Ada!!","owner":"ann"}]}}"#,
        ),
    ] {
        let found = ask(&side.engine, &caller_with(role, false, ANN), operation, Protocol::Hasura);
        let is_right = expected.strip_prefix('~').map_or(found == expected, |it| found.contains(it));
        assert!(is_right, "{role}: {operation}\n{found}\n{expected}");
    }
}

#[test]
fn rows_of_functions_are_capped_as_their_table() {
    let side = with_functions();
    let session = [("x-hasura-user", "ann")];
    let sailor = caller_with("sailor", false, &session);
    let admin = caller_with("admin", false, &[]);
    let mine = "mutation { update_boat(where: {}, _set: {owner: \"ann\"}) { affected_rows } }";
    ask(&side.engine, &admin, mine, Protocol::Hasura);
    for (operation, expected) in [
        (
            "{ boats_from(args: {low: 1}, order_by: {id: asc}) { id } }",
            r#"{"data":{"boats_from":[{"id":1},{"id":2}]}}"#,
        ),
        (
            "{ boats_from_aggregate(args: {low: 1}, order_by: {id: asc}) { aggregate { count } nodes { id } } }",
            r#"{"data":{"boats_from_aggregate":{"aggregate":{"count":3},"nodes":[{"id":1},{"id":2}]}}}"#,
        ),
        (
            "{ boat_by_pk(id: 3) { mates(order_by: {id: asc}) { id } } }",
            r#"{"data":{"boat_by_pk":{"mates":[{"id":1},{"id":2}]}}}"#,
        ),
    ] {
        assert_eq!(ask(&side.engine, &sailor, operation, Protocol::Hasura), expected, "{operation}");
    }
    let text = "mutation { rename_all(order_by: {id: asc}) { id } }";
    let found = ask(&side.engine, &caller_with("trader", false, &session), text, Protocol::Hasura);
    assert_eq!(found, r#"{"data":{"rename_all":[{"id":1},{"id":2}]}}"#);
}

#[test]
fn rows_passed_as_variables_are_checked_and_preset() {
    for database in [Database::Sqlite, Database::Postgres] {
        let side = fleet(database);
        let ann = caller_with("sailor", false, ANN);
        let text = "mutation ($o: [boat_insert_input!]!) { insert_boat(objects: $o) { affected_rows returning { id owner } } }";
        for (variables, expected) in [
            (
                r#"{"o": [{"id": 8, "name": "n", "harbour_id": 1}, {"id": 9, "name": "m", "harbour_id": 2}]}"#,
                "check constraint of an insert/update permission has failed",
            ),
            (r#"{"o": [{"id": 8, "name": "n", "harbour_id": 1, "owner": "eve"}]}"#, "owner"),
            (r#"{"o": [{"id": 8, "name": "n", "harbour_id": 1, "vaults": {"data": []}}]}"#, "vaults"),
            (
                r#"{"o": [{"id": 8, "name": "x-hasura-user", "harbour_id": 1, "crews": {"data": [{"id": 9, "name": "Bad"}]}}]}"#,
                "check constraint of an insert/update permission has failed",
            ),
        ] {
            let found = ask_with(&side, &ann, text, variables);
            assert!(
                found.contains("\"errors\"") && found.contains(expected),
                "{database:?}: {variables}\n{found}"
            );
        }
        let rows = r#"{"o": [{"id": 8, "name": "n", "harbour_id": 1}, {"name": "m", "harbour_id": 1, "id": 9, "crews": {"data": [{"name": "Wim", "id": 9}]}}]}"#;
        let found = ask_with(&side, &ann, text, rows);
        let expected = r#"{"data":{"insert_boat":{"affected_rows":3,"returning":[{"id":8,"owner":"ann"},{"id":9,"owner":"ann"}]}}}"#;
        assert_eq!(found, expected, "{database:?}");
        let admin = caller_with("admin", false, &[]);
        let crew = ask(&side.engine, &admin, "{ crew(where: {id: {_eq: 9}}) { boat_id } }", Protocol::Hasura);
        assert_eq!(crew, r#"{"data":{"crew":[{"boat_id":1}]}}"#, "{database:?}");
    }
}
