//! Headers of services' answers that reach the client: which, of whose call, in which order.

use crate::served_kit::engine;
use crate::wire_kit::{Service, answer};
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::engine::{Body, Engine, Request};
use weir_engine::source::{AnswerNotes, Headers};

const SDL: &str = r#"
extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @link(url: "https://weir.example/spec/v1", import: ["@cache", "@policy"])
  @source(name: "s", http: {baseURL: "http://upstream"})
  @source(name: "silent", http: {baseURL: "http://upstream"})
  @policy(source: "s", answerHeaders: [
    {name: "X-Each"}, {name: "X-First", merge: "first"}, {name: "X-Last", merge: "last"}, {name: "X-All", merge: "join"}, {name: "Set-Cookie"}
  ])
type Query {
  a: Text @connect(source: "s", http: {GET: "/a"}, selection: "text")
  b: Text @connect(source: "s", http: {GET: "/b"}, selection: "text")
  kept: Text @connect(source: "s", http: {GET: "/kept"}, selection: "text")
  silent: Text @connect(source: "silent", http: {GET: "/a"}, selection: "text")
  items: [Item] @connect(source: "silent", http: {GET: "/items"}, selection: "id")
}
type Mutation { change: Text @connect(source: "s", http: {POST: "/change"}, selection: "text") }
type Text { text: String }
type Item @connect(source: "s", http: {GET: "/names", queryParams: "id: $batch.id"}, batch: {maxSize: 9}, selection: "id name") { id: ID! name: String }
"#;

fn service() -> Service {
    Service::start_by(|head| {
        let path = head.split(' ').nth(1).unwrap_or_default();
        if path.starts_with("/items") {
            return answer("200 OK", "", r#"[{"id": 1}, {"id": 2}]"#);
        }
        if path.starts_with("/names") {
            return answer(
                "200 OK",
                "x-each: names\r\n",
                r#"[{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]"#,
            );
        }
        let name = path.trim_start_matches('/');
        let lines: String = ["each", "first", "last", "all", "secret"]
            .iter()
            .map(|it| format!("x-{it}: {name}\r\n"))
            .collect();
        let more = match name {
            "kept" => "cache-control: max-age=60\r\n",
            _ => "set-cookie: s=1; Domain=internal; Path=/\r\n",
        };
        answer("200 OK", &format!("{lines}{more}"), r#"{"text": "well"}"#)
    })
}

/// A request whose notes are read.
#[derive(Default)]
struct Noted(AnswerNotes);

impl Headers for Noted {
    fn each<'h>(&'h self, _: &str, _: &mut dyn FnMut(&'h [u8])) {}

    fn notes(&self) -> Option<&AnswerNotes> {
        Some(&self.0)
    }
}

/// The headers that come with the answer to `query`.
async fn ask(engine: &Engine, query: &str) -> Vec<String> {
    let noted = Noted::default();
    let request =
        Request { headers: &noted, ..Request::new(query, Instant::now() + Duration::from_secs(30)) };
    let response = engine.execute(request, &engine.caller(&Identity::admin())).await;
    let body = match response.body {
        Body::Whole(bytes) => bytes,
        Body::Shared(bytes) => bytes.to_vec(),
        Body::Stream { .. } | Body::Increments { .. } => panic!("nothing here is long"),
    };
    let text = String::from_utf8(body).unwrap();
    assert!(!text.contains("errors"), "{text}");
    let headers = noted.0.take_headers().into_iter();
    headers.map(|(name, value)| format!("{name}: {}", String::from_utf8(value).unwrap())).collect()
}

#[tokio::test]
async fn headers_reach_the_client_as_the_rules_say_and_no_others() {
    let service = service();
    let engine = engine(SDL, &service);
    let both = ask(&engine, "{ a { text } b { text } }").await;
    let cookie = "set-cookie: s=1; Path=/";
    let expected = ["x-each: a", "x-first: a", "x-last: b", "x-all: a, b", cookie, "x-each: b", cookie]
        .map(str::to_owned);
    assert_eq!(both, expected);
    let turned = ask(&engine, "{ b { text } a { text } }").await;
    assert!(turned.contains(&"x-all: b, a".to_owned()), "{turned:?}");
    assert_eq!(ask(&engine, "{ silent { text } }").await, [""; 0]);
    assert!(ask(&engine, "mutation { change { text } }").await.contains(&"x-each: change".to_owned()));
    assert_eq!(ask(&engine, "{ items { name } }").await, ["x-each: names"]);
}

#[tokio::test]
async fn an_answer_that_others_asked_for_brings_no_headers() {
    let service = service();
    let engine = engine(SDL, &service);
    let first = ask(&engine, "{ kept { text } }").await;
    assert_eq!(first, ["x-each: kept", "x-first: kept", "x-last: kept", "x-all: kept"]);
    assert_eq!(ask(&engine, "{ kept { text } }").await, [""; 0], "it comes from the cache");
    assert_eq!(service.calls(), 1);
    // Two fields of one request share a call, and its headers come once.
    let twice = ask(&engine, "{ a { text } c: a { text } }").await;
    assert_eq!(twice.iter().filter(|it| it.starts_with("set-cookie")).count(), 1, "{twice:?}");
}

#[tokio::test]
async fn each_of_several_callers_gets_a_cookie_of_its_own() {
    let counted =
        Service::start(|nth| answer("200 OK", &format!("set-cookie: s={nth}\r\n"), r#"{"text": "well"}"#));
    let engine = engine(SDL, &counted);
    let all = (0..8).map(|_| ask(&engine, "{ a { text } }"));
    let mut all: Vec<String> = futures_util::future::join_all(all).await.into_iter().flatten().collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 8, "no call is shared: {all:?}");
}
