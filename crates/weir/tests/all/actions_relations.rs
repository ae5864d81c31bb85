//! Relationships of actions' types to tables: rows that the caller may see, by values of the handler's answer.

use crate::actions::{SECRET, serve_project};
use crate::support::{Weir, body};
use crate::upstream_kit::{Upstream, answers};
use serde_json::json;

const SDL: &str = "
type Mutation { place_order: Order }
type Query { orders: [Order!]! }
type Order { id: uuid! buyer_id: Int lines: [Line!] }
type Line { pet_id: ID }
type Unused { id: Int }
";

const YAML: &str = "
actions:
- {name: place_order, definition: {kind: synchronous, handler: '{{SHOP_URL}}/order'}, permissions: [{role: user}, {role: guest}]}
- {name: orders, definition: {kind: '', handler: '{{SHOP_URL}}/orders'}, permissions: [{role: user}, {role: guest}]}
custom_types:
  objects:
  - name: Order
    relationships:
    - {name: buyer, type: object, source: default, remote_table: {schema: public, name: pet}, field_mapping: {buyer_id: id}}
    - {name: pets, type: array, remote_table: pet, field_mapping: {buyer_id: id}}
  - name: Line
    relationships: [{name: pet, type: object, remote_table: pet, field_mapping: {pet_id: id}}]
  - name: Unused
    relationships: [{name: pet, type: object, remote_table: pet, field_mapping: {id: id}}]
";

fn serve(text: &str) -> (Weir, Upstream) {
    let each = ["/order", "/orders"].map(|path| format!("- {{ask: POST {path}, text: {}}}\n", json!(text)));
    let upstream = Upstream::start(answers(&each.concat()));
    (serve_project(&format!("http://{}", upstream.address), YAML, SDL, &[]), upstream)
}

fn ask(weir: &Weir, role: &str, query: &str) -> String {
    let headers = [SECRET, ("x-hasura-role", role)];
    weir.post("/v1/graphql", &headers, body(query).as_bytes()).text().to_owned()
}

#[test]
fn objects_of_answers_have_rows_that_the_caller_may_see() {
    let text = r#"[{"id":"a","buyer_id":1},{"id":"b","buyer_id":3},{"id":"c","buyer_id":null},{"id":"d"},{"id":"e","buyer_id":9}]"#;
    let (weir, _upstream) = serve(text);
    // The mapped field is not selected.
    assert_eq!(
        ask(&weir, "admin", "{ orders { id buyer { name } } }"),
        r#"{"data":{"orders":[{"id":"a","buyer":{"name":"Ada"}},{"id":"b","buyer":{"name":"Cyd"}},{"id":"c","buyer":null},{"id":"d","buyer":null},{"id":"e","buyer":null}]}}"#
    );
    // A user does not see the third row.
    assert_eq!(
        ask(&weir, "user", "{ orders { buyer_id buyer { id } } }"),
        r#"{"data":{"orders":[{"buyer_id":1,"buyer":{"id":1}},{"buyer_id":3,"buyer":null},{"buyer_id":null,"buyer":null},{"buyer_id":null,"buyer":null},{"buyer_id":9,"buyer":null}]}}"#
    );
    // A guest has the action and not the table.
    assert!(
        ask(&weir, "guest", "{ orders { buyer { id } } }")
            .contains("field 'buyer' not found in type: 'Order'")
    );
    assert!(!ask(&weir, "guest", "{ __type(name: \"Order\") { fields { name } } }").contains("buyer\""));
}

#[test]
fn lists_of_rows_take_the_arguments_of_any_relationship() {
    let (weir, _upstream) = serve(r#"[{"id":"a","buyer_id":1},{"id":"b","buyer_id":2},{"id":"c"}]"#);
    assert_eq!(
        ask(
            &weir,
            "user",
            "{ orders { pets(where: {name: {_neq: \"Bob\"}}, order_by: {id: desc}, limit: 5, offset: 0) { id name } } }"
        ),
        r#"{"data":{"orders":[{"pets":[{"id":1,"name":"Ada"}]},{"pets":[]},{"pets":null}]}}"#
    );
}

#[test]
fn mutations_and_inner_objects_have_relationships_too() {
    let text = r#"{"id":"a","buyer_id":2,"lines":[{"pet_id":"1"},{"pet_id":null},{"pet_id":"2"}]}"#;
    let (weir, _upstream) = serve(text);
    assert_eq!(
        ask(&weir, "user", "mutation { place_order { buyer { name } lines { pet { name } } } }"),
        r#"{"data":{"place_order":{"buyer":{"name":"Bob"},"lines":[{"pet":{"name":"Ada"}},{"pet":null},{"pet":{"name":"Bob"}}]}}}"#
    );
}
