//! Relationships to and from remote schemas, and the commands about both.

use crate::remote_kit::{PAYMENTS, SECRET, Scene, bills, operations, payments, server, to_remote, url};
use crate::upstream_kit::Upstream;
use serde_json::{Value, json};

/// Boats with relationships to bills, one of them by a path and one in the older form.
fn start_related(upstream: &Upstream) -> Scene {
    let old = json!({ "name": "old", "definition": { "remote_schema": "payments", "hasura_fields": ["bill"],
        "remote_field": { "bill": { "arguments": { "id": "$bill" } } } } });
    let relationships = json!([
        to_remote(
            "invoice",
            &["bill"],
            json!({ "bill": { "arguments": { "id": "$bill", "by": { "tags": ["a"], "owner": { "name": "Bob" } } } } })
        ),
        to_remote(
            "deep",
            &["bill"],
            json!({ "ledger": { "field": { "bill": { "arguments": { "id": "$bill" } } } } })
        ),
        old,
    ]);
    Scene::start(
        json!([payments(upstream, json!({}))]),
        json!({ "remote_relationships": relationships }),
        &[],
    )
}

#[test]
fn rows_lead_to_fields_of_a_server() {
    let upstream = server(PAYMENTS, bills);
    let scene = start_related(&upstream);
    // One call has the keys of all parents, each once; a null key asks nothing.
    scene.check(
        "admin",
        "{ boat(order_by: {id: asc}) { id invoice { id total } } }",
        r#"{"boat":[{"id":1,"invoice":{"id":7,"total":1.5}},{"id":2,"invoice":{"id":7,"total":1.5}},{"id":3,"invoice":null},{"id":4,"invoice":null},{"id":5,"invoice":{"id":9,"total":1.5}}]}"#,
    );
    let asked = operations(&upstream);
    assert_eq!(asked.len(), 1, "{asked:?}");
    let sent: Value = serde_json::from_str(&asked[0].body).expect("it is JSON");
    assert_eq!(sent["query"].as_str().map(|it| it.matches(":bill(").count()), Some(3), "{sent}");
}

#[test]
fn what_a_relationship_sets_is_merged_with_what_the_client_gives() {
    let upstream = server(PAYMENTS, bills);
    let scene = start_related(&upstream);
    scene.check(
        "user",
        "{ boat(where: {id: {_eq: 1}}) { deep { id owner { name } } old { currency } } }",
        r#"{"boat":[{"deep":{"id":7,"owner":{"name":"Ada"}},"old":{"currency":"EUR"}}]}"#,
    );
    operations(&upstream);
    // A fixed argument is none any more; objects are merged and lists continued.
    scene.check_hidden("admin", "{ boat { invoice(id: 3) { id } } }", "id");
    scene.check_hidden("admin", "{ boat { invoice(by: {owner: {name: \"Eve\"}}) { id } } }", "name");
    let told = scene.ask(
        "admin",
        "{ __type(name: \"BillBy_remote_rel_boat_invoice\") { inputFields { name type { name } } } }",
    );
    assert!(told.contains("OwnerBy_remote_rel_boat_invoice") && told.contains("tags"), "{told}");
    let merged = "{ boat(where: {id: {_eq: 1}}) { invoice(kind: PAID, by: {tags: [\"b\"], owner: {tenant: \"t\"}, limit: 2}) { id } } }";
    scene.check("admin", merged, r#"{"boat":[{"invoice":{"id":7}}]}"#);
    let sent: Value = serde_json::from_str(&operations(&upstream)[0].body).expect("it is JSON");
    let by = sent["variables"]
        .as_object()
        .into_iter()
        .flatten()
        .find(|it| it.1.is_object())
        .map(|it| it.1.clone());
    assert_eq!(
        by,
        Some(json!({ "tags": ["b", "a"], "owner": { "name": "Bob", "tenant": "t" }, "limit": 2 })),
        "{sent}"
    );
    // The key has to be seen.
    scene.check_hidden("blind", "{ boat { invoice { id } } }", "invoice");
    scene.check(
        "user",
        "{ boat(where: {id: {_eq: 3}}) { invoice { id } } }",
        r#"{"boat":[{"invoice":null}]}"#,
    );
    assert!(operations(&upstream).is_empty());
}

#[test]
fn errors_of_a_relationship_are_told_together() {
    fn refuse(_: &str, _: &Value) -> (u16, Value) {
        (200, json!({ "data": {}, "errors": [{ "message": "gone" }] }))
    }
    let upstream = server(PAYMENTS, refuse);
    let scene = start_related(&upstream);
    let answer = scene.ask("admin", "{ boat(limit: 1) { name invoice { id } } }");
    for part in
        [r#""message":"Errors from remote server""#, r#""code":"unexpected""#, r#"{"message":"gone"}"#]
    {
        assert!(answer.contains(part), "{part} is not in {answer}");
    }
    assert!(!answer.contains("Argo"), "{answer}");
}

#[test]
fn a_relationship_obeys_the_permission_and_its_presets() {
    let upstream = server(PAYMENTS, bills);
    let relationships = json!([
        to_remote("invoice", &["bill"], json!({ "bill": { "arguments": { "id": "$bill" } } })),
        to_remote(
            "deep",
            &["bill"],
            json!({ "ledger": { "field": { "bill": { "arguments": { "id": "$bill" } } } } })
        ),
    ]);
    let sdl = "type Query { bill(id: Int!, by: BillBy @preset(value: {tenant: \"t\"})): Bill } type Bill { id: Int! } input BillBy { tenant: String }";
    let permissions = json!([{ "role": "user", "definition": { "schema": sdl } }]);
    let entry = payments(&upstream, json!({ "permissions": permissions }));
    let scene = Scene::start(json!([entry]), json!({ "remote_relationships": relationships }), &[]);
    scene.check("user", "{ boat(limit: 1) { invoice { id } } }", r#"{"boat":[{"invoice":{"id":7}}]}"#);
    let sent: Value = serde_json::from_str(&operations(&upstream)[0].body).expect("it is JSON");
    assert!(
        sent["variables"].as_object().is_some_and(|it| it.values().any(|it| *it == json!({ "tenant": "t" }))),
        "{sent}"
    );
    scene.check_hidden("user", "{ boat { invoice { secret } } }", "secret");
    scene.check_hidden("user", "{ boat { invoice(by: {tenant: \"x\"}) { id } } }", "by");
    scene.check_hidden("user", "{ boat { deep { id } } }", "deep");
    scene.check("admin", "{ boat(limit: 1) { deep { secret } } }", r#"{"boat":[{"deep":{"secret":"s"}}]}"#);
}

#[test]
fn types_of_a_server_lead_to_tables_and_to_servers() {
    let upstream = server(PAYMENTS, bills);
    let boat = json!({ "name": "boat", "definition": { "to_source": { "source": "fleet", "table": "boat", "relationship_type": "object", "field_mapping": { "boat_id": "id" } } } });
    let boats = json!({ "name": "boats", "definition": { "to_source": { "source": "fleet", "table": "boat", "relationship_type": "array", "field_mapping": { "boat_id": "bill" } } } });
    let own = to_remote("own_bill", &["bill_id"], json!({ "bill": { "arguments": { "id": "$bill_id" } } }));
    let types = json!([{ "type_name": "Bill", "relationships": [boat, boats] }, { "type_name": "Owner", "relationships": [own] }]);
    let customization = json!({ "type_names": { "prefix": "Pay_" } });
    let entry = payments(&upstream, json!({ "remote_relationships": types, "customization": customization }));
    let scene = Scene::start(json!([entry]), json!({}), &[]);
    scene.check(
        "user",
        "{ bill(id: 1) { boat { name } } far: bill(id: 5) { boat { name } } seven: bill(id: 7) { boats(order_by: {id: desc}) { id } owner { own_bill { id } } } }",
        r#"{"bill":{"boat":{"name":"Argo"}},"far":{"boat":null},"seven":{"boats":[{"id":2},{"id":1}],"owner":{"own_bill":{"id":7}}}}"#,
    );
    scene.check_hidden("blind", "{ bill(id: 1) { boat { name } } }", "name");
    scene.check_hidden(
        "user",
        "{ bill(id: 7) { boats_aggregate { aggregate { count } } } }",
        "boats_aggregate",
    );
    scene.check(
        "admin",
        "{ bill(id: 7) { boats_aggregate { aggregate { count } } } }",
        r#"{"bill":{"boats_aggregate":{"aggregate":{"count":2}}}}"#,
    );
}

#[test]
fn rows_that_a_mutation_returns_lead_to_a_server() {
    let upstream = server(PAYMENTS, bills);
    let scene = start_related(&upstream);
    for path in ["/graphql", "/v1/graphql"] {
        let answer = scene.ask_with(path, &[], "mutation { insert_boat(objects: [{name: \"A\", bill: 7}, {name: \"B\"}, {name: \"C\", bill: 7}]) { affected_rows returning { name invoice { id total } } } }");
        assert_eq!(
            answer,
            r#"{"data":{"insert_boat":{"affected_rows":3,"returning":[{"name":"A","invoice":{"id":7,"total":1.5}},{"name":"B","invoice":null},{"name":"C","invoice":{"id":7,"total":1.5}}]}}}"#,
            "{}",
            scene.weir.log()
        );
        let asked = operations(&upstream);
        assert_eq!(asked.len(), 1, "{asked:?}");
        assert!(asked[0].body.contains("\"query\":\"query("), "{}", asked[0].body);
    }
    // A refusal of the server is told, and that the rows stand.
    let upstream = server(PAYMENTS, |_, _| (200, json!({ "errors": [{ "message": "gone" }] })));
    let scene = start_related(&upstream);
    for (path, words) in [("/graphql", "gone"), ("/v1/graphql", "Errors from remote server")] {
        let answer = scene.ask_with(
            path,
            &[],
            "mutation { insert_boat_one(object: {name: \"New\", bill: 7}) { name invoice { id } } }",
        );
        assert!(answer.contains(words) && answer.contains(r#""committed":["insert_boat_one"]"#), "{answer}");
    }
    scene.check(
        "admin",
        "{ boat_aggregate(where: {name: {_eq: \"New\"}}) { aggregate { count } } }",
        r#"{"boat_aggregate":{"aggregate":{"count":2}}}"#,
    );
}

#[test]
fn presets_hold_inside_of_what_a_relationship_sets() {
    let upstream = server(PAYMENTS, bills);
    let relationships = json!([to_remote(
        "invoice",
        &["bill"],
        json!({ "bill": { "arguments": { "id": "$bill", "by": { "tags": ["a"], "tenant": "all" } } } })
    )]);
    let sdl = "type Query { bill(id: Int!, by: BillBy): Bill } type Bill { id: Int! }
        input BillBy { tenant: String @preset(value: \"x-hasura-tenant\") tags: [String!] limit: Int }";
    let permissions = json!([{ "role": "user", "definition": { "schema": sdl } }]);
    let entry = payments(&upstream, json!({ "permissions": permissions }));
    let scene = Scene::start(json!([entry]), json!({ "remote_relationships": relationships }), &[]);
    let session = [("x-hasura-role", "user"), ("x-hasura-tenant", "t1")];
    for (arguments, by) in [
        ("", json!({ "tags": ["a"], "tenant": "t1" })),
        ("(by: {limit: 2, tags: [\"b\"]})", json!({ "limit": 2, "tags": ["b", "a"], "tenant": "t1" })),
    ] {
        let query = format!("{{ boat(limit: 1) {{ invoice{arguments} {{ id }} }} }}");
        let answer = scene.ask_with("/v1/graphql", &session, &query);
        assert_eq!(answer, r#"{"data":{"boat":[{"invoice":{"id":7}}]}}"#, "{}", scene.weir.log());
        let sent: Value = serde_json::from_str(&operations(&upstream)[0].body).expect("it is JSON");
        let sent = sent["variables"].as_object().into_iter().flatten().find(|it| it.1.is_object());
        assert_eq!(sent.map(|it| it.1), Some(&by));
    }
    for query in [
        "{ boat { invoice(by: {tenant: \"t2\"}) { id } } }",
        "{ boat { invoice(by: {owner: {name: \"x\"}}) { id } } }",
    ] {
        let answer = scene.ask_with("/v1/graphql", &session, query);
        assert!(answer.contains("errors"), "{answer}");
    }
    assert!(operations(&upstream).is_empty());
}

#[test]
fn relationships_that_do_not_fit_are_told() {
    let upstream = server(PAYMENTS, bills);
    let relationships = json!([
        to_remote("a", &["bill"], json!({ "nothing": { "arguments": { "id": "$bill" } } })),
        to_remote("b", &["bill"], json!({ "bill": { "arguments": { "nothing": "$bill" } } })),
        to_remote("c", &["name"], json!({ "bill": { "arguments": { "id": "$name" } } })),
        to_remote("d", &["bill"], json!({ "bill": { "arguments": { "id": "$other" } } })),
        to_remote("f", &["is_old"], json!({ "bill_of": { "arguments": { "key": "$is_old" } } })),
        { "name": "e", "definition": { "to_remote_schema": { "remote_schema": "gone", "lhs_fields": ["bill"], "remote_field": { "bill": { "arguments": { "id": "$bill" } } } } } },
    ]);
    let scene = Scene::start(
        json!([payments(&upstream, json!({}))]),
        json!({ "remote_relationships": relationships }),
        &[],
    );
    let found = scene.inconsistent();
    let words = found.to_string();
    assert_eq!(found.as_array().map(Vec::len), Some(6), "{words}");
    for part in [
        "Only ID, Int, uuid or String scalar types can be joined to the ID type",
        r#"field with name \"nothing\" not found in \"Query\""#,
        r#"argument \"nothing\" is not found in \"bill\""#,
        r#"\"$name\" is of type \"String\", and \"Int\" is expected"#,
        "`$other` is none of the relationship's fields",
        r#"remote schema with name \"gone\" is not found"#,
    ] {
        assert!(words.contains(part), "{part} is not in {words}");
    }
    scene.check("admin", "{ bill(id: 1) { id } }", r#"{"bill":{"id":1}}"#);
}

const DONE: &str = r#"{"message":"success"}"#;

/// Runs a command of the metadata API: the status and body of its answer.
fn run(scene: &Scene, name: &str, args: Value) -> (u16, String) {
    let sent = json!({ "type": name, "args": args }).to_string();
    let answer = scene.weir.post("/v1/metadata", &[SECRET], sent.as_bytes());
    (answer.status, answer.text().to_owned())
}

#[track_caller]
fn check_done(answer: (u16, String)) {
    assert_eq!(answer, (200, DONE.to_owned()));
}

#[track_caller]
fn check_refused(answer: (u16, String), code: &str, part: &str) {
    assert!(answer.0 == 400 && answer.1.contains(code) && answer.1.contains(part), "{part}: {answer:?}");
}

#[test]
fn commands_change_remote_schemas() {
    let upstream = server(PAYMENTS, bills);
    let scene = Scene::start(json!([]), json!({}), &[]);
    let definition = json!({ "url": url(&upstream), "timeout_seconds": 5 });
    check_done(run(
        &scene,
        "add_remote_schema",
        json!({ "name": "payments", "definition": definition, "comment": "c" }),
    ));
    scene.check("admin", "{ bill(id: 1) { id } }", r#"{"bill":{"id":1}}"#);
    let again = run(&scene, "add_remote_schema", json!({ "name": "payments", "definition": definition }));
    check_refused(again, "already-exists", r#"remote schema with name \"payments\" already exists"#);
    let both = json!({ "name": "x", "definition": { "url": "a", "url_from_env": "B" } });
    check_refused(
        run(&scene, "add_remote_schema", both),
        "parse-failed",
        "both `url` and `url_from_env` can't be present",
    );
    let none = json!({ "name": "x", "definition": {} });
    check_refused(
        run(&scene, "add_remote_schema", none),
        "parse-failed",
        "both `url` and `url_from_env` can't be empty",
    );
    let told = run(&scene, "introspect_remote_schema", json!({ "name": "payments" }));
    assert!(told.0 == 200 && told.1.starts_with(r#"{"data":{"__schema""#), "{told:?}");
    let permission = json!({ "remote_schema": "payments", "role": "user", "definition": { "schema": "type Query { bill(id: Int!): Bill } type Bill { id: Int! }" } });
    check_done(run(&scene, "add_remote_schema_permissions", permission.clone()));
    check_refused(
        run(&scene, "add_remote_schema_permissions", permission),
        "already-exists",
        "already exists",
    );
    scene.check_hidden("user", "{ bill(id: 1) { secret } }", "secret");
    let drop = json!({ "remote_schema": "payments", "role": "user" });
    check_done(run(&scene, "drop_remote_schema_permissions", drop.clone()));
    check_refused(run(&scene, "drop_remote_schema_permissions", drop), "not-exists", "does not exist");
    let reload = run(&scene, "reload_remote_schema", json!({ "name": "payments" }));
    assert!(reload.0 == 200 && reload.1.contains("success"), "{reload:?}");
    check_refused(
        run(&scene, "reload_remote_schema", json!({ "name": "gone" })),
        "not-exists",
        r#"remote schema with name \"gone\" does not exist"#,
    );
    check_done(run(&scene, "update_remote_schema", json!({ "name": "payments", "definition": definition })));
    check_done(run(&scene, "remove_remote_schema", json!({ "name": "payments" })));
    scene.check_hidden("admin", "{ bill(id: 1) { id } }", "bill");
}

#[test]
fn commands_change_relationships_to_and_from_remote_schemas() {
    let upstream = server(PAYMENTS, bills);
    let scene = Scene::start(json!([payments(&upstream, json!({}))]), json!({}), &[]);
    let mut relationship = json!({ "source": "fleet", "table": "boat", "name": "invoice",
        "definition": { "to_remote_schema": { "remote_schema": "payments", "lhs_fields": ["bill"], "remote_field": { "bill": { "arguments": { "id": "$bill" } } } } } });
    check_done(run(&scene, "sqlite_create_remote_relationship", relationship.clone()));
    scene.check("admin", "{ boat(limit: 1) { invoice { id } } }", r#"{"boat":[{"invoice":{"id":7}}]}"#);
    check_refused(
        run(&scene, "remove_remote_schema", json!({ "name": "payments" })),
        "dependency-error",
        "invoice",
    );
    relationship["definition"]["to_remote_schema"]["remote_field"] =
        json!({ "ledger": { "field": { "bill": { "arguments": { "id": "$bill" } } } } });
    check_done(run(&scene, "sqlite_update_remote_relationship", relationship));
    let delete = json!({ "source": "fleet", "table": "boat", "name": "invoice" });
    check_done(run(&scene, "sqlite_delete_remote_relationship", delete));
    let of_type = json!({ "remote_schema": "payments", "type_name": "Bill", "name": "boat", "definition": { "to_source": {
        "source": "fleet", "table": "boat", "relationship_type": "object", "field_mapping": { "boat_id": "id" } } } });
    check_done(run(&scene, "create_remote_schema_remote_relationship", of_type.clone()));
    scene.check("admin", "{ bill(id: 2) { boat { name } } }", r#"{"bill":{"boat":{"name":"Fram"}}}"#);
    check_done(run(&scene, "update_remote_schema_remote_relationship", of_type));
    let delete = json!({ "remote_schema": "payments", "type_name": "Bill", "name": "boat" });
    check_done(run(&scene, "delete_remote_schema_remote_relationship", delete));
}
