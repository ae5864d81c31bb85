//! Inherited roles on remote schemas: the union of what their roles see, which gives nobody a way around a preset.

use crate::remote_kit::{PAYMENTS, SECRET, Scene, bills, operations, payments, server};
use serde_json::{Value, json};

/// Serves the payments with these texts of roles, and with inherited roles.
fn start(texts: &[(&str, &str)], inherited: &[(&str, &[&str])]) -> (Scene, crate::upstream_kit::Upstream) {
    let upstream = server(PAYMENTS, bills);
    let permissions: Vec<Value> =
        texts.iter().map(|(role, sdl)| json!({ "role": role, "definition": { "schema": sdl } })).collect();
    let roles: Vec<Value> =
        inherited.iter().map(|(role, set)| json!({ "role_name": role, "role_set": set })).collect();
    let entry = payments(&upstream, json!({ "permissions": permissions }));
    let scene = Scene::start_with(json!([entry]), json!({}), json!({ "inherited_roles": roles }), &[]);
    (scene, upstream)
}

#[test]
fn an_inherited_role_sees_what_any_of_its_roles_sees() {
    let (scene, upstream) = start(
        &[
            ("clerk", "type Query { bill(id: Int!): Bill } type Bill { id: Int! total: Float } "),
            (
                "keeper",
                "type Query { bill(id: Int!, kind: Kind = OPEN): Bill ledger: Ledger } type Ledger { bill(id: Int!): Bill } type Bill { currency: String } enum Kind { OPEN }",
            ),
            (
                "payer",
                "type Query { fail: String } type Mutation { pay(id: Int!): Bill } type Bill { id: Int! }",
            ),
            ("own", "type Query { bill(id: Int!): Bill } type Bill { id: Int! }"),
            ("wrong", "type Query { bill(id: Int!): Bill } type Bill { id: Int! none: Int }"),
        ],
        &[
            ("office", &["clerk", "keeper"]),
            ("all", &["office", "payer", "nobody"]),
            ("own", &["clerk", "keeper"]),
            ("above_own", &["own", "payer"]),
            ("half", &["wrong", "payer"]),
            ("none", &["user"]),
            ("round", &["circle", "clerk"]),
            ("circle", &["round"]),
        ],
    );
    scene.check(
        "office",
        "{ bill(id: 2, kind: OPEN) { id total currency } }",
        r#"{"bill":{"id":2,"total":1.5,"currency":"EUR"}}"#,
    );
    let below = "{ ledger { bill(id: 3) { total currency } } }";
    scene.check("office", below, r#"{"ledger":{"bill":{"total":1.5,"currency":"EUR"}}}"#);
    scene.check(
        "all",
        "mutation { pay(id: 3) { id total currency } }",
        r#"{"pay":{"id":3,"total":1.5,"currency":"EUR"}}"#,
    );
    scene.check("own", "{ bill(id: 2) { id } }", r#"{"bill":{"id":2}}"#);
    scene.check("half", "mutation { pay(id: 3) { id } }", r#"{"pay":{"id":3}}"#);
    operations(&upstream);
    for (role, query, name) in [
        ("office", "{ bill(id: 2) { secret } }", "secret"),
        ("office", "{ bills { id } }", "bills"),
        ("office", "{ bill(id: 2, kind: LOST) { id } }", "LOST"),
        ("office", "{ bill(id: 2, by: {limit: 1}) { id } }", "by"),
        ("clerk", "{ bill(id: 2) { currency } }", "currency"),
        // A text of its own stands alone, also for the roles made of it.
        ("own", "{ bill(id: 2) { total } }", "total"),
        ("above_own", "{ bill(id: 2) { total } }", "total"),
        ("half", "{ bill(id: 2) { id } }", "bill"),
        ("none", "{ bill(id: 2) { id } }", "bill"),
        ("round", "{ bill(id: 2) { id } }", "bill"),
    ] {
        scene.check_hidden(role, query, name);
    }
    let refused = scene.ask("office", "mutation { pay(id: 3) { id } }");
    assert!(refused.contains("errors"), "{refused}");
    assert!(operations(&upstream).is_empty());
}

const RESTRICTED: &str = "type Query { bill(id: Int! @preset(value: \"x-hasura-bill-id\")): Bill bills(ids: [Int!], by: BillBy): [Bill!]! }
    type Bill { id: Int! total: Float owner: Owner } type Owner { name: String }
    input BillBy { tenant: String @preset(value: \"x-hasura-tenant\") limit: Int }";

/// Roles of which some set values, and inherited roles of each two of them.
fn start_restricted() -> (Scene, crate::upstream_kit::Upstream) {
    start(
        &[
            ("tenant", RESTRICTED),
            ("open", "type Query { bill(id: Int!): Bill } type Bill { id: Int! }"),
            (
                "other",
                "type Query { bill(id: Int! @preset(value: \"x-hasura-other-id\")): Bill } type Bill { id: Int! total: Float owner: Owner } type Owner { name: String }",
            ),
            (
                "lister",
                "type Query { bills(ids: [Int!], by: BillBy): [Bill!]! } type Bill { id: Int! currency: String } input BillBy { tenant: String limit: Int }",
            ),
            (
                "ledger",
                "type Query { ledger: Ledger } type Ledger { bill(id: Int!): Bill } type Bill { id: Int! }",
            ),
            ("twin", RESTRICTED),
        ],
        &[
            ("tenant_open", &["tenant", "open"]),
            ("tenant_other", &["tenant", "other"]),
            ("tenant_lister", &["tenant", "lister"]),
            ("tenant_ledger", &["tenant", "ledger"]),
            ("twins", &["tenant", "twin"]),
        ],
    )
}

#[test]
fn the_presets_of_a_role_cannot_be_got_round_through_another_role() {
    let (scene, upstream) = start_restricted();
    operations(&upstream);
    for (role, query, name) in [
        // One sets the argument and the other leaves it to the client.
        ("tenant_open", "{ bill(id: 8) { id } }", "bill"),
        ("tenant_open", "{ bill { id } }", "bill"),
        // Each sets another value.
        ("tenant_other", "{ bill { id } }", "bill"),
        // A field of an input object is set by one of them.
        ("tenant_lister", "{ bills(by: {tenant: \"t2\"}) { id } }", "by"),
        ("tenant_lister", "{ bills(by: {limit: 1}) { id } }", "by"),
        // What one may read of its own bill, and the other of no bill, is not read of all bills.
        ("tenant_lister", "{ bills { total } }", "total"),
        ("tenant_lister", "{ bills { owner { name } } }", "owner"),
        ("tenant_lister", "{ bills { currency } }", "currency"),
        ("tenant_ledger", "{ ledger { bill(id: 3) { total } } }", "total"),
    ] {
        scene.check_hidden(role, query, name);
    }
    assert!(operations(&upstream).is_empty());
    scene.check("tenant_ledger", "{ ledger { bill(id: 3) { id } } }", r#"{"ledger":{"bill":{"id":3}}}"#);
    // Equal texts are joined with their presets.
    let session = [("x-hasura-role", "twins"), ("x-hasura-bill-id", "7"), ("x-hasura-tenant", "t1")];
    let answer = scene.ask_with("/v1/graphql", &session, "{ bill { id total owner { name } } }");
    assert_eq!(answer, r#"{"data":{"bill":{"id":7,"total":1.5,"owner":{"name":"Ada"}}}}"#);
    scene.check_hidden("twins", "{ bill(id: 8) { id } }", "id");
    operations(&upstream);
    drop(scene.ask_with("/v1/graphql", &session, "{ bills(by: {limit: 2}) { id } }"));
    let sent: Value = serde_json::from_str(&operations(&upstream)[0].body).expect("it is JSON");
    assert_eq!(sent["variables"]["v0"], json!({ "limit": 2, "tenant": "t1" }));
    let words = scene.inconsistent().to_string();
    for part in [
        r#"Could not inherit permission for the role 'tenant_open' for the entity: 'remote schema permission, field \"bill\" of \"Query\", remote schema: payments'"#,
        r#"'tenant_other' for the entity: 'remote schema permission, field \"bill\" of \"Query\""#,
        r#"'tenant_lister' for the entity: 'remote schema permission, field \"tenant\" of \"BillBy\""#,
        r#"'tenant_lister' for the entity: 'remote schema permission, field \"total\" of \"Bill\""#,
        r#"'tenant_ledger' for the entity: 'remote schema permission, field \"total\" of \"Bill\""#,
    ] {
        assert!(words.contains(part), "{part} is not in {words}");
    }
    assert!(!words.contains("'twins'"), "{words}");
}

/// Hasura refuses without the switch: "remote schema permissions can only be added when remote schema permissions are enabled in the graphql-engine".
#[test]
fn a_permission_that_a_command_adds_holds_without_the_switch() {
    let (scene, _upstream) = start(&[], &[("office", &["clerk"])]);
    scene.check("clerk", "{ bill(id: 3) { secret } }", r#"{"bill":{"secret":"s"}}"#);
    let sdl = "type Query { bill(id: Int!): Bill } type Bill { id: Int! }";
    let args = json!({ "remote_schema": "payments", "role": "clerk", "definition": { "schema": sdl } });
    let sent = json!({ "type": "add_remote_schema_permissions", "args": args }).to_string();
    let answer = scene.weir.post("/v1/metadata", &[SECRET], sent.as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text());
    for role in ["clerk", "office"] {
        scene.check_hidden(role, "{ bill(id: 3) { secret } }", "secret");
        scene.check(role, "{ bill(id: 3) { id } }", r#"{"bill":{"id":3}}"#);
    }
    scene.check_hidden("other", "{ bill(id: 3) { id } }", "bill");
}
