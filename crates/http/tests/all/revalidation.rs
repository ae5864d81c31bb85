//! Conditions that calls of services carry, over real sockets.

use crate::wire_kit::{Service, User, answer, ask, cache};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use weir_engine::compose::Graph;
use weir_engine::engine::{Engine, Settings};
use weir_http::cache::Clock;
use weir_http::source::{Options, open};

const SDL: &str = r#"
extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @link(url: "https://weir.example/spec/v1", import: ["@cache"])
  @source(name: "s", http: {baseURL: "http://upstream"})
  @cache(source: "s", post: true)
type Query {
  a: Text @connect(source: "s", http: {GET: "/a"}, selection: "text")
  own: Text @connect(source: "s", http: {GET: "/own", headers: [{name: "If-None-Match", value: "\"mine\""}]}, selection: "text")
  post: Text @connect(source: "s", http: {POST: "/post", body: "$({q: 'a'})"}, selection: "text")
}
type Mutation { change: Text @connect(source: "s", http: {GET: "/a"}, selection: "text") }
type Text { text: String }
"#;

fn serve(service: &Service, clock: &Clock) -> Engine {
    let none = |_: &str| None;
    let options = Options {
        name: "services",
        cache: cache(clock),
        config: &BTreeMap::new(),
        env: &none,
        env_allowed: None,
        services: &BTreeMap::new(),
        ca: None,
        embedding: None,
    };
    let text = SDL.replace("upstream", &service.address.to_string());
    let source = open(&text, "services.graphql", &options).unwrap();
    let graph = Graph::compose(vec![Arc::new(source)], &[]).unwrap_or_else(|wrong| panic!("{wrong:?}"));
    Engine::new(graph, Settings::STANDARD)
}

#[tokio::test]
async fn a_redirect_takes_no_condition_along() {
    // Each release has an entity tag of its own, which is the same text; after the first the address leads to the second.
    let release = AtomicUsize::new(1);
    let service = Service::start_by(move |head| {
        let number = release.load(Ordering::Relaxed);
        if head.starts_with("GET /a ") {
            return answer("302 Found", &format!("location: /release/{number}\r\n"), "");
        }
        release.store(2, Ordering::Relaxed);
        if head.contains("if-none-match: \"1\"") {
            return answer("304 Not Modified", "cache-control: max-age=5\r\n", "");
        }
        let text = if head.contains("/release/1") { r#"{"text": "one"}"# } else { r#"{"text": "two"}"# };
        answer("200 OK", "cache-control: max-age=5\r\netag: \"1\"\r\n", text)
    });
    let clock = Clock::new_simulated();
    let engine = serve(&service, &clock);
    let get = async || ask(&engine, User(""), "{ a { text } }").await.0;
    assert_eq!(get().await, r#"{"data":{"a":{"text":"one"}}}"#);
    clock.advance_ms(5000);
    assert_eq!(get().await, r#"{"data":{"a":{"text":"two"}}}"#);
    assert_eq!(service.calls(), 4);
    let conditions: Vec<bool> = (0..4).map(|at| service.head(at).contains("if-none-match")).collect();
    assert_eq!(conditions, [false, false, true, false]);
}

#[tokio::test]
async fn a_get_is_made_on_condition_once_its_answer_is_over_and_nothing_else_is() {
    let service = Service::start_by(|head| {
        if head.contains("if-none-match: \"v1\"") {
            answer("304 Not Modified", "cache-control: max-age=5\r\n", "")
        } else {
            answer("200 OK", "cache-control: max-age=5\r\netag: \"v1\"\r\n", r#"{"text": "well"}"#)
        }
    });
    let clock = Clock::new_simulated();
    let engine = serve(&service, &clock);
    let get = async |query: &str| ask(&engine, User(""), query).await.0;
    let whole = r#"{"data":{"a":{"text":"well"}}}"#;
    assert_eq!(get("{ a { text } }").await, whole);
    assert_eq!(get("mutation { change { text } }").await, whole.replace("\"a\"", "\"change\""));
    for _ in 0..2 {
        clock.advance_ms(5000);
        assert_eq!(get("{ a { text } }").await, whole);
        assert_eq!(get("{ a { text } }").await, whole);
    }
    assert_eq!(service.calls(), 4);
    let conditions: Vec<bool> = (0..4).map(|at| service.head(at).contains("if-none-match")).collect();
    // The mutation made the first answer invalid, so the second is fetched whole.
    assert_eq!(conditions, [false, false, false, true]);
    for field in ["own", "post"] {
        for _ in 0..2 {
            get(&format!("{{ {field} {{ text }} }}")).await;
            clock.advance_ms(5000);
        }
    }
    for at in 4..service.calls() {
        assert!(!service.head(at).contains("\"v1\""), "{}", service.head(at));
    }
}
