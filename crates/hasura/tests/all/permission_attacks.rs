//! Attacks on permissions on both databases.

use crate::role_kit::fleet::{ANN, check, check_as, fleet};
use crate::role_kit::side::{Database, ask, caller_with};
use weir_engine::source::Protocol;

const FAILED: &str = "~check constraint of an insert/update permission has failed";
const BOATS: &str = "{ boat_aggregate { aggregate { count } } }";
const ALL_THREE: &str = r#"{"data":{"boat_aggregate":{"aggregate":{"count":3}}}}"#;

/// Texts that would be SQL, if they were not bound.
const SQL: &[&str] = &[
    "' OR 1=1 --",
    "\\'; DROP TABLE boat; --",
    "$$",
    "/*",
    "?",
    "$1",
    ":x",
    "%s",
    "{{x}}",
    "x-hasura-user",
    "X-Hasura-Role",
    "\" OR \"\"=\"",
];

#[test]
fn client_texts_are_never_sql_or_names_of_session_variables() {
    for text in SQL.iter().map(|it| serde_json::to_string(it).unwrap()) {
        check(&[
            (
                "sailor",
                &format!("{{ boat(where: {{owner: {{_eq: {text}}}}}) {{ id }} }}"),
                r#"{"data":{"boat":[]}}"#,
            ),
            (
                "sailor",
                &format!("{{ boat(where: {{owner: {{_in: [{text}]}}}}) {{ id }} }}"),
                r#"{"data":{"boat":[]}}"#,
            ),
            (
                "sailor",
                &format!(
                    "mutation {{ update_boat(where: {{}}, _set: {{name: {text}}}) {{ returning {{ name }} }} }}"
                ),
                &format!(r#"{{"data":{{"update_boat":{{"returning":[{{"name":{text}}}]}}}}}}"#),
            ),
            ("admin", BOATS, ALL_THREE),
        ]);
    }
}

#[test]
fn session_variables_are_bound_whatever_their_text() {
    for text in [
        "' OR 1=1 --",
        "'; DROP TABLE boat; --",
        "{ann}",
        "",
        "null",
        "ann\u{0}",
        "$1",
        "\"ann\"",
        "ANN",
        " ann",
    ] {
        let session: &[(&str, &str)] = &[("x-hasura-user", text)];
        for database in [Database::Sqlite, Database::Postgres] {
            let side = fleet(database);
            let sailor = caller_with("sailor", false, session);
            let found = ask(&side.engine, &sailor, "{ boat { id } }", Protocol::Hasura);
            let is_refused = found.contains("data-exception") && text.contains('\u{0}');
            assert!(found == r#"{"data":{"boat":[]}}"# || is_refused, "{database:?} {text:?}: {found}");
        }
    }
    check_as(&[], &[("sailor", "{ boat { id } }", r#"~missing session variable: \"x-hasura-user\""#)]);
    check_as(
        &[("X-HASURA-USER", "ann")],
        &[("sailor", "{ boat { id } }", r#"{"data":{"boat":[{"id":1}]}}"#)],
    );
}

#[test]
fn hidden_columns_are_unknown_everywhere() {
    let unknown = |ty: &str| format!("~field 'price' not found in type: '{ty}'");
    check(&[
        ("sailor", "{ boat { price } }", &unknown("boat")),
        ("sailor", "{ boat(where: {price: {_gt: 1}}) { id } }", &unknown("boat_bool_exp")),
        ("sailor", "{ boat(where: {_not: {_or: [{price: {_gt: 1}}]}}) { id } }", &unknown("boat_bool_exp")),
        ("sailor", "{ harbour(where: {boats: {price: {_gt: 1}}}) { id } }", &unknown("boat_bool_exp")),
        ("sailor", "{ boat(order_by: {price: asc}) { id } }", &unknown("boat_order_by")),
        (
            "sailor",
            "{ harbour(order_by: {boats_aggregate: {max: {price: asc}}}) { id } }",
            &unknown("boat_max_order_by"),
        ),
        ("sailor", "{ boat_aggregate { aggregate { max { price } } } }", &unknown("boat_max_fields")),
        (
            "sailor",
            "mutation { update_boat(where: {price: {_eq: 1}}, _set: {name: \"x\"}) { affected_rows } }",
            &unknown("boat_bool_exp"),
        ),
        (
            "sailor",
            "mutation { update_boat(where: {}, _set: {price: 1}) { affected_rows } }",
            &unknown("boat_set_input"),
        ),
        (
            "sailor",
            "mutation { insert_boat(objects: [{price: 1}]) { affected_rows } }",
            &unknown("boat_insert_input"),
        ),
        (
            "sailor",
            "mutation { update_boat(where: {}, _set: {name: \"x\"}) { returning { price } } }",
            &unknown("boat"),
        ),
        (
            "sailor",
            "{ boat(distinct_on: price) { id } }",
            "~for type 'boat_select_column', but found 'price'",
        ),
        (
            "sailor",
            "{ boat_aggregate { aggregate { count(columns: price) } } }",
            "~for type 'boat_select_column', but found 'price'",
        ),
        (
            "sailor",
            "mutation { insert_boat(objects: [], on_conflict: {constraint: boat_pkey, update_columns: [price]}) { affected_rows } }",
            "~for type 'boat_update_column', but found 'price'",
        ),
        ("sailor", "{ boat_group_by(by: [price]) { key { id } } }", "~but found 'price'"),
    ]);
}

#[test]
fn conditions_over_relationships_see_no_hidden_row() {
    check(&[
        (
            "sailor",
            "{ harbour(where: {boats: {name: {_eq: \"Bel\"}}}) { id } }",
            r#"{"data":{"harbour":[]}}"#,
        ),
        ("sailor", "{ harbour(where: {_not: {boats: {}}}) { id } }", r#"{"data":{"harbour":[{"id":2}]}}"#),
        ("sailor", "{ crew(where: {boat: {id: {_eq: 2}}}) { id } }", r#"{"data":{"crew":[]}}"#),
        (
            "sailor",
            "{ harbour(where: {boats_aggregate: {count: {predicate: {_gt: 1}}}}) { id } }",
            r#"{"data":{"harbour":[]}}"#,
        ),
        (
            "sailor",
            "{ harbour(order_by: {boats_aggregate: {count: desc}}) { id boats_aggregate { aggregate { count max { name } } } } }",
            r#"{"data":{"harbour":[{"id":1,"boats_aggregate":{"aggregate":{"count":1,"max":{"name":"Ada"}}}},{"id":2,"boats_aggregate":{"aggregate":{"count":0,"max":{"name":null}}}}]}}"#,
        ),
        (
            "sailor",
            "{ crew(order_by: {id: asc}) { boat { name } } }",
            r#"{"data":{"crew":[{"boat":{"name":"Ada"}},{"boat":null},{"boat":null}]}}"#,
        ),
    ]);
}

#[test]
fn a_filtered_row_looks_missing() {
    for id in [2, 99] {
        check(&[
            ("sailor", &format!("{{ boat_by_pk(id: {id}) {{ id }} }}"), r#"{"data":{"boat_by_pk":null}}"#),
            (
                "sailor",
                &format!(
                    "mutation {{ update_boat_by_pk(pk_columns: {{id: {id}}}, _set: {{name: \"x\"}}) {{ id }} }}"
                ),
                r#"{"data":{"update_boat_by_pk":null}}"#,
            ),
            (
                "sailor",
                &format!("mutation {{ delete_boat_by_pk(id: {id}) {{ id }} }}"),
                r#"{"data":{"delete_boat_by_pk":null}}"#,
            ),
            (
                "sailor",
                &format!(
                    "mutation {{ delete_boat(where: {{id: {{_eq: {id}}}}}) {{ affected_rows returning {{ id }} }} }}"
                ),
                r#"{"data":{"delete_boat":{"affected_rows":0,"returning":[]}}}"#,
            ),
            ("admin", BOATS, ALL_THREE),
        ]);
    }
}

#[test]
fn no_write_violates_its_check_or_presets() {
    let one = r#"{"data":{"boat":[{"name":"Ada","harbour_id":1,"owner":"ann"}]}}"#;
    let ada = "{ boat(where: {id: {_eq: 1}}) { name harbour_id owner } }";
    check(&[
        ("sailor", "mutation { update_boat(where: {}, _set: {harbour_id: 2}) { affected_rows } }", FAILED),
        (
            "sailor",
            "mutation { update_boat_by_pk(pk_columns: {id: 1}, _set: {harbour_id: 2}) { id } }",
            FAILED,
        ),
        (
            "sailor",
            "mutation { update_boat_many(updates: [{where: {}, _set: {name: \"q\"}}, {where: {}, _set: {harbour_id: 2}}]) { affected_rows } }",
            FAILED,
        ),
        (
            "sailor",
            "mutation { insert_boat(objects: [{name: \"n\", harbour_id: 1, owner: \"eve\"}]) { affected_rows } }",
            "~field 'owner' not found",
        ),
        (
            "sailor",
            "mutation { insert_boat(objects: [{id: 8, name: \"n\", harbour_id: 1}, {id: 9, name: \"m\", harbour_id: 2}]) { affected_rows } }",
            FAILED,
        ),
        ("admin", BOATS, ALL_THREE),
        ("admin", ada, one),
        (
            "sailor",
            "mutation { insert_boat_one(object: {id: 9, name: \"Ada\", harbour_id: 1}, on_conflict: {constraint: boat_name_key, update_columns: [harbour_id]}) { id owner } }",
            r#"{"data":{"insert_boat_one":{"id":1,"owner":"ann"}}}"#,
        ),
        // A row outside the filter: neither inserted nor updated.
        (
            "sailor",
            "mutation { insert_boat_one(object: {id: 9, name: \"Bel\", harbour_id: 1}, on_conflict: {constraint: boat_name_key, update_columns: [harbour_id]}) { id } }",
            r#"{"data":{"insert_boat_one":null}}"#,
        ),
        (
            "sailor",
            "mutation { insert_boat_one(object: {id: 1, name: \"Ada\", harbour_id: 2}, on_conflict: {constraint: boat_pkey, update_columns: [harbour_id]}) { id } }",
            FAILED,
        ),
        (
            "admin",
            "{ boat(where: {id: {_eq: 2}}) { name harbour_id owner } }",
            r#"{"data":{"boat":[{"name":"Bel","harbour_id":2,"owner":"ben"}]}}"#,
        ),
        ("admin", ada, one),
    ]);
}

#[test]
fn nested_rows_pass_their_own_permissions() {
    check(&[
        (
            "sailor",
            "mutation { insert_boat(objects: [{id: 8, name: \"n\", harbour_id: 1, vaults: {data: [{id: 7}]}}]) { affected_rows } }",
            "~field 'vaults' not found",
        ),
        (
            "sailor",
            "mutation { insert_boat(objects: [{id: 8, name: \"n\", harbour: {data: {id: 5, name: \"Hell\"}}}]) { affected_rows } }",
            FAILED,
        ),
        (
            "sailor",
            "mutation { insert_boat(objects: [{id: 8, name: \"n\", harbour_id: 1, crews: {data: [{id: 9, name: \"Bad\"}]}}]) { affected_rows } }",
            FAILED,
        ),
        // The parent by a conflict: a row outside the update filter is not changed, and no parent either.
        (
            "sailor",
            "mutation { insert_boat(objects: [{id: 8, name: \"n\", harbour: {data: {id: 2, name: \"mine\"}, on_conflict: {constraint: harbour_pkey, update_columns: [name]}}}]) { affected_rows } }",
            "~cannot proceed to insert object relation",
        ),
        // The check of the boat holds for the parent that was found.
        (
            "admin",
            "{ harbour(order_by: {id: asc}) { name } crew_aggregate { aggregate { count } } }",
            r#"{"data":{"harbour":[{"name":"Oslo"},{"name":"Rio"}],"crew_aggregate":{"aggregate":{"count":3}}}}"#,
        ),
        ("admin", BOATS, ALL_THREE),
        // The preset beats the key of the row it is nested in.
        (
            "sailor",
            "mutation { insert_boat(objects: [{id: 8, name: \"n\", harbour_id: 1, crews: {data: [{id: 9, name: \"Wim\"}]}}]) { affected_rows } }",
            r#"{"data":{"insert_boat":{"affected_rows":2}}}"#,
        ),
        (
            "admin",
            "{ crew(where: {name: {_eq: \"Wim\"}}) { boat_id } }",
            r#"{"data":{"crew":[{"boat_id":1}]}}"#,
        ),
    ]);
}

#[test]
fn inherited_roles_get_exactly_the_union() {
    check(&[
        (
            "trader",
            "{ boat(order_by: {name: asc}) { name price owner } }",
            r#"{"data":{"boat":[{"name":"Ada","price":10,"owner":"ann"},{"name":"Bel","price":20,"owner":null}]}}"#,
        ),
        // An inner role with a permission of its own stands for that, not for its parents.
        ("narrow", "{ boat { name } }", r#"{"data":{"boat":[{"name":"Cid"}]}}"#),
        (
            "inner",
            "{ boat(order_by: {name: asc}) { id name price } }",
            r#"{"data":{"boat":[{"id":null,"name":"Cid","price":null},{"id":1,"name":null,"price":10}]}}"#,
        ),
        ("inner", "{ boat { owner } }", "~field 'owner' not found in type: 'boat'"),
        // A role made of one that cannot be made is none.
        ("broken", "{ boat { id } }", "~field 'boat' not found in type: 'query_root'"),
        ("outer", "{ boat { name } }", "~field 'boat' not found in type: 'query_root'"),
        ("nobody", "{ boat { name } }", "~field 'boat' not found in type: 'query_root'"),
        ("Sailor", "{ boat { name } }", "~field 'boat' not found in type: 'query_root'"),
        // The keyed role sees the key of 1 alone, the buyer 1 and 2.
        (
            "mixed",
            "{ a: boat_by_pk(id: 1) { name } b: boat_by_pk(id: 2) { name } }",
            r#"{"data":{"a":{"name":"Ada"},"b":null}}"#,
        ),
    ]);
}

#[test]
fn types_of_hidden_tables_are_unknown() {
    check(&[
        (
            "sailor",
            "{ __type(name: \"vault\") { name } a: __type(name: \"vault_bool_exp\") { name } }",
            r#"{"data":{"__type":null,"a":null}}"#,
        ),
        ("sailor", "{ harbour { ... on vault { id } } }", "~vault"),
        ("sailor", "query ($w: vault_bool_exp) { harbour { id } }", "~vault_bool_exp"),
        ("buyer", "{ __schema { mutationType { name } } }", r#"{"data":{"__schema":{"mutationType":null}}}"#),
    ]);
}

#[test]
fn errors_name_nothing_hidden() {
    for database in [Database::Sqlite, Database::Postgres] {
        let side = fleet(database);
        for (role, operation) in [
            // A row of a table that the role does not see still refers to the boat.
            ("sailor", "mutation { delete_boat(where: {}) { affected_rows } }"),
            ("remover", "mutation { delete_boat(where: {}) { affected_rows } }"),
            // A preset leaves a hidden column empty.
            (
                "writer",
                "mutation { insert_boat(objects: [{id: 7, name: \"n\", harbour_id: 1}]) { affected_rows } }",
            ),
            (
                "writer",
                "mutation { insert_boat(objects: [{id: 7, harbour_id: 9, name: \"n\"}]) { affected_rows } }",
            ),
            ("sailor", "{ boat { codes } }"),
        ] {
            for protocol in [Protocol::Hasura, Protocol::GraphqlOverHttp] {
                let found = ask(&side.engine, &caller_with(role, false, ANN), operation, protocol);
                assert!(found.contains("\"errors\""), "{database:?}, {role}: {operation}\n{found}");
                let told = found.replace("codes", "");
                let crew = if role == "sailor" { "secret" } else { "crew" };
                for hidden in ["vault", "code\\\"", "secret", crew] {
                    assert!(!told.contains(hidden), "{database:?}, {role}: {operation}\n{found}");
                }
            }
        }
    }
}

#[test]
fn roles_without_roots_or_columns_keep_what_is_left() {
    check(&[
        ("noroot", "{ harbour { id } }", "~field 'harbour' not found in type: 'query_root'"),
        ("noroot", "{ harbour_aggregate { aggregate { count } } }", "~field 'harbour_aggregate' not found"),
        (
            "noroot",
            "{ harbour_group_by(by: [name]) { key { name } } }",
            "~field 'harbour_group_by' not found",
        ),
        ("noroot", "{ harbour_by_pk(id: 1) { name } }", "~field 'harbour_by_pk' not found"),
        (
            "noroot",
            "{ boat(order_by: {id: desc}) { id harbour { name } } }",
            r#"{"data":{"boat":[{"id":3,"harbour":{"name":"Oslo"}}]}}"#,
        ),
        (
            "noroot",
            "{ boat(distinct_on: name, order_by: {name: desc}, limit: 2) { name } }",
            r#"{"data":{"boat":[{"name":"Cid"}]}}"#,
        ),
        (
            "empty",
            "{ boat { __typename } }",
            r#"{"data":{"boat":[{"__typename":"boat"},{"__typename":"boat"},{"__typename":"boat"}]}}"#,
        ),
        ("empty", BOATS, ALL_THREE),
        ("empty", "{ boat { id } }", "~field 'id' not found in type: 'boat'"),
        ("empty", "{ boat(order_by: {}) { harbour { __typename } } }", "~\"data\""),
        ("empty", "{ boat_by_pk(id: 1) { __typename } }", "~field 'boat_by_pk' not found"),
        (
            "writer",
            "mutation { insert_boat_one(object: {name: \"x\"}) { id } }",
            "~field 'insert_boat_one' not found",
        ),
        (
            "writer",
            "mutation { insert_boat(objects: [{name: \"x\"}]) { returning { id } } }",
            "~field 'returning' not found",
        ),
        ("writer", "{ boat { id } }", "~field 'boat' not found in type: 'query_root'"),
    ]);
}

#[test]
fn relationships_to_hidden_tables_are_unknown_everywhere() {
    let unknown = |field: &str, ty: &str| format!("~field '{field}' not found in type: '{ty}'");
    check(&[
        ("master", "{ harbour { boats { id } } }", &unknown("boats", "harbour")),
        (
            "master",
            "{ harbour { boats_aggregate { aggregate { count } } } }",
            &unknown("boats_aggregate", "harbour"),
        ),
        ("master", "{ harbour(where: {boats: {}}) { id } }", &unknown("boats", "harbour_bool_exp")),
        (
            "master",
            "{ harbour(where: {boats_aggregate: {count: {predicate: {_gt: 0}}}}) { id } }",
            &unknown("boats_aggregate", "harbour_bool_exp"),
        ),
        (
            "master",
            "{ harbour(order_by: {boats_aggregate: {count: asc}}) { id } }",
            &unknown("boats_aggregate", "harbour_order_by"),
        ),
        (
            "master",
            "mutation { insert_harbour(objects: [{id: 5, boats: {data: []}}]) { affected_rows } }",
            &unknown("boats", "harbour_insert_input"),
        ),
    ]);
}
