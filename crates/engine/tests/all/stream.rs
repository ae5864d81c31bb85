//! Long answers: what a source has not finished leaves as it comes, and never ends as if whole when it is not.

use crate::kit;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::compose::Graph;
use weir_engine::engine::{Aborted, Body, Engine, Request};
use weir_engine::source::{
    BoxFuture, Chunk, Chunks, ExplainInput, FetchBody, FetchInput, FetchResult, FieldError, Finished,
    PathError, PlanError, PlanNode, PreparedFetch, Source, SourceError, Step, Tag,
};
use weir_engine::unread::channel;
use weir_language::schema::Schema;

/// A source that answers `all` in chunks of its own making.
struct Long {
    name: &'static str,
    schema: Arc<Schema>,
    chunks: Arc<Mutex<Vec<Chunk>>>,
}

impl Long {
    fn source(name: &'static str, sdl: &str, chunks: Vec<Chunk>) -> Arc<dyn Source> {
        Arc::new(Self { name, schema: Arc::new(kit::schema(sdl)), chunks: Arc::new(Mutex::new(chunks)) })
    }
}

impl Source for Long {
    fn name(&self) -> &str {
        self.name
    }
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }
    fn prepare(&self, piece: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        let key = piece.output.fields[piece.fields[0] as usize].key.bytes().to_vec();
        Ok(Box::new(LongFetch { key, chunks: Arc::clone(&self.chunks) }))
    }
}

struct LongFetch {
    key: Vec<u8>,
    chunks: Arc<Mutex<Vec<Chunk>>>,
}

impl PreparedFetch for LongFetch {
    fn run<'r>(&'r self, _: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
        Box::pin(async {
            let (sender, receiver) = channel(1);
            let chunks = std::mem::take(&mut *self.chunks.lock().unwrap());
            tokio::spawn(async move {
                for chunk in chunks {
                    if sender.send(chunk).await.is_err() {
                        return;
                    }
                }
            });
            let finished = Finished {
                bytes: self.key.clone(),
                ends: Vec::new(),
                failed: false,
                rest: Some(Chunks { receiver }),
            };
            Ok(FetchResult { body: FetchBody::Finished(finished), errors: Vec::new(), cache_control: None })
        })
    }
    fn touches(&self) -> &[Tag] {
        &[]
    }
    fn explain(&self, _: ExplainInput<'_>, out: &mut String) {
        out.push_str("chunks");
    }
}

fn bytes(text: &str) -> Chunk {
    Chunk::Bytes(text.as_bytes().to_vec())
}

/// All that leaves, and whether it ended whole.
async fn collect(sources: Vec<Arc<dyn Source>>, query: &str) -> (String, bool) {
    let graph = Graph::compose(sources, &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
    let engine = Engine::new(graph, kit::settings());
    let request = Request::new(query, Instant::now() + Duration::from_secs(5));
    let Body::Stream { mut head, mut rest } =
        engine.execute(request, &engine.caller(&Identity::admin())).await.body
    else {
        panic!("a stream was expected");
    };
    let mut is_whole = true;
    while let Some(part) = rest.recv().await {
        match part {
            Ok(part) => head.extend(part),
            Err(Aborted) => is_whole = false,
        }
    }
    (String::from_utf8(head).expect("UTF-8"), is_whole)
}

#[tokio::test]
async fn chunks_leave_in_order_and_the_last_comma_becomes_a_brace() {
    let source = Long::source(
        "long",
        "type Query { all: [Int] }",
        vec![bytes("[1,"), bytes("2,3],"), Chunk::End(Vec::new())],
    );
    assert_eq!(collect(vec![source], "{ all }").await, (r#"{"data":{"all":[1,2,3]}}"#.into(), true));
}

#[tokio::test]
async fn members_around_a_stream_keep_their_place() {
    let one = Long::source("one", "type Query { one: [Int] }", vec![bytes("[1],"), Chunk::End(Vec::new())]);
    let two = Long::source(
        "two",
        "type Query { two: [Int] }",
        vec![bytes("[2"), bytes("],"), Chunk::End(Vec::new())],
    );
    let (text, is_whole) =
        collect(vec![one, two], "{ a: __typename two b: __typename one c: __typename }").await;
    assert_eq!(text, r#"{"data":{"a":"Query","two":[2],"b":"Query","one":[1],"c":"Query"}}"#);
    assert!(is_whole);
}

#[tokio::test]
async fn errors_found_late_follow_the_data() {
    let error =
        FieldError { code: "INT_RANGE", message: "too wide".into(), hasura_path: None, extensions: None };
    let late = PathError { error, path: vec![Step::Field(0), Step::Index(1)], field: 0, is_undone: false };
    let source =
        Long::source("long", "type Query { all: [Int] }", vec![bytes("[1,null],"), Chunk::End(vec![late])]);
    assert_eq!(
        collect(vec![source], "{ all }").await,
        (
            r#"{"data":{"all":[1,null]},"errors":[{"message":"too wide","locations":[{"line":1,"column":3}],"path":["all",1],"extensions":{"code":"INT_RANGE"}}]}"#
                .into(),
            true
        )
    );
}

#[tokio::test]
async fn a_source_that_dies_in_the_middle_aborts() {
    let source = Long::source("long", "type Query { all: [Int] }", vec![bytes("[1,"), bytes("2,")]);
    let (text, is_whole) = collect(vec![source], "{ all }").await;
    assert!(!is_whole);
    assert!(!text.ends_with('}'), "{text}");
}
