//! Updates without a check: a row stays in the filter of the permission. And writes that roles agree on.

use crate::role_kit::fleet::{ANN, fleet_with};
use crate::role_kit::side::{Database, ask, caller_with};
use serde_json::{Value, json};
use weir_engine::source::Protocol;

const FAILED: &str = "check constraint of an insert/update permission has failed";

/// Asks as a sailor whose update permission on boats is `permission`; an answer has to hold what stands beside it.
#[track_caller]
fn check(permission: &Value, asked: &[(&str, &str)]) {
    let change = |tables: &mut Value| {
        tables[1]["update_permissions"] = json!([{"role": "sailor", "permission": permission}]);
    };
    for database in [Database::Sqlite, Database::Postgres] {
        let side = fleet_with(database, "", &[], &change);
        let sailor = caller_with("sailor", false, ANN);
        let all = "{ boat(order_by: {id: asc}) { id name owner harbour_id } }";
        for (operation, part) in asked {
            let before = side.ask(&caller_with("admin", false, &[]), all);
            let found = ask(&side.engine, &sailor, &format!("mutation {{ {operation} }}"), Protocol::Hasura);
            assert!(found.contains(part), "{database:?} {permission} {operation}: {found}");
            let is_same = side.ask(&caller_with("admin", false, &[]), all) == before;
            assert!(is_same || *part != FAILED, "{database:?} {permission} {operation}");
        }
    }
}

const HERS: &str = r#"{"owner": {"_eq": "x-hasura-user"}}"#;

fn filter(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn an_update_without_check_keeps_rows_in_the_filter() {
    let give = "update_boat(where: {}, _set: {owner: \"ben\"}) { affected_rows }";
    let by_key = "update_boat_by_pk(pk_columns: {id: 1}, _set: {owner: \"ben\"}) { id }";
    let many =
        "update_boat_many(updates: [{where: {id: {_eq: 1}}, _set: {owner: \"ben\"}}]) { affected_rows }";
    let forget = "update_boat(where: {}, _set: {owner: null}) { affected_rows }";
    let rename = "update_boat(where: {}, _set: {name: \"Eva\"}) { affected_rows }";
    let upsert = "insert_boat(objects: [{id: 9, name: \"Ada\", harbour_id: 1}], on_conflict: {constraint: boat_name_key, update_columns: [harbour_id, name]}) { affected_rows }";
    let one = r#""affected_rows":1"#;
    let columns = json!(["name", "owner", "harbour_id"]);
    for missing in [json!({}), json!({"check": null})] {
        let mut permission = json!({"columns": columns, "filter": filter(HERS)});
        permission.as_object_mut().unwrap().extend(missing.as_object().unwrap().clone());
        check(
            &permission,
            &[(give, FAILED), (by_key, FAILED), (many, FAILED), (forget, FAILED), (rename, one)],
        );
    }
    // A check that is always true lets it out.
    check(&json!({"columns": columns, "filter": filter(HERS), "check": {}}), &[(give, one)]);
    // A value that is preset, and one that an upsert gives.
    let preset = json!({"columns": ["name"], "filter": filter(HERS), "set": {"owner": "ben"}});
    check(&preset, &[(rename, FAILED)]);
    let here = filter(r#"{"harbour_id": {"_neq": 1}}"#);
    check(&json!({"columns": columns, "filter": here, "check": null}), &[(rename, one)]);
    let named = filter(r#"{"name": {"_in": ["Ada", "Bel"]}, "harbour": {"name": {"_eq": "Oslo"}}}"#);
    let move_on = "update_boat(where: {}, _set: {harbour_id: 2}) { affected_rows }";
    check(
        &json!({"columns": columns, "filter": named}),
        &[(move_on, FAILED), (rename, FAILED), (upsert, one)],
    );
    // Rows of other tables that the filter reads.
    let crew = filter(r#"{"id": {"_eq": 1}, "crews": {"name": {"_cgt": ["$", "name"]}}}"#);
    check(
        &json!({"columns": ["name"], "filter": crew}),
        &[("update_boat(where: {}, _set: {name: \"Zzzz\"}) { affected_rows }", FAILED), (rename, one)],
    );
}

#[test]
fn an_upsert_without_update_check_passes_the_insert_check_and_stays_in_the_filter() {
    let upsert = |harbour: u32| {
        format!(
            "insert_boat(objects: [{{id: 9, name: \"Ada\", harbour_id: {harbour}}}], on_conflict: {{constraint: boat_name_key, update_columns: [harbour_id]}}) {{ affected_rows }}"
        )
    };
    // The check on inserts wants harbour 1; the filter, that of Ada, is left by it.
    let elsewhere = filter(r#"{"_or": [{"harbour_id": {"_neq": 1}}, {"name": {"_neq": "Ada"}}]}"#);
    let permission = |filter: &Value| json!({"columns": ["harbour_id"], "filter": filter});
    let moved = "update_boat(where: {}, _set: {harbour_id: 2}) { affected_rows }";
    check(
        &permission(&filter("{}")),
        &[(&upsert(2), FAILED), (moved, r#""affected_rows":3"#), (&upsert(1), r#""affected_rows":1"#)],
    );
    check(
        &json!({"columns": ["harbour_id"], "filter": {}, "check": {}}),
        &[(&upsert(2), r#""affected_rows":1"#)],
    );
    let change = |tables: &mut Value| {
        tables[1]["update_permissions"] = json!([{"role": "sailor", "permission": permission(&elsewhere)}]);
    };
    for database in [Database::Sqlite, Database::Postgres] {
        let mut side = fleet_with(database, "", &[], &change);
        (side.beside)("UPDATE boat SET harbour_id = 2 WHERE id = 1");
        let sailor = caller_with("sailor", false, ANN);
        let found = ask(&side.engine, &sailor, &format!("mutation {{ {} }}", upsert(1)), Protocol::Hasura);
        assert!(found.contains(FAILED), "{database:?}: {found}");
    }
}

#[test]
fn inherited_roles_agree_on_a_write_in_any_order_of_its_parts() {
    let rule = |condition: &str, columns: Value, set: Value| json!({"columns": columns, "set": set, "filter": filter(condition), "check": {}});
    let one = r#"{"name": {"_neq": "x"}, "price": {"_lt": 100}}"#;
    let other = r#"{"_and": [{"price": {"_lt": 100}}, {"name": {"_neq": "x"}}]}"#;
    let update = "mutation { update_boat(where: {id: {_eq: 1}}, _set: {name: \"Eva\"}) { affected_rows } }";
    for (ours, theirs, agree) in [
        (rule(one, json!(["name"]), json!({})), rule(other, json!(["name"]), json!({})), true),
        // A column that is preset is not given, listed or not.
        (
            rule(one, json!(["name", "code"]), json!({"code": "q"})),
            rule(one, json!(["name"]), json!({"code": "q"})),
            true,
        ),
        (
            rule(one, json!(["name"]), json!({"code": "q", "owner": "o"})),
            rule(one, json!(["name"]), json!({"owner": "o", "code": "q"})),
            true,
        ),
        (
            rule(one, json!(["name"]), json!({})),
            rule(r#"{"price": {"_lt": 100}}"#, json!(["name"]), json!({})),
            false,
        ),
        (
            rule(one, json!(["name"]), json!({"code": "q"})),
            rule(one, json!(["name"]), json!({"code": "r"})),
            false,
        ),
    ] {
        let change = |tables: &mut Value| {
            tables[1]["update_permissions"] =
                json!([{"role": "sailor", "permission": ours}, {"role": "buyer", "permission": theirs}]);
        };
        let side = fleet_with(Database::Sqlite, "", &[], &change);
        let found = ask(&side.engine, &caller_with("trader", false, ANN), update, Protocol::Hasura);
        assert_eq!(found.contains("\"affected_rows\""), agree, "{ours} {theirs}: {found}");
        assert_eq!(found.contains("field 'update_boat' not found"), !agree, "{ours} {theirs}: {found}");
    }
}
