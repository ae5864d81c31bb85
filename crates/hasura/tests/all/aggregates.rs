//! Aggregates are one object each, of no rows too, whatever is asked of them: at the root, below a row, below a row of another source.

use crate::role_kit::side::{Database, Side, ask};
use weir_engine::caller::Identity;
use weir_engine::source::Protocol;
use weir_hasura::model::ModelOptions;
use weir_metadata::document::table::TableEntry;

const SQL: &str = "CREATE TABLE unit (id INTEGER PRIMARY KEY, code INTEGER);
    CREATE TABLE part (id INTEGER PRIMARY KEY, unit_id INTEGER REFERENCES unit (id), code INTEGER);
    INSERT INTO unit VALUES (1, 7), (2, NULL);
    INSERT INTO part VALUES (1, 1, 7), (2, 1, 7), (3, NULL, NULL);";

/// A relationship by columns that may be null on both sides.
const TABLES: &str = r#"[{"table": "unit", "array_relationships": [
    {"name": "parts", "using": {"foreign_key_constraint_on": {"table": "part", "column": "unit_id"}}},
    {"name": "coded", "using": {"manual_configuration": {"remote_table": "part", "column_mapping": {"code": "code"}}}}]},
  {"table": "part"}]"#;

const JOINS: &[(&str, &str)] = &[
    ("part_aggregate", "(where: {id: {_eq: $this.number}})"),
    ("unit_aggregate", "(where: {code: {_gt: $this.number}})"),
];

#[track_caller]
fn check(asked: &[(&str, &str)]) {
    let tables: Vec<TableEntry> = serde_json::from_str(TABLES).unwrap();
    for database in [Database::Sqlite, Database::Postgres] {
        let model = ModelOptions { tables: &tables, ..ModelOptions::default() };
        let side = Side::serve(database, SQL, model, JOINS);
        for (operation, expected) in asked {
            let found = ask(&side.engine, &Identity::admin(), operation, Protocol::GraphqlOverHttp);
            assert_eq!(found, format!(r#"{{"data":{{{expected}}}}}"#), "{database:?} {operation}");
        }
    }
}

const FIELDS: &str = r#"{"__typename":"part_aggregate_fields"}"#;

#[test]
fn an_aggregate_without_columns_is_one_object() {
    let one = format!(r#"{{"aggregate":{FIELDS}}}"#);
    for arguments in ["", "(where: {id: {_eq: 99}})", "(limit: 0)", "(limit: 2)", "(distinct_on: code)"] {
        check(&[
            (
                &format!("{{ part_aggregate{arguments} {{ aggregate {{ __typename }} }} }}"),
                &format!(r#""part_aggregate":{one}"#),
            ),
            (
                &format!(
                    "{{ unit(order_by: {{id: asc}}) {{ parts_aggregate{arguments} {{ aggregate {{ __typename }} }} }} }}"
                ),
                &format!(r#""unit":[{{"parts_aggregate":{one}}},{{"parts_aggregate":{one}}}]"#),
            ),
        ]);
    }
    check(&[(
        "{ unit(order_by: {id: asc}) { parts_aggregate { aggregate { max { __typename } } } } }",
        r#""unit":[{"parts_aggregate":{"aggregate":{"max":{"__typename":"part_max_fields"}}}},{"parts_aggregate":{"aggregate":{"max":{"__typename":"part_max_fields"}}}}]"#,
    )]);
}

#[test]
fn an_aggregate_without_columns_below_a_join_is_one_object_for_each_row() {
    let slots = |aggregate: &str| {
        let slot = format!(r#"{{"it":{{"aggregate":{aggregate}}}}}"#);
        let mut slots = vec![slot; 11];
        // Without a number nothing is asked.
        slots[9] = r#"{"it":null}"#.into();
        format!(r#""shelf":[{}]"#, slots.join(","))
    };
    check(&[
        ("{ shelf { it: to_part_aggregate { aggregate { __typename } } } }", &slots(FIELDS)),
        (
            "{ shelf { it: to_unit_aggregate { aggregate { __typename min { __typename } } } } }",
            &slots(r#"{"__typename":"unit_aggregate_fields","min":{"__typename":"unit_min_fields"}}"#),
        ),
    ]);
}

#[test]
fn an_aggregate_below_a_row_without_a_key_is_one_of_no_rows() {
    check(&[
        (
            "{ unit(order_by: {id: asc}) { coded_aggregate { aggregate { count max { id } } nodes { id } } coded { id } } }",
            r#""unit":[{"coded_aggregate":{"aggregate":{"count":2,"max":{"id":2}},"nodes":[{"id":1},{"id":2}]},"coded":[{"id":1},{"id":2}]},{"coded_aggregate":{"aggregate":{"count":0,"max":{"id":null}},"nodes":[]},"coded":[]}]"#,
        ),
        (
            "{ unit(order_by: {id: asc}) { coded_aggregate(limit: 1) { aggregate { count } } } }",
            r#""unit":[{"coded_aggregate":{"aggregate":{"count":1}}},{"coded_aggregate":{"aggregate":{"count":0}}}]"#,
        ),
    ]);
}
