//! Actions and custom types: of documents in one piece, of folders with their types in SDL, and written again.

use crate::folders::Folder;
use std::path::Path;
use weir_metadata::document::action::{ActionKind, ActionOperation};
use weir_metadata::export::{self, Export};
use weir_metadata::{Aside, Loaded, Metadata, read};

const YAML: &str = "\
actions:
  - name: place_order
    definition:
      kind: synchronous
      handler: '{{SHOP_URL}}/orders'
      forward_client_headers: true
      headers:
        - name: X-Key
          value_from_env: SHOP_KEY
      timeout: 60
    permissions:
      - role: user
    comment: Place an order
  - name: rates
    definition:
      kind: \"\"
      handler: '{{SHOP_URL}}/rates'
custom_types:
  enums:
    - name: Kind
  input_objects:
    - name: OrderIn
  objects:
    - name: Order
      relationships:
        - field_mapping:
            buyer_id: id
          name: buyer
          remote_table:
            name: users
            schema: public
          source: default
          type: object
  scalars:
    - name: Money
";

const SDL: &str = "\
type Mutation {
  \"\"\"Place an order\"\"\"
  place_order(
    order: OrderIn!
  ): Order
}

type Query {
  rates: [Float!]
}

input OrderIn {
  sku: String!
  n: Int
}

type Order {
  id: uuid!
  buyer_id: Int
  kind: Kind
}

\"\"\"An amount\"\"\"
scalar Money

enum Kind {
  SMALL
  LARGE
}

";

const FILES: [(&str, &str); 2] = [("version.yaml", "version: 3\n"), ("databases/databases.yaml", "[]\n")];

fn folder(name: &str, yaml: &str, sdl: Option<&str>) -> Folder {
    let folder = Folder::new(&format!("actions-{name}"), &FILES);
    folder.write(Path::new("actions.yaml"), yaml);
    if let Some(sdl) = sdl {
        folder.write(Path::new("actions.graphql"), sdl);
    }
    folder
}

fn load(name: &str, yaml: &str, sdl: Option<&str>) -> Loaded {
    folder(name, yaml, sdl).load().expect("the rest is read")
}

/// Places below the folder, and reasons, of what is left out.
fn left_out(loaded: &Loaded) -> Vec<String> {
    let shown = |place: &str| place.rsplit('/').next().unwrap_or_default().to_owned();
    loaded.left_out.iter().map(|it| format!("{}: {}", shown(&it.place), it.reason)).collect()
}

#[test]
fn a_folder_has_types_in_sdl_and_the_rest_in_yaml() {
    let loaded = load("whole", YAML, Some(SDL));
    assert_eq!(left_out(&loaded), [""; 0]);
    let Metadata { actions, custom_types, .. } = loaded.document;
    let [place_order, rates] = &actions[..] else { panic!("{actions:?}") };
    let definition = &place_order.definition;
    assert_eq!(definition.output_type.to_string(), "Order");
    assert_eq!(definition.arguments[0].ty.to_string(), "OrderIn!");
    assert_eq!((definition.operation, definition.kind), (ActionOperation::Mutation, ActionKind::Synchronous));
    assert_eq!(rates.definition.operation, ActionOperation::Query);
    assert_eq!(rates.definition.output_type.to_string(), "[Float!]");
    assert_eq!(custom_types.objects[0].relationships[0].name, "buyer");
    assert_eq!(custom_types.objects[0].fields.len(), 3);
    assert_eq!(custom_types.scalars[0].description.as_deref(), Some("An amount"));
    assert_eq!(custom_types.enums[0].values[1].value, "LARGE");
}

#[test]
fn a_folder_is_written_as_it_was() {
    let document = load("again", YAML, Some(SDL)).document;
    let files = Export::of(&document, &Aside::default()).expect("it is written").folder();
    let text = |name: &str| files.iter().find(|it| it.0 == Path::new(name)).map(|it| it.1.as_str());
    assert_eq!(text("actions.yaml"), Some(YAML));
    assert_eq!(text("actions.graphql"), Some(SDL));
}

#[test]
fn defaults_of_sdl_are_dropped_and_extensions_are_read() {
    let yaml = "actions:\n- {name: a, definition: {handler: http://h}}\n- {name: b, definition: {kind: asynchronous, handler: http://h}}\n";
    let sdl = "extend type Query { \"of sdl\" a(n: Int = 1): Int }\nextend type Mutation { b: Int }";
    let loaded = load("extend", yaml, Some(sdl));
    assert_eq!(left_out(&loaded), [""; 0]);
    let actions = &loaded.document.actions;
    assert_eq!(actions[0].comment.as_deref(), Some("of sdl"));
    assert!(!actions[0].definition.is_asynchronous() && actions[1].definition.is_asynchronous());
    let written = export::json(&loaded.document).expect("it is written");
    assert!(!written.contains("default") && written.matches("\"kind\"").count() == 1, "{written}");
}

#[test]
fn descriptions_of_yaml_go_before_those_of_sdl() {
    let yaml = YAML.replace("- name: Money\n", "- name: Money\n      description: of yaml\n");
    let loaded = load("description", &yaml, Some(SDL));
    assert_eq!(loaded.document.custom_types.scalars[0].description.as_deref(), Some("of yaml"));
}

#[test]
fn without_sdl_the_yaml_says_all() {
    let yaml = "actions:\n- name: a\n  definition: {handler: http://h, output_type: Int, arguments: [{name: x, type: '[Int!]'}]}\ncustom_types:\n  scalars: [{name: Money}]\n";
    for sdl in [None, Some(" # nothing yet\n\n")] {
        let loaded = load("alone", yaml, sdl);
        assert_eq!(left_out(&loaded), [""; 0]);
        assert_eq!(loaded.document.actions[0].definition.arguments[0].ty.to_string(), "[Int!]");
        assert_eq!(loaded.document.custom_types.scalars[0].name, "Money");
    }
}

#[test]
fn types_that_no_file_has_are_told_with_the_file_that_would() {
    let yaml = "actions:\n- name: a\n  definition: {handler: http://h}\n- name: b\n  definition: {handler: http://h, output_type: Int}\n";
    for (sdl, lacks) in [(None, "is missing"), (Some("\n# later\n"), "is empty")] {
        let loaded = load("untyped", yaml, sdl);
        let [only] = &left_out(&loaded)[..] else { panic!("{:?}", loaded.left_out) };
        let expected = format!(
            "actions.yaml:2:3: Inconsistent object: in action \"a\"; key \"output_type\" not found, and the file that has the types of actions {lacks}: "
        );
        assert!(only.starts_with(&expected) && only.ends_with("/actions.graphql"), "{only}");
        assert_eq!(loaded.document.actions.len(), 1);
    }
}

#[test]
fn what_one_file_lacks_is_told_and_the_rest_is_read() {
    let check = |name: &str, yaml: &str, sdl: &str, expected: &[&str], actions: &[&str]| {
        let loaded = load(name, yaml, Some(sdl));
        assert_eq!(left_out(&loaded), expected, "{name}");
        let names: Vec<&str> = loaded.document.actions.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, actions, "{name}");
        assert_eq!(loaded.is_partial, !expected.is_empty());
    };
    check(
        "no-type",
        YAML,
        &SDL.replace("  rates: [Float!]\n", "  other: Int\n"),
        &[
            "actions.graphql:9:3: Inconsistent object: in action \"other\"; action other is not present in actions.yaml, so it has no handler",
            "actions.yaml:14:5: Inconsistent object: in action \"rates\"; action rates is not present in actions.graphql",
        ],
        &["place_order"],
    );
    check(
        "no-custom-type",
        YAML,
        &SDL.replace("scalar Money", "scalar Cash"),
        &["actions.yaml:35:7: Inconsistent object: custom type Money is not present in actions.graphql"],
        &["place_order", "rates"],
    );
    check(
        "another-action",
        &YAML.replace("rates", "x"),
        SDL,
        &[
            "actions.graphql:9:3: Inconsistent object: in action \"rates\"; action rates is not present in actions.yaml, so it has no handler",
            "actions.yaml:14:5: Inconsistent object: in action \"x\"; action x is not present in actions.graphql",
        ],
        &["place_order"],
    );
    check(
        "another-custom-type",
        &YAML.replace("Money", "x"),
        SDL,
        &["actions.yaml:35:7: Inconsistent object: custom type x is not present in actions.graphql"],
        &["place_order", "rates"],
    );
}

#[test]
fn sdl_that_actions_do_not_have_leaves_them_out() {
    for (text, message) in [
        (
            "interface A { a: Int }",
            "actions.graphql:1:1: Inconsistent object: actions.graphql: Interface types are not supported",
        ),
        (
            "type A implements B { a: Int }",
            "actions.graphql:1:1: Inconsistent object: actions.graphql: Interface types are not supported",
        ),
        (
            "union A = B",
            "actions.graphql:1:1: Inconsistent object: actions.graphql: Union types are not supported",
        ),
        (
            "schema { query: A }",
            "actions.graphql:1:1: Inconsistent object: actions.graphql: Schema definitions are not supported",
        ),
        (
            "type A { a: Int @deprecated }",
            "actions.graphql:1:17: Inconsistent object: actions.graphql: Directives are not supported",
        ),
        (
            "type A {\n  a: }",
            "actions.graphql:2:6: Inconsistent object: actions.graphql: Syntax Error: Expected Name, found \"}\".",
        ),
        (
            "extend type A { a: Int }",
            "actions.graphql:1:1: Inconsistent object: actions.graphql: Extensions of types other than Query and Mutation are not supported",
        ),
    ] {
        let loaded = load("sdl", "actions:\n- {name: a, definition: {handler: http://h}}\n", Some(text));
        let reasons = left_out(&loaded);
        assert_eq!(reasons[0], message);
        assert_eq!(reasons.len(), 2, "{reasons:?}");
        assert!(loaded.document.actions.is_empty());
    }
}

/// A document with one action that has `keys`, and the custom types `types`.
fn document(keys: &str, types: &str) -> String {
    format!(
        "version: 3\nsources: []\nactions:\n- name: a\n  definition: {{handler: http://h, output_type: Int}}\n- name: b\n  {keys}\ncustom_types: {types}\n"
    )
}

#[test]
fn wrong_and_unknown_keys_leave_out_the_action_or_all_types() {
    let check = |keys: &str, types: &str, expected: &str| {
        let folder = Folder::new("actions-parts", &[("m.yaml", &document(keys, types))]);
        let loaded = read::path(&folder.0.join("m.yaml")).expect("the rest is read");
        let reasons: Vec<&str> = loaded.left_out.iter().map(|it| it.reason.as_str()).collect();
        assert_eq!(reasons, [expected]);
        assert_eq!(loaded.document.actions[0].name, "a");
    };
    let of_b = |message: &str| format!("Inconsistent object: in action \"b\"; {message}");
    let definition = |more: &str| format!("definition: {{handler: http://h, output_type: Int, {more}}}");
    check(&definition("timeout: -1"), "{}", &of_b("timeout value cannot be negative"));
    check(
        &definition("type: subscription"),
        "{}",
        &of_b("expected mutation or query, but found subscription"),
    );
    check(&definition("kind: lazy"), "{}", &of_b("expected synchronous or asynchronous, but found lazy"));
    check(&definition("timeou: 5"), "{}", &of_b("unknown key `timeou`; did you mean `timeout`?"));
    check(&definition("headers: [{name: A}]"), "{}", &of_b("expecting value or value_from_env keys"));
    check(
        &definition("headers: [{name: A, value: a, value_from_env: B}]"),
        "{}",
        &of_b("expecting only one of value or value_from_env keys"),
    );
    check(&definition("arguments: [{name: x, type: '[Int'}]"), "{}", &of_b("not a valid GraphQL type: [Int"));
    check("definition: {output_type: Int}", "{}", &of_b("key \"handler\" not found"));
    check(
        &format!("{}\n  permissions: [{{role: admin}}]", definition("timeout: 1")),
        "{}",
        &of_b("cannot define permission for admin role"),
    );
    check(
        &definition("timeout: null"),
        "{objects: [{name: A}]}",
        "Inconsistent object: key \"fields\" not found",
    );
    check(
        &definition("timeout: null"),
        "{scalars: 7}",
        "Inconsistent object: a list is expected, and this is `7`",
    );
}

#[test]
fn a_wrong_permission_goes_alone() {
    let keys = "definition: {handler: http://h, output_type: Int}\n  permissions: [{role: user, colour: red}, {role: guest, definition: {select: {filter: {}}}}]";
    let folder = Folder::new("actions-permission", &[("m.yaml", &document(keys, "{}"))]);
    let loaded = read::path(&folder.0.join("m.yaml")).expect("the rest is read");
    assert_eq!(loaded.left_out[0].name, "action_permission user permission in b");
    let roles: Vec<&str> = loaded.document.actions[1].permissions.iter().map(|it| it.role.as_str()).collect();
    assert_eq!(roles, ["guest"]);
}
