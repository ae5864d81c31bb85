//! Answers of services are written without an allocation per object or field: only buffers grow.
//!
//! A binary of its own, so that nothing else allocates while it counts.

#[path = "../../engine/tests/counting/mod.rs"]
mod counting;
mod served_kit;
mod wire_kit;

use futures_util::FutureExt;
use served_kit::engine;
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::engine::{Body, Engine, Request};
use wire_kit::Service;

const SDL: &str = r#"
extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @link(url: "https://weir.example/spec/v1", import: ["@cache"])
  @source(name: "s", http: {baseURL: "http://upstream"})
  @cache(source: "s", default: 3600)
type Query {
  few: [Item!] @connect(source: "s", http: {GET: "/few"}, selection: "id price note parts { name }")
  many: [Item!] @connect(source: "s", http: {GET: "/many"}, selection: "id price note parts { name }")
}
type Item { id: ID! price: Float note: String parts: [Part!]! }
type Part { name: String }
"#;

fn items(rows: usize) -> String {
    let item = |row: usize| {
        let note = if row.is_multiple_of(3) { "null" } else { r#""a \"note\"""# };
        let parts = r#"[{"name":"a"},{"name":"b"},{"name":"c"}]"#;
        format!(r#"{{"id":{row},"price":{row}.25,"note":{note},"parts":{parts}}}"#)
    };
    format!("[{}]", (0..rows).map(item).collect::<Vec<_>>().join(","))
}

fn request(query: &str) -> Request<'_> {
    Request::new(query, Instant::now() + Duration::from_secs(60))
}

/// Allocations of a request whose plan and whose services' answers are kept, and the bytes of its answer.
async fn count(engine: &Engine, query: &str) -> (usize, usize) {
    let admin = Identity::admin();
    for _ in 0..3 {
        engine.execute(request(query), &engine.caller(&admin)).await;
    }
    let (allocations, response) =
        counting::count(|| engine.execute(request(query), &engine.caller(&admin)).now_or_never());
    match response.expect("what is kept is there at once").body {
        Body::Whole(bytes) => (allocations, bytes.len()),
        Body::Shared(bytes) => (allocations, bytes.len()),
        Body::Stream { .. } | Body::Increments { .. } => panic!("services do not stream"),
    }
}

const CALLS: &str = r#"
extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @source(name: "s", http: {baseURL: "http://upstream"})
type Query {
  few: [Item!] @connect(source: "s", http: {GET: "/few"}, selection: "id one: {id} part: {id}")
  many: [Item!] @connect(source: "s", http: {GET: "/many"}, selection: "id one: {id} part: {id}")
}
type Item { id: Int! one: One part: Part }
type One @connect(source: "s", http: {GET: "/one/{$this.id}"}, selection: "id name") { id: Int! name: String }
type Part @connect(source: "s", http: {GET: "/parts", queryParams: "id: $batch.id"}, batch: {maxSize: 200}, selection: "id name") {
  id: Int!
  name: String
}
"#;

/// Answers of services that no cache may keep.
fn answer_call(head: &str) -> wire_kit::Reply {
    let target = head.split(' ').nth(1).unwrap_or_default();
    let named = |id: &str| format!(r#"{{"id":{id},"name":"n{id}"}}"#);
    let list = |count: usize| (1..=count).map(|id| named(&id.to_string())).collect::<Vec<_>>().join(",");
    let body = match target.rsplit_once('/') {
        Some(("", "few")) => format!("[{}]", list(FEW)),
        Some(("", "many")) => format!("[{}]", list(MANY)),
        Some(("/one", id)) => named(id),
        _ => {
            let ids = target.split(['?', '&']).filter_map(|it| it.strip_prefix("id="));
            format!("[{}]", ids.map(named).collect::<Vec<_>>().join(","))
        }
    };
    wire_kit::answer("200 OK", "cache-control: no-store\r\n", &body)
}

const FEW: usize = 10;
const MANY: usize = 60;

/// Allocations that `query` costs for each object more, when plan and connections are there.
fn count_per_object(query: &str) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let service = Service::start_by(answer_call);
    let engine = engine(CALLS, &service);
    let admin = Identity::admin();
    let ask = |list: &str| {
        let query = query.replace("LIST", list);
        let once = || runtime.block_on(engine.execute(request(&query), &engine.caller(&admin)));
        (0..3).for_each(|_| drop(once()));
        let (allocations, response) = counting::count(once);
        let Body::Whole(bytes) = response.body else { panic!("the answer is whole") };
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains(r#""name":"n1""#) && !text.contains("errors"), "{text}");
        allocations
    };
    let few = ask("few");
    ask("many").saturating_sub(few) / (MANY - FEW)
}

#[test]
fn a_call_and_a_key_of_a_batch_allocate_what_they_did() {
    let calls = count_per_object("{ LIST { one { name } } }");
    let keys = count_per_object("{ LIST { part { name } } }");
    assert!(calls <= 40 && keys <= 8, "{calls} allocations for a call, {keys} for a key of a batch");
}

/// Number of doublings of a buffer that ends up a hundred times as large.
const DOUBLINGS: usize = 7;
/// Buffers whose size is not known before: items and parts, and the texts of two columns.
const GROWING: usize = 4;

#[tokio::test]
async fn kept_answers_allocate_nothing_per_object() {
    let service = Service::start(|nth| wire_kit::answer("200 OK", "", &items([10, 1000][nth])));
    let engine = engine(SDL, &service);
    let all = "{ id price note parts { name } }";
    let (few, few_bytes) = count(&engine, &format!("{{ few {all} }}")).await;
    let (many, many_bytes) = count(&engine, &format!("{{ many {all} }}")).await;
    assert!(many_bytes > 90 * few_bytes, "{few_bytes} and {many_bytes} bytes");
    assert!(many <= few + GROWING * DOUBLINGS, "{few} and {many} allocations");
}
