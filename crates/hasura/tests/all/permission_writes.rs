//! Writes of roles: their conditions see no hidden row, an upsert passes the check of its branch, and variables that checks and presets
//! read have to be there.

use crate::role_kit::fleet::{ANN, check, check_as, fleet_with};
use crate::role_kit::side::{Database, ask, caller_with};
use serde_json::{Value, json};
use weir_engine::source::Protocol;

#[test]
fn conditions_of_writes_see_no_hidden_row() {
    // Ann sees Ada alone, whose harbour has another boat.
    let none = |field: &str| format!(r#"{{"data":{{"{field}":{{"affected_rows":0}}}}}}"#);
    let hidden = r#"boats: {name: {_eq: "Cid"}}"#;
    let update = |condition: &str| {
        format!(
            "mutation {{ update_harbour(where: {{{condition}}}, _set: {{name: \"x\"}}) {{ affected_rows }} }}"
        )
    };
    check(&[
        ("sailor", &update(hidden), &none("update_harbour")),
        ("sailor", &update(&format!("_and: [{{{hidden}}}, {{id: {{_eq: 1}}}}]")), &none("update_harbour")),
        ("sailor", &update(&format!("_or: [{{{hidden}}}, {{id: {{_eq: 9}}}}]")), &none("update_harbour")),
        (
            "sailor",
            &format!(
                "mutation {{ update_boat(where: {{harbour: {{{hidden}}}}}, _set: {{name: \"x\"}}) {{ affected_rows }} }}"
            ),
            &none("update_boat"),
        ),
        (
            "sailor",
            &format!("mutation {{ delete_boat(where: {{harbour: {{{hidden}}}}}) {{ affected_rows }} }}"),
            &none("delete_boat"),
        ),
        (
            "sailor",
            &format!(
                "mutation {{ insert_harbour_one(object: {{id: 1, name: \"x\"}}, on_conflict: {{constraint: harbour_pkey, update_columns: [name], where: {{{hidden}}}}}) {{ name }} }}"
            ),
            r#"{"data":{"insert_harbour_one":null}}"#,
        ),
        // The same conditions on a boat that is seen.
        (
            "sailor",
            &update(r#"boats: {name: {_eq: "Ada"}}"#),
            r#"{"data":{"update_harbour":{"affected_rows":1}}}"#,
        ),
    ]);
}

#[test]
fn nested_conditions_and_orders_see_no_hidden_row() {
    let hidden = r#"boats: {name: {_eq: "Cid"}}"#;
    check(&[
        (
            "sailor",
            &format!("{{ harbour(where: {{_or: [{{{hidden}}}, {{id: {{_eq: 9}}}}]}}) {{ id }} }}"),
            r#"{"data":{"harbour":[]}}"#,
        ),
        (
            "sailor",
            &format!("{{ harbour(where: {{_and: [{{{hidden}}}, {{id: {{_eq: 1}}}}]}}) {{ id }} }}"),
            r#"{"data":{"harbour":[]}}"#,
        ),
        (
            "sailor",
            &format!("{{ crew(where: {{boat: {{harbour: {{{hidden}}}}}}}) {{ id }} }}"),
            r#"{"data":{"crew":[]}}"#,
        ),
        (
            "sailor",
            &format!(
                "{{ harbour(where: {{boats_aggregate: {{count: {{filter: {{harbour: {{{hidden}}}}}, predicate: {{_gt: 0}}}}}}}}) {{ id }} }}"
            ),
            r#"{"data":{"harbour":[]}}"#,
        ),
        // A trader sees one boat in each harbour.
        (
            "trader",
            "{ crew(order_by: [{boat: {harbour: {boats_aggregate: {count: desc_nulls_last}}}}, {id: desc}]) { id } }",
            r#"{"data":{"crew":[{"id":2},{"id":1},{"id":3}]}}"#,
        ),
    ]);
}

#[test]
fn an_upsert_passes_the_check_of_its_branch() {
    let boats = "{ boat(order_by: {id: asc}) { id name harbour_id } }";
    let upsert = |of: &str, key: &str, object: &str, columns: &str| {
        format!(
            "mutation {{ insert_{of}_one(object: {{{object}}}, on_conflict: {{constraint: {of}_{key}, update_columns: [{columns}]}}) {{ id }} }}"
        )
    };
    let change = |tables: &mut Value| {
        tables[0]["update_permissions"][0]["permission"]["check"] = json!({});
        tables[1]["update_permissions"][0]["permission"]["check"] = json!({"name": {"_ne": "Hell"}});
    };
    let is_failed = "check constraint of an insert/update permission has failed";
    for database in [Database::Sqlite, Database::Postgres] {
        let side = fleet_with(database, "", &[], &change);
        let ann = caller_with("sailor", false, ANN);
        let before = side.ask(&caller_with("admin", false, &[]), boats);
        for (operation, expected) in [
            // The row of somebody else: neither inserted nor updated, whatever its check.
            (
                upsert("boat", "name_key", "id: 9, name: \"Bel\", harbour_id: 1", "harbour_id"),
                r#"{"data":{"insert_boat_one":null}}"#,
            ),
            // A new row passes the check of inserts.
            (upsert("boat", "name_key", "id: 9, name: \"Eva\", harbour_id: 2", "harbour_id"), is_failed),
            (upsert("boat", "pkey", "id: 1, name: \"Hell\", harbour_id: 1", "name"), is_failed),
        ] {
            let found = ask(&side.engine, &ann, &operation, Protocol::Hasura);
            assert!(found.contains(expected), "{database:?} {operation}: {found}");
        }
        assert_eq!(side.ask(&caller_with("admin", false, &[]), boats), before, "{database:?}");
        // An updated row passes that of updates alone, be it one that is always true.
        for (operation, expected) in [
            (
                upsert("boat", "name_key", "id: 9, name: \"Ada\", harbour_id: 2", "harbour_id"),
                r#"{"data":{"insert_boat_one":{"id":1}}}"#,
            ),
            (
                upsert("harbour", "pkey", "id: 1, name: \"Hell\"", "name"),
                r#"{"data":{"insert_harbour_one":{"id":1}}}"#,
            ),
        ] {
            assert_eq!(
                ask(&side.engine, &ann, &operation, Protocol::Hasura),
                expected,
                "{database:?} {operation}"
            );
        }
    }
}

#[test]
fn an_upsert_sets_the_presets_of_its_branch() {
    let change = |tables: &mut Value| {
        tables[1]["update_permissions"][0]["permission"]["set"] =
            json!({"code": "x-hasura-code", "price": null});
    };
    let upsert = r#"mutation { insert_boat(objects: [{id: 8, name: "Ada", harbour_id: 1}, {id: 9, name: "Eva", harbour_id: 1}],
        on_conflict: {constraint: boat_name_key, update_columns: [harbour_id]}) { affected_rows } }"#;
    for database in [Database::Sqlite, Database::Postgres] {
        let side = fleet_with(database, "", &[], &change);
        let ann = caller_with("sailor", false, &[("x-hasura-user", "ann"), ("x-hasura-code", "seen")]);
        let found = ask(&side.engine, &ann, upsert, Protocol::Hasura);
        assert_eq!(found, r#"{"data":{"insert_boat":{"affected_rows":2}}}"#, "{database:?}");
        let boats =
            "{ boat(where: {name: {_in: [\"Ada\", \"Eva\"]}}, order_by: {id: asc}) { id owner code price } }";
        let expected = r#"{"data":{"boat":[{"id":1,"owner":"ann","code":"seen","price":null},{"id":9,"owner":"ann","code":"none","price":null}]}}"#;
        assert_eq!(side.ask(&caller_with("admin", false, &[]), boats), expected, "{database:?}");
    }
}

#[test]
fn session_variables_of_presets_and_checks_are_required() {
    let missing = r#"~missing session variable: \"x-hasura-user\""#;
    let insert = "mutation { insert_boat(objects: [{id: 8, name: \"n\", harbour_id: 1}]) { affected_rows } }";
    check_as(&[], &[("sailor", insert, missing), ("writer", insert, "~NULL")]);
    let change = |tables: &mut Value| {
        tables[0]["insert_permissions"][0]["permission"]["check"] = json!({"name": {"_ne": "x-hasura-user"}});
    };
    for database in [Database::Sqlite, Database::Postgres] {
        let side = fleet_with(database, "", &[], &change);
        let master = |session| caller_with("master", false, session);
        let insert = |name: &str| {
            format!(
                "mutation {{ insert_harbour(objects: [{{id: 7, name: \"{name}\"}}]) {{ affected_rows }} }}"
            )
        };
        let of = |session, name: &str| ask(&side.engine, &master(session), &insert(name), Protocol::Hasura);
        assert!(of(&[], "ann").contains(&missing[1..]), "{database:?}: {}", of(&[], "ann"));
        assert!(of(ANN, "ann").contains("check constraint of an insert/update permission has failed"));
        assert_eq!(of(ANN, "bob"), r#"{"data":{"insert_harbour":{"affected_rows":1}}}"#, "{database:?}");
    }
}
