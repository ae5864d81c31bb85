//! Commands of the metadata API about actions, as the console and the command line send them.

use crate::actions::{SDL, SECRET, YAML, serve_project};
use crate::support::{Weir, body, read};
use serde_json::{Value, json};

const SUCCESS: &str = r#"{"message":"success"}"#;

fn send(weir: &Weir, name: &str, args: Value) -> (u16, String) {
    let command = json!({ "type": name, "args": args }).to_string();
    let answer = weir.post("/v1/metadata", &[SECRET], command.as_bytes());
    (answer.status, answer.text().to_owned())
}

fn run(weir: &Weir, name: &str, args: Value) {
    assert_eq!(send(weir, name, args), (200, SUCCESS.to_owned()), "{name}");
}

fn refuse(weir: &Weir, name: &str, args: Value, code: &str, message: &str) {
    let (status, text) = send(weir, name, args);
    let error: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!((status, error["code"].as_str()), (400, Some(code)), "{name}: {text}");
    assert!(error["error"].as_str().is_some_and(|it| it.contains(message)), "{name}: {text}");
}

fn fields(weir: &Weir, role: &str) -> String {
    let query = "{ __type(name: \"mutation_root\") { fields { name } } }";
    weir.post("/v1/graphql", &[SECRET, ("x-hasura-role", role)], body(query).as_bytes()).text().to_owned()
}

#[test]
fn actions_that_are_wrong_are_refused() {
    let weir = serve_project("http://127.0.0.1:9", YAML, SDL, &[]);
    let wrong = json!({ "handler": "http://h", "output_type": "Nothing" });
    refuse(
        &weir,
        "create_action",
        json!({ "name": "wrong", "definition": wrong }),
        "invalid-configuration",
        "the type: \"Nothing\" is not an object or scalar type defined in custom types",
    );
    let negative = json!({ "handler": "http://h", "output_type": "Int", "timeout": -1 });
    refuse(
        &weir,
        "create_action",
        json!({ "name": "wrong", "definition": negative }),
        "parse-failed",
        "timeout value cannot be negative",
    );
    let template = json!({ "handler": "http://h", "output_type": "Int", "request_transform": { "version": 2, "url": "{{$body" } });
    refuse(
        &weir,
        "create_action",
        json!({ "name": "wrong", "definition": template }),
        "validation-failed",
        "request transform validation failed",
    );
    let template = json!({ "handler": "http://h", "output_type": "Int", "response_transform": { "version": 2, "body": { "action": "transform", "template": "{{" } } });
    refuse(
        &weir,
        "create_action",
        json!({ "name": "wrong", "definition": template }),
        "validation-failed",
        "response transform validation failed",
    );
}

/// The export has the actions by their names.
fn check_exported_names(weir: &Weir) {
    let exported = send(weir, "export_metadata", json!({})).1;
    let exported: Value = serde_json::from_str(&exported).expect("it is JSON");
    let names: Vec<&str> =
        exported["actions"].as_array().into_iter().flatten().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, ["keep", "order", "place_order", "rates", "renew", "secret", "settle"]);
}

/// An action is made once, and only one that is there is changed or dropped.
fn check_names_are_known(weir: &Weir, definition: &Value) {
    refuse(
        weir,
        "create_action",
        json!({ "name": "renew", "definition": definition }),
        "already-exists",
        "action with name \"renew\" already exists",
    );
    refuse(
        weir,
        "update_action",
        json!({ "name": "none", "definition": definition }),
        "not-exists",
        "action with name \"none\" does not exist",
    );
    refuse(
        weir,
        "drop_action",
        json!({ "name": "none" }),
        "not-exists",
        "action with name \"none\" does not exist",
    );
}

#[test]
fn actions_are_made_changed_and_dropped() {
    let weir = serve_project("http://127.0.0.1:9", YAML, SDL, &[]);
    let definition = json!({ "handler": "{{SHOP_URL}}/new", "output_type": "Order", "arguments": [{ "name": "a", "type": "Int!" }] });
    run(&weir, "create_action", json!({ "name": "renew", "definition": definition, "comment": "Renew" }));
    check_names_are_known(&weir, &definition);
    assert!(!fields(&weir, "guest").contains("renew"));
    let permission = json!({ "action": "renew", "role": "guest", "comment": "yes" });
    run(&weir, "create_action_permission", permission.clone());
    assert!(fields(&weir, "guest").contains("renew"));
    refuse(
        &weir,
        "create_action_permission",
        permission,
        "already-exists",
        "permission for role \"guest\" is already defined on \"renew\"",
    );
    refuse(
        &weir,
        "create_action_permission",
        json!({ "action": "none", "role": "guest" }),
        "not-exists",
        "action with name \"none\" does not exist",
    );
    // An update keeps permissions.
    run(
        &weir,
        "update_action",
        json!({ "name": "renew", "definition": { "handler": "http://h", "output_type": "Int" } }),
    );
    assert!(fields(&weir, "guest").contains("renew"));
    check_exported_names(&weir);
    run(&weir, "drop_action_permission", json!({ "action": "renew", "role": "guest" }));
    refuse(
        &weir,
        "drop_action_permission",
        json!({ "action": "renew", "role": "guest" }),
        "not-exists",
        "permission for role: \"guest\" is not defined on \"renew\"",
    );
    assert!(!fields(&weir, "guest").contains("renew"));
    run(&weir, "drop_action", json!({ "name": "renew", "clear_data": true }));
    assert!(!fields(&weir, "admin").contains("renew"));
    let sdl = read(&weir.folder().file("metadata/actions.graphql"));
    assert!(sdl.contains("type Line {\n  sku: String!\n") && sdl.contains("  place_order(\n"), "{sdl}");
    let yaml = read(&weir.folder().file("metadata/actions.yaml"));
    assert!(yaml.contains("kind: \"\"") && !yaml.contains("output_type"), "{yaml}");
}

#[test]
fn types_are_replaced_as_a_whole() {
    let weir = serve_project("http://127.0.0.1:9", YAML, SDL, &[]);
    let before: Value =
        serde_json::from_str(&send(&weir, "export_metadata", json!({})).1).expect("it is JSON");
    let types = &before["custom_types"];
    run(&weir, "set_custom_types", types.clone());
    refuse(
        &weir,
        "set_custom_types",
        json!({ "scalars": types["scalars"] }),
        "unexpected",
        "cannot continue due to new inconsistent metadata",
    );
    let mut more = types.clone();
    more["scalars"].as_array_mut().expect("a list").push(json!({ "name": "Money" }));
    run(&weir, "set_custom_types", more);
    let double = json!({ "scalars": [{ "name": "Any" }, { "name": "Any" }] });
    let (status, text) = send(&weir, "set_custom_types", double);
    assert!(status == 400 && text.contains("duplicate type names: \\\"Any\\\""), "{text}");
    let after: Value =
        serde_json::from_str(&send(&weir, "export_metadata", json!({})).1).expect("it is JSON");
    assert_eq!(after["actions"], before["actions"]);
}
