//! Upserts over SQLite by every kind of key that a table may have.

use crate::kit::{Served, serve};
use serde_json::{Value, json};

const USERS: &str = "
    CREATE TABLE u (id INTEGER PRIMARY KEY, e TEXT, f TEXT COLLATE NOCASE, z INT, deleted INT);
    INSERT INTO u VALUES (1, 'A', 'Ann', 1, NULL), (2, 'b', 'Ben', 2, NULL), (3, 'b2', 'Cid', 3, 1);";

fn upsert(constraint: &str, object: &str, columns: &str) -> String {
    format!(
        "mutation {{ insert_u_one(object: {{{object}}}, on_conflict: {{constraint: {constraint}, update_columns: [{columns}]}}) {{ id z }} }}"
    )
}

fn constraints(served: &Served) -> Vec<String> {
    let answer: Value =
        serde_json::from_str(&served.ask("{ __type(name: \"u_constraint\") { enumValues { name } } }", ""))
            .unwrap();
    let values = answer["data"]["__type"]["enumValues"].as_array().unwrap();
    values.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

/// Rows inserted by the constraint: what is answered of each, or its error.
fn check(indexes: &str, asked: &[(&str, &str, Value)]) {
    let served = serve(&format!("{USERS}{indexes}"));
    for (constraint, object, expected) in asked {
        assert!(constraints(&served).iter().any(|it| it == constraint), "{constraint}");
        let answer: Value = serde_json::from_str(&served.ask(&upsert(constraint, object, "z"), "")).unwrap();
        let found = match answer.get("errors") {
            Some(errors) => errors[0]["extensions"]["code"].clone(),
            None => answer["data"]["insert_u_one"].clone(),
        };
        assert_eq!(found, *expected, "{indexes}: {constraint} {object}: {answer}");
    }
}

#[test]
fn the_order_of_two_indexes_decides_nothing() {
    let indexes =
        ["CREATE UNIQUE INDEX u_binary ON u (e);", "CREATE UNIQUE INDEX u_folded ON u (e COLLATE NOCASE);"];
    for order in [[0, 1], [1, 0]] {
        let made: String = order.iter().map(|&at| indexes[at]).collect();
        check(
            &made,
            &[
                ("u_folded", "e: \"a\", z: 10", json!({"id": 1, "z": 10})),
                ("u_e_key", "e: \"a\", z: 11", json!("UNIQUE_VIOLATION")),
                ("u_e_key", "e: \"A\", z: 12", json!({"id": 1, "z": 12})),
                ("u_pkey", "id: 2, e: \"x\", z: 13", json!({"id": 2, "z": 13})),
            ],
        );
    }
}

#[test]
fn an_index_of_the_columns_collation_is_the_key_of_the_column() {
    check(
        "CREATE UNIQUE INDEX u_f ON u (f);",
        &[
            ("u_f_key", "f: \"ANN\", z: 5", json!({"id": 1, "z": 5})),
            ("u_f_key", "f: \"Dee\", z: 6", json!({"id": 4, "z": 6})),
        ],
    );
    check(
        "CREATE UNIQUE INDEX u_exact ON u (f COLLATE BINARY);",
        &[
            ("u_exact", "f: \"ANN\", z: 5", json!({"id": 4, "z": 5})),
            ("u_exact", "f: \"ANN\", z: 6", json!({"id": 4, "z": 6})),
        ],
    );
}

#[test]
fn indexes_of_some_rows_and_over_expressions_are_named() {
    check(
        "CREATE UNIQUE INDEX u_living ON u (e) WHERE deleted IS NULL; CREATE UNIQUE INDEX u_lower ON u (lower(f), coalesce(deleted, 0) DESC);",
        &[
            ("u_living", "e: \"b\", z: 20", json!({"id": 2, "z": 20})),
            // The row in its way is not one of those of the index.
            ("u_living", "e: \"b2\", z: 21", json!({"id": 4, "z": 21})),
            ("u_lower", "f: \"ANN\", z: 22", json!({"id": 1, "z": 22})),
            ("u_lower", "f: \"cid\", deleted: 1, z: 23", json!({"id": 3, "z": 23})),
            ("u_lower", "f: \"cid\", z: 24", json!({"id": 5, "z": 24})),
            ("u_living", "e: \"new\", f: \"ANN\", z: 25", json!("UNIQUE_VIOLATION")),
        ],
    );
    let served = serve(&format!("{USERS} CREATE UNIQUE INDEX u_living ON u (e) WHERE deleted IS NULL;"));
    let nothing = upsert("u_living", "e: \"b\", z: 30", "");
    assert_eq!(served.ask(&nothing, ""), r#"{"data":{"insert_u_one":null}}"#);
    assert_eq!(served.ask("{ u_by_pk(id: 2) { z } }", ""), r#"{"data":{"u_by_pk":{"z":2}}}"#);
}
