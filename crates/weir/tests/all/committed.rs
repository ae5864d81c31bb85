//! Mutations of a database that ask a service for fields of the rows they return: they are refused before anything is written.

use crate::support::{Weir, body};
use crate::upstream_kit::{Upstream, answers};
use serde_json::{Value, json};

const SDL: &str = r#"extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @source(name: "s", http: {baseURL: "http://upstream"})
type Query { brief: String @connect(source: "s", http: {GET: "/brief"}, selection: "$.word") }
extend type pet {
  note: String @connect(source: "s", http: {GET: "/notes/{$this.id}"}, selection: "$.word")
  mark: String! @connect(source: "s", http: {GET: "/marks/{$this.id}"}, selection: "$.word")
}
"#;

const MUTATIONS: [&str; 3] = [
    "mutation { update_pet(where: {id: {_eq: 1}}, _set: {name: \"Zed\"}) { returning { id ... @include(if: true) { note } } } }",
    "mutation { one: insert_pet_one(object: {id: 4, name: \"Dan\"}) { id mark } delete_pet_by_pk(id: 2) { id } }",
    "mutation { delete_pet(where: {id: {_gt: 1}}) { affected_rows returning { name ... @defer { mark } } } }",
];

fn read_state(weir: &Weir) -> Value {
    weir.query("{ pet(order_by: {id: asc}) { id name } }").json()["data"]["pet"].clone()
}

#[test]
fn a_mutation_that_needs_a_service_is_refused_whole() {
    let upstream = Upstream::start(answers("[]"));
    let weir = Weir::with_services(SDL, upstream.address, "");
    let before = read_state(&weir);
    assert!(before.as_array().is_some_and(|it| it.len() > 1), "{before}");
    for path in ["/graphql", "/v1/graphql"] {
        for mutation in MUTATIONS {
            let json = weir.post(path, &[], body(mutation).as_bytes()).json();
            let extensions = &json["errors"][0]["extensions"];
            assert_eq!(extensions["committed"], Value::Null, "{path} {mutation}: {json}");
            assert!(
                json["errors"][0]["message"].as_str().is_some_and(|it| it.contains("another source")),
                "{json}"
            );
            assert_eq!(read_state(&weir), before, "{path} {mutation}: {json}");
        }
    }
    assert_eq!(weir.query("{ pet_by_pk(id: 1) { id } }").json()["data"]["pet_by_pk"], json!({"id": 1}));
}
