//! Errors of a service behind a running server, and the errors that clients get.

use crate::support::{Folder, Weir};
use crate::upstream_kit::{Upstream, answers};
use serde_json::json;

/// A service that tells what is wrong in its body, whatever its status.
const TELLING: &str = r#"extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @link(url: "https://weir.example/spec/v1", import: ["@policy"])
  @source(name: "s", http: {baseURL: "http://upstream"}, isSuccess: "$(ok ?? true)"
    errors: {message: "$.why", extensions: "reason $.details { code left }"})
  @policy(source: "s", retries: 0, timeout: 5000, deadlineHeader: "X-Left")
type Query {
  thing(id: Int!): Thing @connect(source: "s", http: {GET: "/things/{$args.id}"}, selection: "id name")
  all: [Thing] @connect(source: "s", http: {GET: "/things"}, selection: "$.list { id }")
}
type Thing
  @connect(source: "s", http: {GET: "/of", queryParams: "id: $batch.id"}, batch: {maxSize: 2}, isSuccess: "$.ok", errors: {message: "$(why ?? 'no batch')"}
    selection: "$.list { id name }") {
  id: Int!
  name: String
}
"#;

/// Serves [`TELLING`] over a service with these answers.
fn serve(known: &str) -> (Upstream, Weir) {
    let upstream = Upstream::start(answers(known));
    let folder = Folder::new();
    let text = TELLING.replace("http://upstream", &format!("http://{}", upstream.address));
    let file = folder.write("services.graphql", &text).display().to_string();
    (upstream, Weir::start(&["serve", &file, "--listen", "127.0.0.1:0"], folder))
}

#[test]
fn what_a_service_says_of_its_errors_is_told_to_clients() {
    let known = r#"
- {ask: GET /things/1, answer: {ok: false, why: sold out, reason: {at: 1.10}, details: {code: SOLD_OUT, left: 0}}}
- {ask: GET /things/2, status: 400, answer: {ok: false, why: no such shop, reason: null, details: {left: 3}}}
- {ask: GET /things/3, status: 500, answer: {ok: true, id: 3, name: odd}}
- {ask: GET /things, answer: {list: [{id: 1}, {id: 2}, {id: 3}]}}
- {ask: GET /of?id=1&id=2, status: 500, answer: {ok: true, list: [{id: 2, name: two}, {id: 1, name: one}]}}
- {ask: GET /of?id=3, answer: {ok: false, list: [{id: 3, name: three}]}}
"#;
    let (upstream, weir) = serve(known);
    let error = |id: u32| weir.query(&format!("{{ thing(id: {id}) {{ id }} }}")).json()["errors"][0].clone();
    let first = error(1);
    assert_eq!(first["message"], "sold out");
    assert_eq!(first["extensions"], json!({"reason": {"at": 1.1}, "code": "SOLD_OUT", "left": 0}));
    let second = error(2);
    let expected = json!({"code": "SOURCE_REFUSED", "reason": null, "left": 3});
    assert_eq!((&second["message"], &second["extensions"]), (&json!("no such shop"), &expected));
    let good = weir.query("{ thing(id: 3) { name } }").json();
    assert_eq!(good, json!({"data": {"thing": {"name": "odd"}}}));
    let all = weir.query("{ all { name } }").json();
    assert_eq!(all["data"]["all"], json!([{"name": "one"}, {"name": "two"}, {"name": null}]));
    let failed = &all["errors"];
    assert_eq!((failed.as_array().map(Vec::len), &failed[0]["message"]), (Some(1), &json!("no batch")));
    assert_eq!(failed[0]["path"], json!(["all", 2, "name"]));
    assert_eq!(failed[0]["extensions"]["code"], "SOURCE_UNAVAILABLE");
    // Each call says how long it may take.
    for asked in upstream.take_requests() {
        let left = asked.headers.iter().find(|it| it.0 == "x-left").map(|it| it.1.parse::<u32>());
        assert!(matches!(left, Some(Ok(1..=5000))), "{asked:?}");
    }
}

#[test]
fn each_key_of_a_batch_that_fails_is_told_what_the_service_says() {
    let known = r#"
- {ask: GET /things, answer: {list: [{id: 1}, {id: 2}, {id: 3}, {id: 4}, {id: 5}]}}
- {ask: GET /of?id=1&id=2, answer: {ok: false, why: sold out, reason: {at: 1.10}, details: {code: SOLD_OUT, left: 0}}}
- {ask: GET /of?id=3&id=4, status: 400, answer: {ok: false, why: no such shop, reason: null, details: {left: 3}}}
- {ask: GET /of?id=5, status: 503, text: "<html>"}
"#;
    let (_upstream, weir) = serve(known);
    let all = weir.query("{ all { id name } }").json();
    let told = |error: &serde_json::Value| {
        (error["path"][1].clone(), error["message"].clone(), error["extensions"].clone())
    };
    let told: Vec<_> = all["errors"].as_array().into_iter().flatten().map(told).collect();
    let sold_out = json!({"reason": {"at": 1.1}, "code": "SOLD_OUT", "left": 0});
    let no_shop = json!({"code": "SOURCE_REFUSED", "reason": null, "left": 3});
    let expected = [
        (json!(0), json!("sold out"), sold_out.clone()),
        (json!(1), json!("sold out"), sold_out),
        (json!(2), json!("no such shop"), no_shop.clone()),
        (json!(3), json!("no such shop"), no_shop),
        (json!(4), json!("no batch"), json!({"code": "SOURCE_UNAVAILABLE"})),
    ];
    assert_eq!(told, expected);
    assert_eq!(all["data"]["all"][4], json!({"id": 5, "name": null}));
}

#[test]
fn who_meets_a_service_without_capacity_is_told_when_to_come_again() {
    let (_upstream, weir) = serve("- {ask: GET /things/1, status: 429, answer: {ok: false}}\n");
    let busy = weir.query("{ thing(id: 1) { id } }");
    assert_eq!((busy.code().as_str(), busy.header("retry-after")), ("POOL_TIMEOUT", Some("1")));
    assert_eq!(weir.query("{ thing(id: 2) { id } }").header("retry-after"), None);
}

/// Results of mappings for values of the wrong type and for answers without a body.
const ODD: &str = r#"extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @source(name: "s", http: {baseURL: "http://upstream"})
type Query {
  list: [Row] @connect(source: "s", http: {GET: "/list"}, selection: "item: {id: itemId}")
  nothing: Item @connect(source: "s", http: {GET: "/nothing"}, selection: "id name")
}
type Mutation {
  remove(id: Int!): Boolean! @connect(source: "s", http: {DELETE: "/items/{$args.id}"}, selection: "$(true)")
  status(id: Int!): Int @connect(source: "s", http: {DELETE: "/items/{$args.id}"}, selection: "$status")
  done(id: Int!): Done @connect(source: "s", http: {DELETE: "/items/{$args.id}"}, selection: "id: $args.id what: $('removed')")
}
type Row { item: Item }
type Done { id: Int! what: String! }
type Item @connect(source: "s", http: {GET: "/items", queryParams: "id: $batch.id"}, selection: "id name") { id: Int! name: String }
"#;

fn serve_odd(known: &str) -> (Upstream, Weir) {
    let upstream = Upstream::start(answers(known));
    let folder = Folder::new();
    let text = ODD.replace("http://upstream", &format!("http://{}", upstream.address));
    let file = folder.write("services.graphql", &text).display().to_string();
    (upstream, Weir::start(&["serve", &file, "--listen", "127.0.0.1:0"], folder))
}

#[test]
fn a_key_that_does_not_fit_is_an_error_where_it_was_to_lead() {
    let known = r#"
- {ask: GET /list, answer: [{itemId: abc}, {itemId: 1}, {itemId: 9007199254740993}, {itemId: null}, {}]}
- {ask: GET /items?id=1, answer: [{id: 1, name: one}]}
"#;
    let (upstream, weir) = serve_odd(known);
    let answer = weir.query("{ list { item { name } } }").json();
    assert_eq!(
        answer["data"]["list"],
        json!([{"item": {"name": null}}, {"item": {"name": "one"}}, {"item": {"name": null}}, {"item": null}, {"item": null}])
    );
    let told: Vec<_> = answer["errors"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| (&it["path"], &it["extensions"]["code"]))
        .collect();
    let path = |row: usize| json!(["list", row, "item", "name"]);
    assert_eq!(told, [(&path(0), &json!("SERVICE_VALUE")), (&path(2), &json!("INT_RANGE"))]);
    assert_eq!(upstream.take_requests().len(), 2);
}

#[test]
fn an_answer_without_a_body_gives_what_its_mapping_has_of_itself() {
    let known = "- {ask: DELETE /items/1, status: 204}\n- {ask: GET /nothing, status: 204}\n";
    let (_upstream, weir) = serve_odd(known);
    let removed = weir.query("mutation { remove(id: 1) status(id: 1) done(id: 1) { id what } }").json();
    assert_eq!(
        removed,
        json!({"data": {"remove": true, "status": 204, "done": {"id": 1, "what": "removed"}}})
    );
    assert_eq!(weir.query("{ nothing { id name } }").json(), json!({"data": {"nothing": null}}));
}

/// The example of the page about Apollo, as it stands there: the text, and the error.
#[test]
fn the_example_for_those_who_come_from_apollo_runs() {
    let page = include_str!("../../../../docs/coming-from/apollo.md");
    let block = |kind: &str, has: &str| {
        let blocks = page.split("```").skip(1).step_by(2).filter_map(|it| it.strip_prefix(kind));
        blocks.into_iter().find(|it| it.contains(has)).expect("the page has it").trim().to_owned()
    };
    let known =
        "- {ask: GET /tickets/1, answer: {ok: false, why: sold out, details: {code: SOLD_OUT, left: 0}}}\n";
    let upstream = Upstream::start(answers(known));
    let text =
        block("graphql", "errors:").replace("http://shop.internal", &format!("http://{}", upstream.address));
    let folder = Folder::new();
    let file = folder.write("services.graphql", &text).display().to_string();
    let weir = Weir::start(&["serve", &file, "--listen", "127.0.0.1:0"], folder);
    let told = weir.query("{ ticket(id: 1) { seat } }");
    let expected: serde_json::Value = serde_json::from_str(&block("json", "sold out")).unwrap();
    assert_eq!(told.json()["errors"], json!([expected]), "{}", told.text());
    assert!(told.text().contains(&block("json", "sold out")), "{}", told.text());
}
