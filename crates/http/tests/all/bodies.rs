//! Bodies that are no JSON: what comes as text or not at all, and what is sent where an argument is not given.

use crate::served_kit::engine;
use crate::wire_kit;
use crate::wire_kit::{Service, User, ask};

const SDL: &str = r#"
extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @source(name: "s", http: {baseURL: "http://upstream"})
  @source(name: "form", http: {baseURL: "http://upstream",
    headers: [{name: "Content-Type", value: "application/x-www-form-urlencoded"}]})
type Query {
  text: String @connect(source: "s", http: {GET: "/text"}, selection: "$")
  letters: Int @connect(source: "s", http: {GET: "/text"}, selection: "$->size")
  page: Done @connect(source: "s", http: {GET: "/page"}, selection: "id done: $(true)")
  things: [Thing] @connect(source: "s", http: {GET: "/things"}, selection: "id")
}
type Mutation {
  json(input: In): Done @connect(source: "s", http: {POST: "/json", body: "$args.input"}, selection: "done: $(true)")
  member(input: In): Done
    @connect(source: "s", http: {POST: "/json", body: "input: $args.input"}, selection: "done: $(true)")
  form(input: In): Done
    @connect(source: "form", http: {POST: "/form", body: "$args.input"}, selection: "done: $(true)")
}
input In { a: Int }
type Done { id: ID done: Boolean }
type Thing @connect(source: "s", http: {GET: "/page", queryParams: "id: $batch.id"}, selection: "id name") { id: ID name: String }
"#;

fn serve(content_type: &'static str, body: &'static str) -> Service {
    Service::start_by(move |request| {
        if request.contains(" /things ") {
            wire_kit::answer("200 OK", "", r#"[{"id": 1}]"#)
        } else {
            wire_kit::answer("200 OK", &format!("content-type: {content_type}\r\n"), body)
        }
    })
}

async fn answer(content_type: &'static str, body: &'static str, query: &str) -> String {
    let service = serve(content_type, body);
    ask(&engine(SDL, &service), User(""), query).await.0
}

#[tokio::test]
async fn a_plain_text_is_a_string_in_its_charset() {
    let text = |value: &str| format!(r#"{{"data":{{"text":{value}}}}}"#);
    assert_eq!(answer("text/plain", "42", "{ text }").await, text("\"42\""));
    assert_eq!(answer("text/plain; charset=utf-8", "a\"é\n", "{ text }").await, text(r#""a\"é\n""#));
    assert_eq!(answer("text/plain", "hello", "{ letters }").await, r#"{"data":{"letters":5}}"#);
    assert_eq!(answer("application/json", "\"x\"", "{ text }").await, text("\"x\""));
    assert_eq!(answer("text/plain", "", "{ text }").await, text("null"));
}

#[tokio::test]
async fn nothing_is_taken_of_other_types_and_the_selection_maps_all_the_same() {
    let page = r#"{"data":{"page":{"id":null,"done":true}}}"#;
    assert_eq!(answer("text/html", "<html>", "{ page { id done } }").await, page);
    assert_eq!(answer("application/xml", r#"{"id": 1}"#, "{ page { id done } }").await, page);
    assert_eq!(answer("text/html", "<html>", "{ text }").await, r#"{"data":{"text":null}}"#);
    // JSON that is none is the service's failure, and so is a batch without a list.
    let broken = answer("application/json", "<html>", "{ page { done } }").await;
    assert!(broken.contains("SOURCE_ANSWER"), "{broken}");
    let batch = answer("text/html", "<html>", "{ things { name } }").await;
    assert!(batch.contains(r#""name":null"#) && batch.contains("SOURCE_UNAVAILABLE"), "{batch}");
}

/// The request of a mutation: its head and its body.
async fn record_body(mutation: &str) -> (String, String) {
    let service = serve("application/json", "{}");
    let (answer, _) =
        ask(&engine(SDL, &service), User(""), &format!("mutation {{ {mutation} {{ done }} }}")).await;
    assert!(answer.contains(r#""done":true"#), "{answer}");
    let request = service.head(0);
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    (head.to_lowercase(), body.to_owned())
}

#[tokio::test]
async fn what_is_not_given_is_an_empty_body() {
    let (head, body) = record_body("json").await;
    assert!(head.contains("content-length: 0") && !head.contains("content-type"), "{head}");
    assert_eq!(body, "");
    let (head, body) = record_body("form").await;
    assert!(head.contains("content-length: 0"), "{head}");
    assert_eq!(body, "");
    assert_eq!(record_body("form(input: null)").await.1, "");
    // A null that is given, and an object without members, are what they say.
    let (head, body) = record_body("json(input: null)").await;
    assert!(head.contains("content-type: application/json"), "{head}");
    assert_eq!(body, "null");
    assert_eq!(record_body("member").await.1, "{}");
    assert_eq!(record_body("json(input: {a: 1})").await.1, r#"{"a":1}"#);
}
