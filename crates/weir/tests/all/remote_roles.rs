//! Inherited roles on remote schemas: they see what their roles see, if these see the same, and nothing else.

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

const PART: &str = "type Query { bill(id: Int!): Bill } type Bill { id: Int! total: Float }";
/// The members of [`PART`] in another order.
const TURNED: &str = "type Bill { total: Float id: Int! } type Query { bill(id: Int!): Bill }";
const LESS: &str = "type Query { bill(id: Int!): Bill } type Bill { id: Int! }";
const PRESET: &str =
    "type Query { bill(id: Int! @preset(value: \"x-hasura-bill-id\")): Bill } type Bill { id: Int! }";
const OTHER_PRESET: &str =
    "type Query { bill(id: Int! @preset(value: \"x-hasura-other-id\")): Bill } type Bill { id: Int! }";

/// Roles, and inherited roles of each two of them.
fn start_inherited() -> (Scene, crate::upstream_kit::Upstream) {
    start(
        &[
            ("clerk", PART),
            ("keeper", TURNED),
            ("reader", LESS),
            ("tenant", PRESET),
            ("twin", PRESET),
            ("other", OTHER_PRESET),
            ("own", LESS),
            ("wrong", "type Query { bill(id: Int!): Bill } type Bill { id: Int! none: Int }"),
        ],
        &[
            ("office", &["clerk", "keeper"]),
            ("all", &["office", "nobody"]),
            ("mixed", &["clerk", "reader"]),
            ("above_mixed", &["mixed"]),
            ("twins", &["tenant", "twin"]),
            ("tenant_open", &["tenant", "reader"]),
            ("tenant_other", &["tenant", "other"]),
            ("own", &["clerk", "keeper"]),
            ("above_own", &["own", "reader"]),
            ("half", &["wrong", "clerk"]),
            ("none", &["user"]),
            ("round", &["circle", "clerk"]),
            ("circle", &["round"]),
        ],
    )
}

#[test]
fn an_inherited_role_sees_what_all_of_its_roles_see() {
    let (scene, upstream) = start_inherited();
    for role in ["office", "all", "half"] {
        scene.check(role, "{ bill(id: 2) { id total } }", r#"{"bill":{"id":2,"total":1.5}}"#);
    }
    for role in ["own", "above_own"] {
        scene.check(role, "{ bill(id: 2) { id } }", r#"{"bill":{"id":2}}"#);
    }
    let session = [("x-hasura-role", "twins"), ("x-hasura-bill-id", "7")];
    let answer = scene.ask_with("/v1/graphql", &session, "{ bill { id } }");
    assert_eq!(answer, r#"{"data":{"bill":{"id":7}}}"#);
    operations(&upstream);
    for (role, query, name) in [
        ("office", "{ bill(id: 2) { secret } }", "secret"),
        ("office", "{ bills { id } }", "bills"),
        ("mixed", "{ bill(id: 2) { id } }", "bill"),
        ("above_mixed", "{ bill(id: 2) { id } }", "bill"),
        ("twins", "{ bill(id: 8) { id } }", "id"),
        ("tenant_open", "{ bill(id: 8) { id } }", "bill"),
        ("tenant_open", "{ bill { id } }", "bill"),
        ("tenant_other", "{ bill { id } }", "bill"),
        // A text of its own stands alone, also for the roles made of it.
        ("own", "{ bill(id: 2) { total } }", "total"),
        ("above_own", "{ bill(id: 2) { total } }", "total"),
        ("none", "{ bill(id: 2) { id } }", "bill"),
        ("round", "{ bill(id: 2) { id } }", "bill"),
    ] {
        scene.check_hidden(role, query, name);
    }
    assert!(operations(&upstream).is_empty());
    let words = scene.inconsistent().to_string();
    for role in ["mixed", "above_mixed", "tenant_open", "tenant_other"] {
        let part = format!(
            "Could not inherit permission for the role '{role}' for the entity: 'remote schema permission, remote schema: payments'"
        );
        assert!(words.contains(&part), "{part} is not in {words}");
    }
    for role in ["office", "all", "twins", "half"] {
        assert!(!words.contains(&format!("for the role '{role}'")), "{words}");
    }
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
