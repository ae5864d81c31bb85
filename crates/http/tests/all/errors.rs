//! Errors of services as clients get them: the mapping of the source and that of the connector.

use crate::served_kit::engine;
use crate::wire_kit;
use crate::wire_kit::{Service, User, ask};
use serde_json::{Value, json};

const SDL: &str = r#"
extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @source(name: "s", http: {baseURL: "http://upstream"},
    errors: {message: "$.why", extensions: "code: $.code of: $('source')"})
type Query {
  plain: Int @connect(source: "s", http: {GET: "/plain"}, selection: "$")
  both: Int @connect(source: "s", http: {GET: "/both"}, selection: "$", errors: {extensions: "status: $status of: $('field')"})
}
"#;

#[tokio::test]
async fn extensions_of_a_source_and_of_a_connector_are_put_together() {
    let service =
        Service::start(|_| wire_kit::answer("400 Bad Request", "", r#"{"why": "no", "code": "SHUT"}"#));
    let engine = engine(SDL, &service);
    for (field, extensions) in [
        ("plain", json!({"code": "SHUT", "of": "source"})),
        ("both", json!({"code": "SHUT", "of": "field", "status": 400})),
    ] {
        let (answer, _) = ask(&engine, User(""), &format!("{{ {field} }}")).await;
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["errors"][0]["message"], "no", "{answer}");
        assert_eq!(answer["errors"][0]["extensions"], extensions, "{answer}");
    }
}
