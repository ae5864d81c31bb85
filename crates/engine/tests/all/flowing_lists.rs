//! Lists with `@stream` whose later items their source reads while the first ones are on their way.

use crate::increments::read;
use crate::kit::{engine_of, flow, rows, schema};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use weir_engine::caller::Identity;
use weir_engine::engine::{Aborted, Body, Engine, IncrementForm, Request};
use weir_engine::rows::Table;
use weir_engine::source::{
    BoxFuture, Chunk, Chunks, ExplainInput, FetchBody, FetchInput, FetchResult, Ids, PlanError, PlanNode,
    PreparedFetch, Source, SourceError, Tag,
};
use weir_engine::unread::{Receiver, channel};
use weir_language::schema::Schema;

const FORMS: [IncrementForm; 2] = [IncrementForm::Paths, IncrementForm::Ids];

const SDL: &str = "
    type Book { id: Int!  title: String! }
    type Query { count: Int!  books: [Book!]  loose: [Book]! }";

/// The next batch that the test lets the source of a list read.
#[derive(Debug)]
enum Given {
    Items(Vec<Value>),
    Last(Vec<Value>),
    Failure,
}

/// State of a source that its test steers: the items it has, and what was taken of them.
struct Tap {
    schema: Arc<Schema>,
    /// The items that are there at once.
    first: Vec<Value>,
    later: Mutex<Option<UnboundedReceiver<Given>>>,
    /// Batches that were taken.
    taken: AtomicUsize,
    /// Nobody takes items any more.
    gone: Notify,
}

/// A source with one list, whose later items come when the test gives them.
struct TapSource(Arc<Tap>);

impl Source for TapSource {
    fn name(&self) -> &str {
        "tap"
    }
    fn schema(&self) -> &Arc<Schema> {
        &self.0.schema
    }
    fn prepare(&self, node: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        let tap = Arc::clone(&self.0);
        let ids = Arc::clone(node.ids);
        let fields = node.fields.to_vec();
        Ok(Box::new(TapFetch { tap, ids, fields }))
    }
}

struct TapFetch {
    tap: Arc<Tap>,
    ids: Arc<Ids>,
    fields: Vec<u32>,
}

impl PreparedFetch for TapFetch {
    fn run<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
        Box::pin(async move {
            let tap = &self.tap;
            let columns = self.fields.iter().map(|&field| {
                let of = &input.output.fields[field as usize];
                let value = match tap.schema.field_name(self.ids.field(of.field)) {
                    "count" => json!(7),
                    _ => json!(tap.first),
                };
                rows::column(&tap.schema, &self.ids, input.output, of.member, &[&value])
            });
            let table = Table { rows: 1, columns: columns.collect(), hidden: Vec::new() };
            let body = match input.first_items {
                Some(first) if tap.first.len() == first as usize => {
                    FetchBody::FirstItems(table, self.later(&input))
                }
                Some(_) | None => FetchBody::Rows(table),
            };
            Ok(FetchResult { body, errors: Vec::new(), cache_control: None })
        })
    }
    fn touches(&self) -> &[Tag] {
        &[]
    }
    fn explain(&self, _: ExplainInput<'_>, out: &mut String) {
        out.push_str("a tap");
    }
}

impl TapFetch {
    fn later(&self, input: &FetchInput<'_>) -> Chunks {
        let tap = Arc::clone(&self.tap);
        let ids = Arc::clone(&self.ids);
        let output = Arc::clone(input.output);
        let field = *self.fields.last().expect("the list is a member");
        let mut given = tap.later.lock().unwrap().take().expect("it is asked once");
        let (sender, receiver) = channel(1);
        tokio::spawn(async move {
            let batch = |items: &[Value], is_last| {
                Chunk::Items(flow::batch((&*tap.schema, &*ids, &*output), field, items, is_last))
            };
            loop {
                let next = tokio::select! {
                    () = sender.wait_until_closed() => break,
                    next = given.recv() => next,
                };
                let chunk = match next {
                    Some(Given::Items(items)) => batch(&items, false),
                    Some(Given::Last(items)) => batch(&items, true),
                    Some(Given::Failure) => Chunk::Failed(SourceError::Busy),
                    // The source dies.
                    None => return,
                };
                if sender.send(chunk).await.is_err() {
                    break;
                }
                tap.taken.fetch_add(1, Ordering::SeqCst);
            }
            tap.gone.notify_one();
        });
        Chunks { receiver }
    }
}

type Parts = Receiver<Result<Vec<u8>, Aborted>>;

struct Scene {
    engine: Engine,
    tap: Arc<Tap>,
    /// `None`: the source died.
    give: Option<UnboundedSender<Given>>,
}

fn books(ids: impl IntoIterator<Item = i64>) -> Vec<Value> {
    ids.into_iter().map(|id| json!({"id": id, "title": format!("Book {id}")})).collect()
}

/// A source that has `first` at once.
fn scene(first: Vec<Value>) -> Scene {
    let (give, later) = unbounded_channel();
    let later = Mutex::new(Some(later));
    let schema = Arc::new(schema(SDL));
    let taken = AtomicUsize::new(0);
    let gone = Notify::new();
    let tap = Arc::new(Tap { schema, first, later, taken, gone });
    let engine = engine_of(vec![Arc::new(TapSource(Arc::clone(&tap)))], &[]);
    Scene { engine, tap, give: Some(give) }
}

impl Scene {
    fn give(&self, given: Given) {
        self.give.as_ref().expect("it lives").send(given).expect("the source listens");
    }

    async fn ask(&self, query: &str, form: IncrementForm) -> Body {
        let request = Request::new(query, Instant::now() + Duration::from_secs(5));
        let request = Request { increments: Some(form), ..request };
        self.engine.execute(request, &self.engine.caller(&Identity::admin())).await.body
    }

    /// The first part, and what takes the others.
    async fn parts(&self, query: &str, form: IncrementForm) -> (Value, Parts) {
        let Body::Increments { first, rest } = self.ask(query, form).await else {
            panic!("it comes in parts")
        };
        (read(&first), rest)
    }
}

async fn next(parts: &mut Parts) -> Value {
    read(&parts.recv().await.expect("a part comes").expect("it is whole"))
}

#[tokio::test]
async fn the_first_items_leave_before_the_others_were_read() {
    for form in FORMS {
        let scene = scene(books([1, 2]));
        let query = r#"{ books @stream(initialCount: 2, label: "b") { title id } }"#;
        let (first, mut rest) = scene.parts(query, form).await;
        assert_eq!(first["data"]["books"], json!(books([1, 2])));
        assert_eq!(first["hasNext"], true);
        // The source has the third item only now, and the others when the third was sent.
        scene.give(Given::Items(books([3])));
        let head = match form {
            IncrementForm::Paths => json!({"path": ["books", 2], "label": "b"}),
            IncrementForm::Ids => json!({"id": "0"}),
        };
        let with = |mut head: Value, items| {
            head["items"] = json!(items);
            json!([head])
        };
        let third = json!({"incremental": with(head.clone(), books([3])), "hasNext": true});
        assert_eq!(next(&mut rest).await, third);
        scene.give(Given::Last(books([4, 5])));
        let mut last = json!({"hasNext": false});
        match form {
            IncrementForm::Paths => {
                last["incremental"] = with(json!({"path": ["books", 3], "label": "b"}), books([4, 5]));
            }
            IncrementForm::Ids => {
                last["incremental"] = with(head, books([4, 5]));
                last["completed"] = json!([{"id": "0"}]);
            }
        }
        assert_eq!(next(&mut rest).await, last);
        assert!(rest.recv().await.is_none());
    }
}

#[tokio::test]
async fn a_list_that_ends_with_its_first_items_is_completed_when_its_end_was_read() {
    for (form, end) in [
        (IncrementForm::Paths, json!({"hasNext": false})),
        (IncrementForm::Ids, json!({"completed": [{"id": "0"}], "hasNext": false})),
    ] {
        let scene = scene(books([1]));
        let (first, mut rest) = scene.parts("{ books @stream(initialCount: 1) { id } count }", form).await;
        assert_eq!((&first["data"]["books"], &first["hasNext"]), (&json!([{"id": 1}]), &json!(true)));
        scene.give(Given::Last(Vec::new()));
        assert_eq!(next(&mut rest).await, end);
        assert!(rest.recv().await.is_none());
    }
}

#[tokio::test]
async fn a_list_with_fewer_items_is_one_answer() {
    let scene = scene(books([1]));
    let Body::Whole(bytes) = scene.ask("{ books @stream(initialCount: 2) { id } }", FORMS[0]).await else {
        panic!("it is whole")
    };
    assert_eq!(read(&bytes), json!({"data": {"books": [{"id": 1}]}}));
}

#[tokio::test]
async fn the_fields_beside_a_list_keep_their_places() {
    let scene = scene(books([1]));
    let query = "{ a: count books @stream(initialCount: 1) { id } __typename b: loose { id } }";
    let Body::Increments { first, mut rest } = scene.ask(query, IncrementForm::Paths).await else {
        panic!("it comes in parts")
    };
    assert_eq!(
        String::from_utf8_lossy(&first),
        r#"{"data":{"a":7,"books":[{"id":1}],"__typename":"Query","b":[{"id":1}]},"hasNext":true}"#
    );
    scene.give(Given::Last(books([2])));
    assert_eq!(next(&mut rest).await["incremental"][0]["path"], json!(["books", 1]));
}

#[tokio::test]
async fn an_error_of_the_source_ends_the_list() {
    for form in FORMS {
        for (dies, code) in [(false, "POOL_TIMEOUT"), (true, "SOURCE_UNAVAILABLE")] {
            let mut scene = scene(books([1]));
            let (_, mut rest) = scene.parts("{ books @stream(initialCount: 1) { id } }", form).await;
            scene.give(Given::Items(books([2, 3])));
            assert_eq!(next(&mut rest).await["incremental"][0]["items"], json!([{"id": 2}, {"id": 3}]));
            if dies {
                scene.give = None
            } else {
                scene.give(Given::Failure)
            }
            let end = next(&mut rest).await;
            let entry = match form {
                IncrementForm::Paths => {
                    let entry = &end["incremental"][0];
                    assert_eq!((&entry["path"], &entry["items"]), (&json!(["books", 3]), &Value::Null));
                    entry
                }
                IncrementForm::Ids => &end["completed"][0],
            };
            let error = &entry["errors"][0];
            assert_eq!((&error["path"], &error["extensions"]["code"]), (&json!(["books"]), &json!(code)));
            assert_eq!(error["locations"], json!([{"line": 1, "column": 3}]));
            assert_eq!(end["hasNext"], false);
            assert!(rest.recv().await.is_none());
        }
    }
}

#[tokio::test]
async fn an_item_that_may_not_be_null_ends_the_list_and_the_reading() {
    for form in FORMS {
        let scene = scene(books([1]));
        let (_, mut rest) = scene.parts("{ books @stream(initialCount: 1) { id title } }", form).await;
        let mut items = books([2, 3, 4]);
        items[1]["title"] = Value::Null;
        scene.give(Given::Items(items));
        let part = next(&mut rest).await;
        assert_eq!(part["incremental"][0]["items"], json!(books([2])));
        let entry = match form {
            IncrementForm::Paths => &part["incremental"][1],
            IncrementForm::Ids => &part["completed"][0],
        };
        assert_eq!(entry["errors"][0]["path"], json!(["books", 2, "title"]));
        assert_eq!(part["hasNext"], false);
        scene.tap.gone.notified().await;
        assert!(rest.recv().await.is_none());
    }
}

#[tokio::test]
async fn an_item_that_may_be_null_is_null_and_the_list_goes_on() {
    for form in FORMS {
        let scene = scene(books([1]));
        let (_, mut rest) = scene.parts("{ loose @stream(initialCount: 1) { title } }", form).await;
        scene.give(Given::Items(vec![json!({"id": 2, "title": null})]));
        let entry = next(&mut rest).await["incremental"][0].clone();
        assert_eq!(
            (&entry["items"], &entry["errors"][0]["path"]),
            (&json!([null]), &json!(["loose", 1, "title"]))
        );
        scene.give(Given::Last(books([3])));
        assert_eq!(next(&mut rest).await["incremental"][0]["items"], json!([{"title": "Book 3"}]));
    }
}

#[tokio::test]
async fn a_client_that_goes_away_ends_the_reading() {
    for form in FORMS {
        let scene = scene(books([1]));
        let (_, mut rest) = scene.parts("{ books @stream(initialCount: 1) { id } }", form).await;
        scene.give(Given::Items(books([2])));
        next(&mut rest).await;
        drop(rest);
        scene.tap.gone.notified().await;
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_holds_the_source_back() {
    let scene = scene(Vec::new());
    let (first, mut rest) = scene.parts("{ books @stream { id title } }", IncrementForm::Ids).await;
    assert_eq!(first["data"], json!({"books": []}));
    for at in 0..100 {
        scene.give(Given::Items(books(at * 500..at * 500 + 500)));
    }
    scene.give(Given::Last(Vec::new()));
    let taken = || scene.tap.taken.load(Ordering::SeqCst);
    let mut before = usize::MAX;
    while taken() != before {
        before = taken();
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }
    // Two parts and one on its way, a batch that waits and those in the channel.
    assert!(taken() <= 6, "{}", taken());
    let mut items = Vec::new();
    loop {
        let part = next(&mut rest).await;
        let more = part["incremental"].as_array().into_iter().flatten();
        items.extend(more.flat_map(|it| it["items"].as_array().unwrap().clone()));
        if part["hasNext"] == false {
            break;
        }
    }
    assert_eq!(items, books(0..50_000));
}
