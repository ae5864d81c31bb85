//! Literals with variables inside, as arguments of services: what is kept is kept by what is filled in, and a variable that was not sent
//! leaves the default of its place.

use crate::served_kit::engine;
use crate::wire_kit;
use crate::wire_kit::Service;
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::engine::{Body, Engine, Request};
use weir_engine::source::Protocol;
use weir_language::json::Json;

const SDL: &str = r#"
extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @link(url: "https://weir.example/spec/v1", import: ["@cache"])
  @source(name: "s", http: {baseURL: "http://upstream"})
  @cache(source: "s", default: 3600)
scalar JSON
type Query {
  find(by: JSON!): String
    @connect(source: "s", http: {GET: "/find/{$args.by.colour}/{$args.by.sizes->first}"}, selection: "$.said")
  list(page: Page!): String
    @connect(source: "s", http: {POST: "/list", body: "$args.page"}, selection: "$.said")
}
input Page { size: Int! = 3  order: Order = {by: "name"}  after: String }
input Order { by: String = "date" }
"#;

const QUERY: &str = "query ($colour: String, $size: Int) { find(by: {colour: $colour, sizes: [$size, 1]}) }";

async fn ask(engine: &Engine, protocol: Protocol, query: &str, variables: &str) -> String {
    let json = Json::parse(variables.as_bytes(), 100).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let request = Request { variables: Some(json.root()), protocol, ..Request::new(query, deadline) };
    match engine.execute(request, &engine.caller(&Identity::admin())).await.body {
        Body::Whole(bytes) => String::from_utf8(bytes).unwrap(),
        Body::Shared(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
        Body::Stream { .. } | Body::Increments { .. } => panic!("services do not stream"),
    }
}

#[tokio::test]
async fn a_service_gets_what_is_filled_in_and_equal_values_are_asked_for_once() {
    let service = Service::start(|nth| wire_kit::answer("200 OK", "", &format!(r#"{{"said":"{nth}"}}"#)));
    let engine = engine(SDL, &service);
    for protocol in [Protocol::GraphqlOverHttp, Protocol::Hasura] {
        for (colour, said) in [("red", 0), ("blue", 1), ("red", 0)] {
            let variables = format!(r#"{{"colour": "{colour}", "size": 2}}"#);
            let expected = format!(r#"{{"data":{{"find":"{said}"}}}}"#);
            assert_eq!(ask(&engine, protocol, QUERY, &variables).await, expected);
        }
        let literal = r#"{ find(by: {colour: "blue", sizes: [2, 1]}) }"#;
        assert_eq!(ask(&engine, protocol, literal, "{}").await, r#"{"data":{"find":"1"}}"#);
    }
    assert_eq!(service.calls(), 2);
    assert!(service.head(0).starts_with("GET /find/red/2 "), "{}", service.head(0));
    assert!(service.head(1).starts_with("GET /find/blue/2 "), "{}", service.head(1));
}

#[tokio::test]
async fn variables_of_literals_are_checked_like_any() {
    let service = Service::start(|_| wire_kit::answer("200 OK", "", "{}"));
    let engine = engine(SDL, &service);
    let found = ask(&engine, Protocol::GraphqlOverHttp, QUERY, r#"{"size": "x"}"#).await;
    assert!(found.contains(r#"Variable \"$size\" got invalid value \"x\""#), "{found}");
    let unknown = "query ($size: Int) { find(by: {sizes: [$size, $none]}) }";
    let found = ask(&engine, Protocol::GraphqlOverHttp, unknown, "{}").await;
    assert!(found.contains(r#"Variable \"$none\" is not defined."#), "{found}");
    assert_eq!(service.calls(), 0);
}

#[tokio::test]
async fn a_body_has_the_defaults_of_fields_whose_variables_were_not_sent() {
    let service = Service::start(|_| wire_kit::answer("200 OK", "", r#"{"said":"ok"}"#));
    let engine = engine(SDL, &service);
    let query = "query ($size: Int, $by: String, $after: String) { \
                 list(page: {after: $after, order: {by: $by}, size: $size}) }";
    for (variables, body) in [
        ("{}", r#"{"size":3,"order":{"by":"date"}}"#),
        (r#"{"size": 7, "by": null, "after": "x"}"#, r#"{"size":7,"order":{"by":null},"after":"x"}"#),
    ] {
        let calls = service.calls();
        let found = ask(&engine, Protocol::GraphqlOverHttp, query, variables).await;
        assert_eq!(found, r#"{"data":{"list":"ok"}}"#);
        assert_eq!(service.body(calls), body);
    }
}
