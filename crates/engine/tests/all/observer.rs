//! The listener to an engine: what it is told of a request, and what it is not.

use crate::kit::silent::Silent;
use crate::kit::{Documents, settings};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::compose::Graph;
use weir_engine::engine::{Engine, Request, Settings};
use weir_engine::observer::{FetchOutcome, ObservedFetch, ObservedOperation, ObservedStage, Observer};
use weir_engine::source::{Headers, SourceError};
use weir_engine::span::SpanContext;

/// Writes down what it is told.
#[derive(Debug, Default)]
struct Listener(Mutex<Vec<String>>);

impl Listener {
    fn write(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }
    fn told(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Observer for Listener {
    fn operation(&self, operation: &ObservedOperation<'_>) -> u64 {
        self.write(format!("operation {:?}", operation.name));
        7
    }
    fn source(&self, name: &str) -> u32 {
        ["", "one", "two", "silent"].iter().position(|it| *it == name).unwrap_or_default() as u32
    }
    fn stage(&self, stage: &ObservedStage<'_>) {
        self.write(format!("{:?}", stage.stage));
    }
    fn fetch_begins(&self, source: u32, request: Option<SpanContext>) -> Option<SpanContext> {
        self.write(format!("begin {source}"));
        request.map(|it| SpanContext { span: it.span + 1, ..it })
    }
    fn fetch_ended(&self, fetch: &ObservedFetch<'_>) {
        let spans = fetch.spans.map(|(request, own)| (request.span, own.span));
        let calls = (fetch.calls)();
        self.write(format!("end {} {:?} {calls} {spans:?}", fetch.source, fetch.outcome));
    }
}

/// A client whose request has a span.
struct Traced;

impl Headers for Traced {
    fn each<'h>(&'h self, _: &str, _: &mut dyn FnMut(&'h [u8])) {}
    fn span(&self) -> Option<SpanContext> {
        Some(SpanContext { trace: 1, span: 40, is_sampled: true, is_continued: false })
    }
}

fn answer(field: &str, _: &Value) -> Result<Value, SourceError> {
    match field {
        "fails" => Err(SourceError::Timeout),
        _ => Ok(json!(1)),
    }
}

/// An engine over two sources and one that never answers, and its listener.
fn engine() -> (Engine, Arc<Listener>) {
    let one = Documents::new("one", "type Query { a: Int fails: Int }", answer);
    let two = Documents::new("two", "type Query { b: Int }", answer);
    let silent = Arc::new(Silent::new("type Query { c: Int }"));
    let graph = Graph::compose(vec![one, two, silent], &[]).unwrap_or_else(|_| panic!("they fit"));
    let listener = Arc::new(Listener::default());
    let observer = Some(Arc::clone(&listener) as Arc<dyn Observer>);
    (Engine::new(graph, Settings { observer, ..settings() }), listener)
}

async fn ask(engine: &Engine, query: &str) -> u32 {
    let request =
        Request { headers: &Traced, ..Request::new(query, Instant::now() + Duration::from_secs(60)) };
    engine.execute(request, &engine.caller(&Identity::admin())).await.timing.fetches
}

#[tokio::test]
async fn each_stage_and_fetch_is_told_once() {
    let (engine, listener) = engine();
    assert_eq!(ask(&engine, "query Both { a b }").await, 2);
    let mut told = listener.told();
    // The two are asked side by side.
    told[4..8].sort();
    let expected = [
        "operation Some(\"Both\")",
        "Parse",
        "Validate",
        "Plan",
        "begin 1",
        "begin 2",
        "end 1 Answered documents Some((40, 41))",
        "end 2 Answered documents Some((40, 41))",
        "Execute",
    ];
    assert_eq!(told, expected);
    ask(&engine, "query Both { a b }").await;
    // Nothing is planned, and without variables nothing is bound.
    assert_eq!((listener.told()[0].as_str(), engine.plan_cache().built), ("begin 1", 1));
    for is_known in [false, true] {
        ask(&engine, "query One($x: Boolean! = true) { a @include(if: $x) }").await;
        assert_eq!(listener.told().contains(&"Bind".to_owned()), is_known, "planning binds what steers it");
    }
}

#[tokio::test]
async fn a_fetch_that_fails_or_is_given_up_is_told_with_its_outcome() {
    let (engine, listener) = engine();
    ask(&engine, "{ fails }").await;
    let failed = format!("end 1 {:?} documents Some((40, 41))", FetchOutcome::Failed("SOURCE_TIMEOUT"));
    assert!(listener.told().contains(&failed));
    {
        let mut asked = Box::pin(ask(&engine, "{ c }"));
        assert!(futures_util::poll!(asked.as_mut()).is_pending());
        assert_eq!(listener.told().last().map(String::as_str), Some("begin 3"));
    }
    assert_eq!(listener.told(), ["end 3 Abandoned nothing Some((40, 41))"]);
}

#[tokio::test]
async fn refused_requests_and_introspection_fetch_nothing() {
    let (engine, listener) = engine();
    assert_eq!(ask(&engine, "{ nothing }").await, 0);
    assert_eq!(ask(&engine, "{ __schema { queryType { name } } __typename }").await, 0);
    assert!(listener.told().iter().all(|it| !it.starts_with("begin")));
}
