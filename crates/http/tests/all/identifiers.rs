//! Keys of type `ID`: bodies have the JSON value that the service gave, the client gets a text, and equal texts are one key.

use crate::served_kit::engine;
use crate::wire_kit;
use crate::wire_kit::{Service, User, ask};
use weir_engine::engine::Engine;

const SDL: &str = r#"
extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @source(name: "s", http: {baseURL: "http://upstream"})
type Query {
  things: [Thing] @connect(source: "s", http: {GET: "/things"}, selection: "id kind")
  thing(id: ID): Thing @connect(source: "s", http: {POST: "/thing", body: "id: $args.id"}, selection: "id kind")
}
type Thing @connect(
    source: "s", http: {POST: "/batch", body: "ids: $batch.id all: $batch { id }"}, selection: "id name"
  ) {
  id: ID
  kind: String
  name: String
  alone: String
    @connect(source: "s", http: {POST: "/alone", body: "id: $this.id is: $this.id->eq(3) of: $this { id }"}, selection: "$.said")
  url: String @connect(source: "s", http: {GET: "/url/{$this.id}?id={$this.id}"}, selection: "$.said")
  parts: [Part] @connect(source: "s", http: {GET: "/parts"}, selection: "of: $this.id n")
}
type Part {
  of: ID
  n: Int
  more: String @connect(source: "s", http: {POST: "/more", body: "of: $this.of n: $this.n"}, selection: "$.said")
}
"#;

const THINGS: &str = r#"[{"id": 3, "kind": "1"}, {"id": "3b", "kind": "2"}, {"id": "3", "kind": "1"}, {"id": 12345678901234567890, "kind": "3"}]"#;

/// A service and an engine over it.
fn serve_things() -> (Service, Engine) {
    let service = Service::start_by(|request| {
        let body = match request.split(' ').nth(1).unwrap_or_default() {
            "/things" => THINGS,
            "/batch" => {
                r#"[{"id": 12345678901234567890, "name": "c"}, {"id": "3b", "name": "b"}, {"id": 3, "name": "a"}]"#
            }
            "/parts" => r#"[{"n": 1}]"#,
            "/thing" => r#"{"id": 3, "kind": "1"}"#,
            _ => r#"{"said": "yes"}"#,
        };
        wire_kit::answer("200 OK", "", body)
    });
    let engine = engine(SDL, &service);
    (service, engine)
}

/// Answers `query`; gives the bodies of the calls to `path`, sorted, and the answer.
async fn collect_bodies(query: &str, path: &str) -> (Vec<String>, String) {
    let (service, engine) = serve_things();
    let (answer, _) = ask(&engine, User(""), query).await;
    let ours = |it: &usize| service.head(*it).contains(&format!(" {path}"));
    let mut bodies: Vec<String> = (0..service.calls()).filter(ours).map(|it| service.body(it)).collect();
    bodies.sort_unstable();
    (bodies, answer)
}

#[tokio::test]
async fn a_batch_has_numbers_where_the_service_gave_numbers() {
    let (bodies, answer) = collect_bodies("{ things { id name } }", "/batch").await;
    let all = r#"{"id":3},{"id":"3b"},{"id":12345678901234567890}"#;
    assert_eq!(bodies, [format!(r#"{{"ids":[3,"3b",12345678901234567890],"all":[{all}]}}"#)]);
    let named = |id: &str, name: &str| format!(r#"{{"id":"{id}","name":"{name}"}}"#);
    let rows = [named("3", "a"), named("3b", "b"), named("3", "a"), named("12345678901234567890", "c")];
    assert_eq!(answer, format!(r#"{{"data":{{"things":[{}]}}}}"#, rows.join(",")));
}

#[tokio::test]
async fn a_parent_s_identifier_is_what_the_service_gave() {
    let (bodies, answer) = collect_bodies("{ things { id alone } }", "/alone").await;
    let body = |id: &str, is: bool| format!(r#"{{"id":{id},"is":{is},"of":{{"id":{id}}}}}"#);
    let mut expected = [body("3", true), body("\"3b\"", false), body("12345678901234567890", false)];
    expected.sort_unstable();
    assert_eq!(bodies, expected);
    assert!(answer.starts_with(r#"{"data":{"things":[{"id":"3","alone":"yes"},"#), "{answer}");
}

#[tokio::test]
async fn an_identifier_that_an_answer_takes_from_its_parent_stays_a_number() {
    let (bodies, answer) = collect_bodies("{ things { parts { of more } } }", "/more").await;
    let body = |id: &str| format!(r#"{{"of":{id},"n":1}}"#);
    let mut expected = [body("3"), body("\"3b\""), body("12345678901234567890")];
    expected.sort_unstable();
    assert_eq!(bodies, expected);
    assert!(answer.starts_with(r#"{"data":{"things":[{"parts":[{"of":"3","more":"yes"}]},"#), "{answer}");
}

#[tokio::test]
async fn urls_and_arguments_have_texts_as_before() {
    let (service, engine) = serve_things();
    let (answer, _) = ask(&engine, User(""), "{ things { url } }").await;
    assert!(answer.contains(r#"{"url":"yes"}"#), "{answer}");
    let urls: Vec<String> = (1..service.calls()).map(|it| service.head(it)).collect();
    assert!(urls.iter().any(|it| it.starts_with("GET /url/3?id=3 ")), "{urls:?}");
    let (bodies, answer) = collect_bodies("{ thing(id: 3) { id } }", "/thing").await;
    assert_eq!(bodies, [r#"{"id":"3"}"#]);
    assert_eq!(answer, r#"{"data":{"thing":{"id":"3"}}}"#);
}
