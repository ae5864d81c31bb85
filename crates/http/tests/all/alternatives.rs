//! Keys that are parts of objects and lists, several connectors of one field or type, and fields that nothing brings where they stand.

use crate::served_kit::engine;
use crate::wire_kit;
use crate::wire_kit::{Service, User, ask};
use serde_json::{Value, json};

const LINKS: &str = r#"
extend schema
  @link(url: "https://specs.apollo.dev/federation/v2.11", import: ["@key", "@external", "@requires"])
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @source(name: "s", http: {baseURL: "http://upstream"})
"#;

/// Answers `query` over the services of `sdl`, which answer by path; gives the answer, and what was asked, sorted.
async fn play(sdl: &str, query: &str, answers: &'static [(&str, &str)]) -> (Value, Vec<String>) {
    let service = Service::start_by(move |request| {
        let path = request.split(' ').nth(1).unwrap_or_default();
        let body = answers.iter().find(|it| it.0 == path).map(|it| it.1);
        match body {
            Some(body) => wire_kit::answer("200 OK", "", body),
            None => wire_kit::answer("404 Not Found", "", "{}"),
        }
    });
    let engine = engine(&format!("{LINKS}{sdl}"), &service);
    let (answer, _) = ask(&engine, User(""), query).await;
    let line = |request: String| {
        let target = request.split(' ').nth(1).unwrap_or_default().to_owned();
        format!("{target} {}", request.split_once("\r\n\r\n").map_or("", |it| it.1)).trim_end().to_owned()
    };
    let mut asked: Vec<String> = (0..service.calls()).map(|it| line(service.head(it))).collect();
    asked.sort();
    (serde_json::from_str(&answer).unwrap(), asked)
}

#[tokio::test]
async fn a_key_may_be_a_part_of_an_object_or_a_list() {
    let sdl = r#"
type Query { places: [Place] @connect(source: "s", http: {GET: "/places"}, selection: "id location: at { lat: y lng: x } ids parts { id }") }
type Place { id: ID location: Location ids: [ID] parts: [Part]
  weather: String @connect(source: "s", http: {GET: "/weather/{$this.location.lat}/{$this.location.lng}"}, selection: "$.is")
  first: String @connect(source: "s", http: {GET: "/first/{$this.ids->first}"}, selection: "$.is")
  all: String @connect(source: "s", http: {POST: "/all", body: "ids: $this.ids of: $this { id location { lat } } parts: $this.parts.id"}, selection: "$.is")
  params: String @connect(source: "s", http: {GET: "/params", queryParams: "id: $this.ids"}, selection: "$.is") }
type Location { lat: Float lng: Float }
type Part { id: Int }
"#;
    const PLACES: &str = r#"[{"id": 1, "at": {"y": 59.5, "x": 10}, "ids": [7, "b"], "parts": [{"id": 3}, {"id": 4}]},
        {"id": 2, "at": null, "ids": null, "parts": null}]"#;
    let answers: &[(&str, &str)] = &[
        ("/places", PLACES),
        ("/weather/59.5/10", r#"{"is": "fair"}"#),
        ("/first/7", r#"{"is": "seven"}"#),
        ("/all", r#"{"is": "all"}"#),
        ("/params?id=7&id=b", r#"{"is": "params"}"#),
    ];
    let (answer, asked) =
        play(sdl, "{ places { id weather first all params location { lng } } }", answers).await;
    assert_eq!(
        answer,
        json!({"data": {"places": [
            {"id": "1", "weather": "fair", "first": "seven", "all": "all", "params": "params", "location": {"lng": 10}},
            {"id": "2", "weather": null, "first": null, "all": null, "params": null, "location": null},
        ]}})
    );
    let body = r#"/all {"ids":[7,"b"],"of":{"id":1,"location":{"lat":59.5}},"parts":[3,4]}"#;
    assert_eq!(asked, [body, "/first/7", "/params?id=7&id=b", "/places", "/weather/59.5/10"]);
}

#[tokio::test]
async fn of_several_connectors_of_a_type_the_one_is_asked_whose_keys_are_at_hand() {
    let sdl = r#"
type Query {
  a: [User] @connect(source: "s", http: {GET: "/a"}, selection: "id")
  b: [User] @connect(source: "s", http: {GET: "/b"}, selection: "name")
}
type User @connect(source: "s", http: {GET: "/by-id/{$this.id}"}, selection: "name age")
    @connect(source: "s", http: {GET: "/by-name/{$this.name}"}, selection: "id age mail") {
  id: ID name: String age: Int mail: String }
"#;
    let answers: &[(&str, &str)] = &[
        ("/a", r#"[{"id": 1}]"#),
        ("/b", r#"[{"name": "bob"}]"#),
        ("/by-id/1", r#"{"name": "ann", "age": 30}"#),
        ("/by-name/bob", r#"{"id": 2, "age": 40, "mail": "bob@b"}"#),
        ("/by-name/ann", r#"{"id": 1, "age": 31, "mail": "ann@a"}"#),
    ];
    let (answer, asked) = play(sdl, "{ a { id age } b { name age mail } }", answers).await;
    assert_eq!(
        answer,
        json!({"data": {"a": [{"id": "1", "age": 30}], "b": [{"name": "bob", "age": 40, "mail": "bob@b"}]}})
    );
    assert_eq!(asked, ["/a", "/b", "/by-id/1", "/by-name/bob"]);
    // A field that the first does not give comes by the other, whose key the first brings.
    let (answer, asked) = play(sdl, "{ a { mail } }", answers).await;
    assert_eq!(answer, json!({"data": {"a": [{"mail": "ann@a"}]}}));
    assert_eq!(asked, ["/a", "/by-id/1", "/by-name/ann"]);
}

#[tokio::test]
async fn of_several_connectors_of_a_field_the_first_is_asked_whose_keys_are_at_hand() {
    let sdl = r#"
type Query {
  a: A @connect(source: "s", http: {GET: "/a"}, selection: "id")
  b: A @connect(source: "s", http: {GET: "/b"}, selection: "name")
  more: More @connect(source: "s", http: {GET: "/less"}, selection: "x") @connect(source: "s", http: {GET: "/more"}, selection: "x y")
}
type A { id: ID name: String
  of: String @connect(source: "s", http: {GET: "/id/{$this.id}"}, selection: "$.is") @connect(source: "s", http: {GET: "/name/{$this.name}"}, selection: "$.is")
  once: String @connect(source: "s", http: {GET: "/once"}, selection: "$.is") }
type More { x: Int y: Int }
"#;
    let answers: &[(&str, &str)] = &[
        ("/a", r#"{"id": 1}"#),
        ("/b", r#"{"name": "n"}"#),
        ("/id/1", r#"{"is": "id"}"#),
        ("/name/n", r#"{"is": "name"}"#),
        ("/once", r#"{"is": "once"}"#),
        ("/more", r#"{"x": 1, "y": 2}"#),
    ];
    let (answer, asked) = play(sdl, "{ a { of name } b { of id once } more { x y } }", answers).await;
    assert_eq!(
        answer,
        json!({"data": {"a": {"of": "id", "name": null}, "b": {"of": "name", "id": null, "once": "once"}, "more": {"x": 1, "y": 2}}})
    );
    assert_eq!(asked, ["/a", "/b", "/id/1", "/more", "/name/n", "/once"]);
}

#[tokio::test]
async fn a_field_of_another_graph_is_null_and_so_is_what_needs_it() {
    let sdl = r#"
type Query { product(id: ID!): Product @connect(source: "s", http: {GET: "/products/{$args.id}"}, entity: true, selection: "id name") }
extend type Product @key(fields: "id") { id: ID! name: String weight: Float @external
  shipping: Float @requires(fields: "weight") @connect(source: "s", http: {GET: "/shipping/{$this.weight}"}, selection: "$.cost") }
extend type Product { stock: Int @connect(source: "s", http: {GET: "/stock/{$this.id}"}, selection: "$.left") }
"#;
    let answers: &[(&str, &str)] =
        &[("/products/1", r#"{"id": 1, "name": "a"}"#), ("/stock/1", r#"{"left": 3}"#)];
    let (answer, asked) = play(sdl, "{ product(id: 1) { name weight shipping stock } }", answers).await;
    assert_eq!(
        answer,
        json!({"data": {"product": {"name": "a", "weight": null, "shipping": null, "stock": 3}}})
    );
    assert_eq!(asked, ["/products/1", "/stock/1"]);
}

#[tokio::test]
async fn an_entity_may_be_found_by_an_object() {
    let sdl = r#"
type Query {
  seat(at: At!): Seat @connect(source: "s", http: {GET: "/seats/{$args.at.row}/{$args.at.no}"}, entity: true, selection: "at { row no } price")
  seats: [Seat] @connect(source: "s", http: {GET: "/seats"}, selection: "at: { row: r no: n }")
}
input At { row: String no: Int }
type Place { row: String no: Int }
type Seat { at: Place price: Int }
"#;
    let answers: &[(&str, &str)] = &[
        ("/seats", r#"[{"r": "a", "n": 1}]"#),
        ("/seats/a/1", r#"{"at": {"row": "a", "no": 1}, "price": 5}"#),
    ];
    let query = r#"{ seats { price at { row } } seat(at: {row: "a", no: 1}) { price } }"#;
    let (answer, asked) = play(sdl, query, answers).await;
    assert_eq!(answer, json!({"data": {"seats": [{"price": 5, "at": {"row": "a"}}], "seat": {"price": 5}}}));
    assert_eq!(asked, ["/seats", "/seats/a/1"]);
}
