//! The warm path allocates a fixed number of times per request, whatever the number of rows and fields.
//!
//! A binary of its own, so that nothing else allocates while it counts.

mod counting;

use futures_util::FutureExt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::compose::Graph;
use weir_engine::durations::Durations;
use weir_engine::engine::{Body, Engine, Request, Settings};
use weir_engine::memory::{Memory, Value};
use weir_engine::observer::{ObservedFetch, ObservedOperation, ObservedStage, Observer};
use weir_engine::record;
use weir_engine::span::SpanContext;
use weir_language::json::Json;
use weir_language::schema::Schema;

struct Item {
    id: String,
    price: f64,
    stock: i32,
    note: Option<String>,
    parts: Vec<Part>,
}
record!(Item { id, price, stock, note, parts });

struct Part {
    name: String,
}
record!(Part { name });

fn items(rows: usize) -> Arc<Vec<Item>> {
    let part = |number| Part { name: format!("part {number}") };
    let item = |row: usize| Item {
        id: row.to_string(),
        price: row as f64 * 1.25,
        stock: row as i32,
        note: (!row.is_multiple_of(3)).then(|| "a \"note\"".to_owned()),
        parts: (0..3).map(part).collect(),
    };
    Arc::new((0..rows).map(item).collect())
}

/// An observer that counts, as a server's does.
#[derive(Debug)]
struct Counting(Durations);

impl Observer for Counting {
    fn operation(&self, _: &ObservedOperation<'_>) -> u64 {
        0
    }
    fn source(&self, _: &str) -> u32 {
        0
    }
    fn stage(&self, stage: &ObservedStage<'_>) {
        self.0.record(stage.took);
    }
    fn fetch_begins(&self, _: u32, request: Option<SpanContext>) -> Option<SpanContext> {
        self.0.begin();
        request
    }
    fn fetch_ended(&self, fetch: &ObservedFetch<'_>) {
        self.0.record(fetch.took);
    }
}

fn engine() -> Engine {
    observed(None)
}

fn observed(observer: Option<Arc<dyn Observer>>) -> Engine {
    let schema = "type Query { items(rows: Int!): [Item!]! }
        type Item { id: ID! price: Float! stock: Int! note: String parts: [Part!]! } type Part { name: String! }";
    let few = items(10);
    let many = items(1000);
    let source = Memory::new("memory", Arc::new(Schema::from_sdl(schema).unwrap()))
        .field("items", move |call| {
            Arc::clone(if call.argument("rows") == Some(Value::Int(10)) { &few } else { &many })
        });
    let Ok(graph) = Graph::compose(vec![Arc::new(source)], &[]) else { panic!("one source is a graph") };
    let settings = Settings { observer, ..Settings::STANDARD };
    Engine::new(graph, settings)
}

/// Allocations of one request and the bytes of its answer.
fn run(engine: &Engine, query: &str, variables: &str) -> (usize, usize) {
    let json = Json::parse(variables.as_bytes(), 100).unwrap();
    let request = Request {
        variables: Some(json.root()),
        ..Request::new(query, Instant::now() + Duration::from_secs(60))
    };
    let admin = Identity::admin();
    let (allocations, response) =
        counting::count(|| engine.execute(request, &engine.caller(&admin)).now_or_never());
    match response.expect("memory answers at once").body {
        Body::Whole(bytes) => (allocations, bytes.len()),
        Body::Shared(_) | Body::Stream { .. } | Body::Increments { .. } => panic!("memory does not stream"),
    }
}

const MOST: usize = 8;

/// The allocations of a request whose plan is cached and whose answer's size is known from the last time.
fn check(engine: &Engine, query: &str, variables: &str) -> (usize, usize) {
    for _ in 0..3 {
        run(engine, query, variables);
    }
    let (allocations, bytes) = run(engine, query, variables);
    assert!(allocations <= MOST, "{allocations} allocations for {query}");
    (allocations, bytes)
}

#[test]
fn a_cached_plan_allocates_no_more_for_a_thousand_rows_than_for_ten() {
    let engine = engine();
    let all = "{ id price stock note parts { name } }";
    let (few, few_bytes) = check(&engine, &format!("{{ items(rows: 10) {all} }}"), "{}");
    let (many, many_bytes) = check(&engine, &format!("{{ items(rows: 1000) {all} }}"), "{}");
    assert!(many_bytes > 90 * few_bytes, "{few_bytes} and {many_bytes} bytes");
    assert_eq!(few, many);
}

#[test]
fn a_cached_plan_allocates_no_more_for_many_fields_than_for_one() {
    let engine = engine();
    let (one, _) = check(&engine, "{ items(rows: 10) { id } }", "{}");
    let (all, _) =
        check(&engine, "{ items(rows: 10) { id a: id price stock note parts { name n: name } } }", "{}");
    assert_eq!(one, all);
}

#[test]
fn variables_and_constants_stay_within_the_bound() {
    let engine = engine();
    check(&engine, "query ($rows: Int!) { items(rows: $rows) { id price } }", "{\"rows\": 1000}");
    check(&engine, "{ __typename }", "{}");
    check(&engine, "{ __schema { types { name fields { name type { name } } } } }", "{}");
}

#[test]
fn an_observer_allocates_nothing_on_the_warm_path() {
    let observer = Arc::new(Counting(Durations::busy()));
    let listened = observed(Some(Arc::clone(&observer) as Arc<dyn Observer>));
    let alone = engine();
    let query = "{ items(rows: 10) { id price } }";
    assert_eq!(check(&listened, query, "{}"), check(&alone, query, "{}"));
    let counts = observer.0.counts();
    // Four requests: binding, executing and one fetch each, and the stages of the first.
    assert_eq!((counts.begun, counts.count), (4, 15));
}
