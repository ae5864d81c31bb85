//! Mutations of a database whose answers need a service: what was done stands when the service fails, and the answer says so: as a
//! whole, in parts, and on both endpoints.

use crate::live::{read_until, stream};
use crate::support::{Answer, Weir, body, message};
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

/// The pets beside a service that refuses what it is asked of each of them.
fn set_scene() -> (Upstream, Weir) {
    let refusals =
        (1..=4).flat_map(|id| ["notes", "marks"].map(|it| format!("{{ask: GET /{it}/{id}, status: 403}}")));
    let upstream = Upstream::start(answers(&format!("[{}]", refusals.collect::<Vec<_>>().join(", "))));
    let weir = Weir::with_services(SDL, upstream.address, "");
    (upstream, weir)
}

fn read_state(weir: &Weir) -> Value {
    weir.query("{ pet(order_by: {id: asc}) { id name } }").json()["data"]["pet"].clone()
}

/// Each mutation with the root fields that stand, and the pets after it.
fn list_mutations() -> Vec<(&'static str, Value, Value)> {
    vec![
        (
            "mutation { update_pet(where: {id: {_eq: 1}}, _set: {name: \"Zed\"}) { returning { id ...LATE { note } } } }",
            json!(["update_pet"]),
            json!([{"id": 1, "name": "Zed"}, {"id": 2, "name": "Bob"}, {"id": 3, "name": "Cyd"}]),
        ),
        (
            "mutation { one: insert_pet_one(object: {id: 4, name: \"Dan\"}) { id ...LATE { mark } } delete_pet_by_pk(id: 2) { id } }",
            json!(["one", "delete_pet_by_pk"]),
            json!([{"id": 1, "name": "Zed"}, {"id": 3, "name": "Cyd"}, {"id": 4, "name": "Dan"}]),
        ),
        (
            "mutation { delete_pet(where: {id: {_gt: 3}}) { affected_rows returning { name ...LATE { mark } } } }",
            json!(["delete_pet"]),
            json!([{"id": 1, "name": "Zed"}, {"id": 3, "name": "Cyd"}]),
        ),
    ]
}

fn check(answer: &Value, committed: &Value, words: &str) {
    let errors = answer["errors"].as_array().unwrap_or_else(|| panic!("{words}: {answer}"));
    assert!(!errors.is_empty(), "{words}: {answer}");
    for error in errors {
        assert_eq!(error["extensions"]["committed"], *committed, "{words}: {answer}");
    }
}

#[test]
fn a_service_that_fails_below_written_rows_leaves_them_written() {
    for path in ["/graphql", "/v1/graphql"] {
        let (_upstream, weir) = set_scene();
        for (mutation, committed, after) in list_mutations() {
            let mutation = mutation.replace("LATE", " @include(if: true)");
            let answer: Answer = weir.post(path, &[], body(&mutation).as_bytes());
            let json = answer.json();
            check(&json, &committed, &mutation);
            assert_eq!(read_state(&weir), after, "{path} {mutation}: {json}");
            if path == "/v1/graphql" {
                assert!(json.get("data").is_none(), "{json}");
            }
        }
    }
}

/// The null of a field that cannot be null rises through all that is returned, to the root where that cannot be null either.
#[test]
fn a_null_that_rises_to_the_root_says_what_stands() {
    let (_upstream, weir) = set_scene();
    let mutation = "mutation { update_pet_many(updates: [{where: {id: {_eq: 1}}, _set: {name: \"Zed\"}}]) { returning { mark } } }";
    let answer = weir.post("/graphql", &[], body(mutation).as_bytes()).json();
    check(&answer, &json!(["update_pet_many"]), mutation);
    assert_eq!(answer["data"], json!({"update_pet_many": [null]}), "{answer}");
    assert_eq!(read_state(&weir)[0], json!({"id": 1, "name": "Zed"}));
}

#[test]
fn a_late_field_that_fails_says_what_stands() {
    for accept in
        ["multipart/mixed;deferSpec=20220824", "multipart/mixed;incrementalSpec=v0.2", "text/event-stream"]
    {
        let (_upstream, weir) = set_scene();
        for (mutation, committed, after) in list_mutations() {
            let mutation = mutation.replace("LATE", " @defer");
            let headers = [("content-type", "application/json"), ("accept", accept)];
            let request = message("POST", "/graphql", &headers, Some(body(&mutation).as_bytes()));
            let (_, mut reader) = stream(&weir, &request);
            let end = if accept.starts_with("text") { "event: complete" } else { "\r\n-----" };
            let text = read_until(&mut reader, end);
            let (first, late) =
                text.split_once("\"hasNext\":true").unwrap_or_else(|| panic!("{mutation}: {text}"));
            assert!(!first.contains("errors"), "{mutation}: {text}");
            assert!(late.contains(&format!("\"committed\":{committed}")), "{mutation}: {text}");
            assert_eq!(read_state(&weir), after, "{mutation}: {text}");
        }
    }
}
