//! Remote schemas of the metadata: their names, headers and errors, and what roles see of them.

use crate::remote_kit::{PAYMENTS, SECRET, Scene, bills, operations, payments, server, url};
use crate::support::{body, command};
use serde_json::{Value, json};

#[test]
fn a_server_is_served_with_the_names_of_the_metadata() {
    let upstream = server(PAYMENTS, bills);
    let customization = json!({ "root_fields_namespace": "pay",
        "type_names": { "prefix": "Pay", "mapping": { "Bill": "Invoice" } },
        "field_names": [{ "parent_type": "Bill", "prefix": "b_", "mapping": { "id": "number" } },
            { "parent_type": "Query", "mapping": { "bill": "invoice" } }] });
    let entry = payments(&upstream, json!({ "customization": customization }));
    let scene = Scene::start(json!([entry]), json!({}), &[]);
    scene.check(
        "user",
        "{ pay { invoice(id: 7) { __typename number b_total b_owner { __typename name } } } boat(limit: 1) { name } }",
        r#"{"pay":{"invoice":{"__typename":"Invoice","number":7,"b_total":1.5,"b_owner":{"__typename":"PayOwner","name":"Ada"}}},"boat":[{"name":"Argo"}]}"#,
    );
    let sent: Value = serde_json::from_str(&operations(&upstream)[0].body).expect("it is JSON");
    assert_eq!(
        sent["query"],
        "query($v0:Int!,$v1:Kind){ r0_0:bill(id:$v0,kind:$v1){ id total owner{ name}}}"
    );
    assert_eq!(sent["variables"], json!({ "v0": 7, "v1": "OPEN" }));
    scene.check("admin", "mutation { pay { pay(id: 3) { number } } }", r#"{"pay":{"pay":{"number":3}}}"#);
}

#[test]
fn headers_of_the_metadata_win_over_the_session_and_the_session_over_the_client() {
    let upstream = server(PAYMENTS, bills);
    let headers = json!([{ "name": "X-Key", "value": "k-{{PAY_KEY}}" }, { "name": "X-Env", "value_from_env": "PAY_KEY" },
        { "name": "x-hasura-org", "value": "fixed" }, { "name": "Content-Type", "value": "text/plain" }]);
    let entry = payments(&upstream, json!({ "headers": headers, "forward_client_headers": true }));
    let scene = Scene::start(json!([entry]), json!({}), &[("PAY_KEY", "secret")]);
    let sent = [
        ("x-hasura-role", "user"),
        ("x-hasura-user-id", "4"),
        ("x-hasura-org", "mine"),
        ("x-key", "mine"),
        ("x-trace-note", "a"),
        ("authorization", "Bearer b"),
        ("cookie", "c=d"),
        ("origin", "http://shop.test"),
        ("referer", "http://shop.test/a"),
        ("cache-control", "no-cache"),
        ("x-weir-admin-secret", "hush"),
    ];
    let answer = scene.ask_with("/v1/graphql", &sent, "{ bill(id: 1) { id } }");
    assert_eq!(answer, r#"{"data":{"bill":{"id":1}}}"#);
    let asked = operations(&upstream);
    let values = |name: &str| -> Vec<&str> {
        asked[0].headers.iter().filter(|it| it.0 == name).map(|it| it.1.as_str()).collect()
    };
    for (name, expected) in [
        ("x-key", &["k-secret"][..]),
        ("x-env", &["secret"]),
        ("x-hasura-org", &["fixed"]),
        ("x-hasura-role", &["user"]),
        ("x-hasura-user-id", &["4"]),
        ("x-trace-note", &["a"]),
        ("authorization", &["Bearer b"]),
        ("cookie", &["c=d"]),
        ("x-forwarded-origin", &["http://shop.test"]),
        ("content-type", &["application/json"]),
        ("x-hasura-admin-secret", &[]),
        ("x-weir-admin-secret", &[]),
        ("origin", &[]),
        ("referer", &[]),
        ("cache-control", &[]),
    ] {
        assert_eq!(values(name), expected, "{name}");
    }
    let answer = scene.weir.post("/v1/graphql", &[SECRET], body("{ bill(id: 1) { id } }").as_bytes());
    assert_eq!(answer.header("set-cookie"), Some("shop=1"));
    operations(&upstream);
    // Equal questions of two callers are two calls.
    let other = scene.ask_with("/v1/graphql", &[("x-hasura-role", "other")], "{ bill(id: 1) { id } }");
    assert_eq!(other, r#"{"data":{"bill":{"id":1}}}"#);
    let asked = operations(&upstream);
    assert_eq!(asked.len(), 1);
    assert!(asked[0].headers.contains(&("x-hasura-role".into(), "other".into())), "{asked:?}");
}

/// Answers with an error, data and an error, neither, or data with a bad status, by the number that is asked.
fn faulty(_: &str, variables: &Value) -> (u16, Value) {
    let error = json!({ "message": "no such bill", "extensions": { "code": "GONE", "hint": [1] } });
    let data = json!({ "r0_0": { "id": 1 } });
    match variables["v0"].as_i64() {
        Some(1) => (200, json!({ "errors": [error] })),
        Some(2) => (200, json!({ "errors": [error], "data": data })),
        Some(3) => (200, json!({ "data": null })),
        Some(4) => (200, json!({ "errors": [] })),
        Some(5) => (418, json!({ "data": data, "errors": null })),
        _ => (500, json!({ "data": data })),
    }
}

#[test]
fn the_body_of_an_answer_decides_and_errors_win() {
    let upstream = server(PAYMENTS, faulty);
    let scene = Scene::start(json!([payments(&upstream, json!({}))]), json!({}), &[]);
    let theirs = r#"{"errors":[{"message":"no such bill","extensions":{"code":"GONE","hint":[1]}}]}"#;
    let missing = "Missing \\\"data\\\" field with no errors in response from remote";
    for (number, expected) in [
        (1, theirs.to_owned()),
        (2, theirs.to_owned()),
        (
            3,
            format!(
                r#"{{"errors":[{{"message":"{missing}","extensions":{{"path":"$","code":"remote-schema-error"}}}}]}}"#
            ),
        ),
        (5, r#"{"data":{"bill":{"id":1}}}"#.to_owned()),
        (6, r#"{"data":{"bill":{"id":1}}}"#.to_owned()),
    ] {
        let answer = scene.ask("user", &format!("{{ bill(id: {number}) {{ id }} }}"));
        assert_eq!(answer.replace("$.selectionSet.bill", "$"), expected, "{number}\n{}", scene.weir.log());
    }
    let empty = scene.ask("user", "{ bill(id: 4) { id } }");
    assert!(empty.contains(r#"Empty \"errors\" field"#) && empty.contains("remote-schema-error"), "{empty}");
    let upstream = server(PAYMENTS, faulty);
    let switch = [("HASURA_GRAPHQL_REMOTE_SCHEMA_PRIORITIZE_DATA", "true")];
    let scene = Scene::start(json!([payments(&upstream, json!({}))]), json!({}), &switch);
    scene.check("user", "{ bill(id: 2) { id } }", r#"{"bill":{"id":1}}"#);
}

#[test]
fn what_does_not_fit_is_left_out_and_the_rest_serves() {
    let upstream = server("type Query { boat: String }", bills);
    let other = server("type Query { bill: Bill fine: Int } type Bill { other: Int }", bills);
    let payments_up = server(PAYMENTS, bills);
    let entry = |name: &str, url: &str| json!({ "name": name, "definition": { "url": url } });
    let schemas = json!([
        payments(&payments_up, json!({})),
        entry("boats", &url(&upstream)),
        entry("other", &url(&other)),
        entry("down", "http://127.0.0.1:1/graphql"),
        entry("unset", "{{NOT_SET}}/graphql")
    ]);
    let scene = Scene::start(schemas, json!({}), &[]);
    scene.check(
        "admin",
        "{ boat(limit: 1) { id } bill(id: 2) { id } }",
        r#"{"boat":[{"id":1}],"bill":{"id":2}}"#,
    );
    let found = scene.inconsistent();
    let words = found.to_string();
    for part in [
        "Field cannot be overwritten by remote field 'boat'",
        "Duplicate remote field 'bill'",
        "HTTP exception occurred while sending the request to \\\"http://127.0.0.1:1/graphql\\\"",
        "Value for environment variables not found: NOT_SET",
    ] {
        assert!(words.contains(part), "{part} is not in {words}");
    }
    assert!(found.as_array().is_some_and(|it| it.iter().all(|it| it["type"] == "remote_schema")), "{words}");
    scene.check_hidden("admin", "{ fine }", "fine");
}

const ROLE: &str = "schema { query: Query } type Query { bill(id: Int! @preset(value: \"x-hasura-bill-id\"), kind: Kind = OPEN, by: BillBy): Bill }
    type Bill { id: Int! total: Float owner: Owner } type Owner { name: String } enum Kind { OPEN PAID }
    input BillBy { tenant: String @preset(value: \"x-hasura-tenant\") limit: Int @preset(value: 5) owner: OwnerBy }
    input OwnerBy { name: String tenant: String @preset(value: \"x-hasura-tenant\", static: true) }";

#[test]
fn a_role_sees_its_part_and_presets_cannot_be_got_round() {
    let upstream = server(PAYMENTS, bills);
    let permission = json!([{ "role": "user", "definition": { "schema": ROLE } }]);
    let scene =
        Scene::start(json!([payments(&upstream, json!({ "permissions": permission }))]), json!({}), &[]);
    let session = [("x-hasura-role", "user"), ("x-hasura-bill-id", "7"), ("x-hasura-tenant", "t\"1")];
    let ask = |query: &str| scene.ask_with("/v1/graphql", &session, query);
    assert_eq!(ask("{ bill { id total } }"), r#"{"data":{"bill":{"id":7,"total":1.5}}}"#);
    let sent: Value = serde_json::from_str(&operations(&upstream)[0].body).expect("it is JSON");
    assert_eq!(sent["query"], "query($v0:Kind,$p1:Int!){ r0_0:bill(kind:$v0,id:$p1){ id total}}");
    assert_eq!(sent["variables"], json!({ "v0": "OPEN", "p1": 7 }));
    // Presets inside of objects come beside what the client gives.
    drop(ask("{ bill(by: {owner: {name: \"Ada\"}}) { id } }"));
    let sent: Value = serde_json::from_str(&operations(&upstream)[0].body).expect("it is JSON");
    assert_eq!(
        sent["variables"]["v1"],
        json!({ "owner": { "name": "Ada", "tenant": "x-hasura-tenant" }, "tenant": "t\"1", "limit": 5 })
    );
    for (query, name) in [
        ("{ bill(id: 8) { id } }", "id"),
        ("{ bill(by: {tenant: \"t2\"}) { id } }", "tenant"),
        ("{ bill(by: {owner: {tenant: \"t2\"}}) { id } }", "tenant"),
        ("{ bill { secret } }", "secret"),
        ("{ bill { owner { id } } }", "id"),
        ("{ bills { id } }", "bills"),
        ("{ ledger { bill(id: 1) { secret } } }", "ledger"),
        ("{ bill(kind: LOST) { id } }", "LOST"),
    ] {
        scene.check_hidden("user", query, name);
    }
    let refused = ask("query ($by: BillBy) { bill(by: $by) { id } }");
    assert!(!refused.contains("errors"), "{refused}");
    let with = |variables: Value| {
        let sent = json!({ "query": "query ($by: BillBy) { bill(by: $by) { id } }", "variables": { "by": variables } });
        let headers: Vec<_> = std::iter::once(SECRET).chain(session).collect();
        scene.weir.post("/v1/graphql", &headers, sent.to_string().as_bytes()).text().to_owned()
    };
    assert!(with(json!({ "tenant": "t2" })).contains("errors"));
    operations(&upstream);
    let missing = scene.ask("user", "{ bill { id } }");
    assert!(
        missing.contains(r#"\"x-hasura-bill-id\" session variable expected, but not found"#),
        "{missing}"
    );
    assert!(missing.contains("\"not-found\""), "{missing}");
    let misfit = scene.ask_with(
        "/v1/graphql",
        &[("x-hasura-role", "user"), ("x-hasura-bill-id", "x")],
        "{ bill { id } }",
    );
    assert!(misfit.contains("x cannot be coerced into an Int value"), "{misfit}");
    assert!(operations(&upstream).is_empty());
    let names = scene.ask_with("/v1/graphql", &session, "{ __schema { types { name fields { name args { name } } enumValues { name } inputFields { name } } } }");
    for part in ["secret", "Ledger", "bills", "LOST", "tenant", "\"pay\""] {
        assert!(!names.contains(part), "{part} is in {names}");
    }
    // A role without a permission sees nothing, the admin all.
    scene.check_hidden("other", "{ bill { id } }", "bill");
    scene.check("admin", "{ bill(id: 3) { secret } }", r#"{"bill":{"secret":"s"}}"#);
}

#[test]
fn an_object_with_nothing_left_to_the_client_is_always_sent() {
    let upstream = server(PAYMENTS, bills);
    let sdl = "type Query { bill(id: Int!, by: BillBy): Bill } type Bill { id: Int! }
        input BillBy { tenant: String @preset(value: \"x-hasura-tenant\") owner: OwnerBy } input OwnerBy { name: String @preset(value: \"Ada\") }";
    let permission = json!([{ "role": "user", "definition": { "schema": sdl } }]);
    let scene =
        Scene::start(json!([payments(&upstream, json!({ "permissions": permission }))]), json!({}), &[]);
    let session = [("x-hasura-role", "user"), ("x-hasura-tenant", "t1")];
    let answer = scene.ask_with("/v1/graphql", &session, "{ bill(id: 7) { id } }");
    assert_eq!(answer, r#"{"data":{"bill":{"id":7}}}"#, "{}", scene.weir.log());
    let sent: Value = serde_json::from_str(&operations(&upstream)[0].body).expect("it is JSON");
    assert_eq!(sent["query"], "query($v0:Int!,$v1:Kind,$p2:BillBy){ r0_0:bill(id:$v0,kind:$v1,by:$p2){ id}}");
    assert_eq!(sent["variables"]["p2"], json!({ "tenant": "t1", "owner": { "name": "Ada" } }));
    scene.check_hidden("user", "{ bill(id: 7, by: {tenant: \"t2\"}) { id } }", "by");
    let without = scene.ask("user", "{ bill(id: 7) { id } }");
    assert!(without.contains("session variable expected, but not found"), "{without}");
}

#[test]
fn a_wrong_permission_is_told_with_all_its_mistakes_and_grants_nothing() {
    let upstream = server(PAYMENTS, bills);
    let wrong = "type Query { bill(id: Int, by: BillBy, more: Int): Bill nothing: Int } type Bill { id: Int total: Float! } type Gone { a: Int }
        input BillBy { limit: Int @preset(value: \"many\") } enum Kind { NEW }";
    let permission = json!([{ "role": "user", "definition": { "schema": wrong } }, { "role": "rootless", "definition": { "schema": "type Bill { id: Int! }" } }]);
    let scene =
        Scene::start(json!([payments(&upstream, json!({ "permissions": permission }))]), json!({}), &[]);
    let found = scene.inconsistent();
    let words = found.to_string();
    for part in [
        "validation for the given role-based schema failed for the following reasons",
        r#"to be Int! but received Int"#,
        r#"the input argument \"more\" does not exist in the field: \"bill\""#,
        r#"field \"nothing\" does not exist in the Object: \"Query\""#,
        r#"Object: \"Gone\" does not exist in the upstream remote schema"#,
        r#"enum value \"NEW\" does not exist in the enum: \"Kind\""#,
        "many cannot be coerced into an Int value",
        "validation for the given role-based schema failed because query root does not exist in the schema definition",
    ] {
        assert!(words.contains(part), "{part} is not in {words}");
    }
    assert_eq!(found[0]["type"], "remote_schema_permission", "{words}");
    scene.check_hidden("user", "{ bill(id: 1) { id } }", "bill");
}

#[test]
fn a_permission_that_cannot_be_read_takes_its_server_with_it() {
    let upstream = server(PAYMENTS, bills);
    for permission in [
        json!({ "role": "user", "definition": { "scheme": ROLE, "schema": ROLE } }),
        json!({ "role": "user" }),
        json!({ "role": "admin", "definition": { "schema": ROLE } }),
    ] {
        let entry = payments(&upstream, json!({ "permissions": [permission] }));
        let scene = Scene::start(json!([entry]), json!({}), &[]);
        for role in ["user", "other", "admin"] {
            scene.check_hidden(role, "{ bill(id: 1) { id } }", "bill");
        }
        scene.check("user", "{ boat(limit: 1) { name } }", r#"{"boat":[{"name":"Argo"}]}"#);
    }
}

#[test]
fn the_switch_hides_a_server_without_permissions() {
    let upstream = server(PAYMENTS, bills);
    let scene = Scene::start(json!([payments(&upstream, json!({}))]), json!({}), &[]);
    scene.check("user", "{ bill(id: 3) { secret } }", r#"{"bill":{"secret":"s"}}"#);
    let output = command()
        .args(["check", "--metadata", "metadata.json"])
        .current_dir(scene.weir.folder().file(""))
        .output()
        .expect("it runs");
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("remote schema `payments`: every role sees all of it"), "{said}");
    assert!(
        !said.contains("not served:") || !said.contains("remote schema `payments` is not supported"),
        "{said}"
    );
    let switch = [("HASURA_GRAPHQL_ENABLE_REMOTE_SCHEMA_PERMISSIONS", "true")];
    let scene = Scene::start(json!([payments(&upstream, json!({}))]), json!({}), &switch);
    scene.check_hidden("user", "{ bill(id: 3) { secret } }", "bill");
    scene.check("admin", "{ bill(id: 3) { id } }", r#"{"bill":{"id":3}}"#);
}
