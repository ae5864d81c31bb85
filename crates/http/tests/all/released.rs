//! Forms of connect v0.4 as released, and forms of all versions that other servers take.

use crate::served_kit::engine_with;
use crate::wire_kit;
use crate::wire_kit::{Service, User, ask};
use serde_json::{Value, json};

/// Answers `query` over services that answer by path, with settings; gives the answer, and the paths and bodies that were asked, sorted.
async fn play_with(
    version: &str,
    sdl: &str,
    query: &str,
    answers: &'static [(&str, &str)],
    config: &str,
    shown: &[(&str, &str)],
) -> (Value, Vec<String>) {
    let service = Service::start_by(move |request| {
        let path = request.split(' ').nth(1).unwrap_or_default();
        match answers.iter().find(|it| it.0 == path) {
            Some((_, body)) => wire_kit::answer("200 OK", "", body),
            None => wire_kit::answer("404 Not Found", "", "{}"),
        }
    });
    let links = format!(
        r#"extend schema
  @link(url: "https://specs.apollo.dev/federation/v2.13", import: ["@inaccessible"])
  @link(url: "https://specs.apollo.dev/connect/{version}", import: ["@source", "@connect"])
  @source(name: "s", http: {{baseURL: "http://upstream"}})
"#
    );
    let engine = engine_with(&format!("{links}{sdl}"), &service, config, shown);
    let (answer, _) = ask(&engine, User("token"), query).await;
    let line = |request: String| {
        let target = request.split(' ').nth(1).unwrap_or_default().to_owned();
        format!("{target} {}", request.split_once("\r\n\r\n").map_or("", |it| it.1)).trim_end().to_owned()
    };
    let mut asked: Vec<String> = (0..service.calls()).map(|it| line(service.head(it))).collect();
    asked.sort();
    (serde_json::from_str(&answer).unwrap(), asked)
}

async fn play(
    version: &str,
    sdl: &str,
    query: &str,
    answers: &'static [(&str, &str)],
) -> (Value, Vec<String>) {
    play_with(version, sdl, query, answers, "{}", &[]).await
}

#[tokio::test]
async fn a_connector_without_http_maps_variables_and_makes_no_call() {
    let sdl = r#"
type Query {
  hello(name: String): Greeting @connect(selection: "text: $args.name->echo(['Hello', @]->joinNotNull(' ')) kind: 'plain' caller: $request.headers.authorization->first")
  two: [Greeting] @connect(source: "s", selection: "[{ text: 'a', kind: 'b' }, { text: 'c', kind: null }]")
  ships: Ships @connect(selection: "{}")
  ship: Ship @connect(source: "s", http: {GET: "/ship"}, selection: "id name")
}
type Mutation { set(n: Int!): Result @connect(selection: "n: $args.n") }
type Result { n: Int }
type Greeting { text: String kind: String caller: String }
type Ships { all: [Ship] @connect(source: "s", http: {GET: "/ships"}, selection: "id") }
type Ship @connect(selection: "id: $this.id label: $this.id->toString") {
  id: Int name: String label: String
  port: Port @connect(selection: "code: $this.name town: 'Oslo'") }
type Port { code: String town: String }
"#;
    let answers: &[(&str, &str)] =
        &[("/ship", r#"{"id": 7, "name": "Alk"}"#), ("/ships", r#"[{"id": 1}, {"id": 2}]"#)];
    let query = r#"{ hello(name: "Ida") { text kind caller } two { text kind } ships { all { id label } } ship { label port { code town } } }"#;
    let (answer, asked) = play("v0.4", sdl, query, answers).await;
    assert_eq!(
        answer,
        json!({"data": {
            "hello": {"text": "Hello Ida", "kind": "plain", "caller": "token"},
            "two": [{"text": "a", "kind": "b"}, {"text": "c", "kind": null}],
            "ships": {"all": [{"id": 1, "label": "1"}, {"id": 2, "label": "2"}]},
            "ship": {"label": "7", "port": {"code": "Alk", "town": "Oslo"}},
        }})
    );
    assert_eq!(asked, ["/ship", "/ships"]);
    let (answer, asked) =
        play("v0.5", sdl, "mutation { a: set(n: 1) { n } b: set(n: 2) { n } }", answers).await;
    assert_eq!(answer, json!({"data": {"a": {"n": 1}, "b": {"n": 2}}}));
    assert_eq!(asked, [""; 0]);
}

#[tokio::test]
async fn selections_of_the_release_are_values_and_values_are_selections() {
    let sdl = r#"
type Query {
  a(n: Int): A @connect(source: "s", http: {POST: "/a", body: "{ n: $args.n, tags: ['x', true], deep: { ...$args } }"},
    selection: "id: $.'@id', name: name ?? 'none', kind: 'fixed', ok: true, at: { x, y: 2 }")
  texts: [String] @connect(source: "s", http: {GET: "/texts", queryParams: "{ 'a-b': 'c', n: 1 }"}, selection: "[$.one, 'two']")
}
type A { id: String name: String kind: String ok: Boolean at: P }
type P { x: Int y: Int }
"#;
    let answers: &[(&str, &str)] =
        &[("/a", r#"{"@id": "i", "name": null, "x": 1}"#), ("/texts?a-b=c&n=1", r#"{"one": "1"}"#)];
    let (answer, asked) =
        play("v0.4", sdl, "{ a(n: 5) { id name kind ok at { x y } } texts }", answers).await;
    assert_eq!(
        answer,
        json!({"data": {
            "a": {"id": "i", "name": "none", "kind": "fixed", "ok": true, "at": {"x": 1, "y": 2}},
            "texts": ["1", "two"],
        }})
    );
    assert_eq!(asked, [r#"/a {"n":5,"tags":["x",true],"deep":{"n":5}}"#, "/texts?a-b=c&n=1"]);
}

#[tokio::test]
async fn objects_of_one_name_are_merged() {
    let sdl = r#"
type Query { a: [A] @connect(source: "s", http: {GET: "/a"}, selection: "id at: home { street } at: geo { lat } $.x { more { p } } $.y { more { q } }") }
type A { id: Int at: At more: More }
type At { street: String lat: Float }
type More { p: Int q: Int }
"#;
    let answers: &[(&str, &str)] = &[(
        "/a",
        r#"[{"id": 1, "home": {"street": "s"}, "geo": {"lat": 1.5}, "x": {"more": {"p": 1}}, "y": {"more": {"q": 2}}}, {"id": 2}]"#,
    )];
    let (answer, _) = play("v0.2", sdl, "{ a { id at { street lat } more { p q } } }", answers).await;
    assert_eq!(
        answer,
        json!({"data": {"a": [
            {"id": 1, "at": {"street": "s", "lat": 1.5}, "more": {"p": 1, "q": 2}},
            {"id": 2, "at": null, "more": null},
        ]}})
    );
}

#[tokio::test]
async fn keys_of_a_batch_may_be_made_of_items_and_listed_by_a_method() {
    let sdl = r#"
type Query { us: [U] @connect(source: "s", http: {GET: "/us"}, selection: "id") }
type U @connect(source: "s", http: {POST: "/batch", body: "keys: $batch->map({ key: @.id, of: 'u' })"}, batch: {maxSize: 20000},
  selection: "$.found { id: uid->toString name }") { id: String name: String }
"#;
    let answers: &[(&str, &str)] = &[
        ("/us", r#"[{"id": "3"}, {"id": "1"}, {"id": "9"}]"#),
        (
            "/batch",
            r#"{"found": [{"uid": 1, "name": "one"}, {"name": "none"}, {"uid": 3, "name": "three"}]}"#,
        ),
    ];
    let (answer, asked) = play("v0.2", sdl, "{ us { id name } }", answers).await;
    assert_eq!(
        answer,
        json!({"data": {"us": [{"id": "3", "name": "three"}, {"id": "1", "name": "one"}, {"id": "9", "name": null}]}})
    );
    let body = r#"{"keys":[{"key":"3","of":"u"},{"key":"1","of":"u"},{"key":"9","of":"u"}]}"#;
    assert_eq!(asked, [format!("/batch {body}"), "/us".to_owned()]);
}

#[tokio::test]
async fn settings_make_addresses_by_methods_and_go_into_bodies_as_a_whole() {
    let sdl = r#"
extend schema @source(name: "t", http: {baseURL: "http://{$config.stage->match(['dev', 'upstream'], [@, 'other'])}/{$config.v->joinNotNull('.')}"})
type Query {
  a: String @connect(source: "t", http: {POST: "/a#part", body: "of: $config stage: $config.stage part: $config { v }"}, selection: "name: $.x ignored: y")
  b: String @connect(source: "t", http: {GET: "/b"}, selection: "$($env.TOWN)")
}
"#;
    let answers: &[(&str, &str)] = &[("/1.2/a", r#"{"x": "y"}"#), ("/1.2/b", "{}")];
    let config = r#"{"stage":"dev","v":[1,2]}"#;
    let (answer, asked) = play_with("v0.3", sdl, "{ b }", answers, config, &[("TOWN", "Oslo")]).await;
    assert_eq!(answer, json!({"data": {"b": "Oslo"}}));
    assert_eq!(asked, ["/1.2/b"]);
    let (answer, asked) = play_with("v0.3", sdl, "{ a }", answers, config, &[("TOWN", "Oslo")]).await;
    // An object is no text: other servers give null.
    assert_eq!(answer["data"], json!({"a": null}));
    assert_eq!(asked, [r#"/1.2/a {"of":{"stage":"dev","v":[1,2]},"stage":"dev","part":{"v":[1,2]}}"#]);
}

#[tokio::test]
async fn what_is_inaccessible_is_seen_by_nobody_and_still_asked_by() {
    let sdl = r#"
type Query { u: U @connect(source: "s", http: {GET: "/u"}, selection: "id name secret { a }") }
type U { id: Int @inaccessible name: String secret: Secret
  more: String @connect(source: "s", http: {GET: "/more/{$this.id}"}, selection: "$.more") }
type Secret @inaccessible { a: Int }
"#;
    let answers: &[(&str, &str)] = &[("/u", r#"{"id": 4, "name": "n"}"#), ("/more/4", r#"{"more": "m"}"#)];
    let (answer, asked) = play("v0.3", sdl, "{ u { name more } }", answers).await;
    assert_eq!(answer, json!({"data": {"u": {"name": "n", "more": "m"}}}));
    assert_eq!(asked, ["/more/4", "/u"]);
    for query in ["{ u { id } }", "{ u { secret { a } } }"] {
        let (answer, _) = play("v0.3", sdl, query, answers).await;
        let message = answer["errors"][0]["message"].as_str().unwrap();
        assert!(message.starts_with("Cannot query field"), "{message}");
    }
    let (answer, _) = play("v0.3", sdl, "{ __type(name: \"U\") { fields { name } } }", answers).await;
    assert_eq!(answer["data"]["__type"]["fields"], json!([{"name": "name"}, {"name": "more"}]));
}
