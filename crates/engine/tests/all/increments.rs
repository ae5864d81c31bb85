//! Answers in parts: what the first part waits for, and that all parts together are the answer.

use crate::kit::{Documents, Settings, engine, settings};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use weir_engine::caller::Identity;
use weir_engine::compose::{Graph, Join};
use weir_engine::engine::{Body, Engine, IncrementForm, Request};
use weir_engine::source::{
    BoxFuture, ExplainInput, FetchInput, FetchResult, PlanError, PlanNode, PreparedFetch, Source,
    SourceError, Tag,
};
use weir_language::json::Json;
use weir_language::schema::Schema;

const BOOKS: &str = "
    type Book { id: Int!  title: String!  author: Author  shelf: Shelf  tags: [[String!]!] }
    type Author { id: Int!  name: String! }
    type Shelf { name: String!  books: [Book!]! }
    union Item = Book | Author
    type Query {
      books: [Book!]!  book(id: Int!): Book  items: [Item!]!  none: [Book!]  nothing: Nothing
      many(count: Int! = 7): [Book!]!  loose(count: Int!): [Book]
    }
    type Nothing { books: [Book!]! }
    type Mutation { write(id: Int!): Book }";
const REVIEWS: &str = "
    type Review { text: String!  stars: Int!  bookId: Int! }
    type Query { reviews(book: Int!): [Review!]  rating(book: Int!): Review!  top: Review  worst: Review! }";

/// A source whose fetches wait for permits.
struct Gated {
    inner: Arc<Documents>,
    gate: Arc<Semaphore>,
    /// Fetches that wait.
    waiting: Arc<AtomicUsize>,
}

impl Source for Gated {
    fn name(&self) -> &str {
        self.inner.name()
    }
    fn schema(&self) -> &Arc<Schema> {
        self.inner.schema()
    }
    fn prepare(&self, piece: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        let inner = self.inner.prepare(piece)?;
        Ok(Box::new(GatedFetch { inner, gate: Arc::clone(&self.gate), waiting: Arc::clone(&self.waiting) }))
    }
}

struct GatedFetch {
    inner: Box<dyn PreparedFetch>,
    gate: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
}

/// Counts a fetch while it waits.
struct Counted<'c>(&'c AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl PreparedFetch for GatedFetch {
    fn run<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
        Box::pin(async move {
            self.waiting.fetch_add(1, Ordering::SeqCst);
            let counted = Counted(&self.waiting);
            self.gate.acquire().await.expect("the gate stays").forget();
            drop(counted);
            self.inner.run(input).await
        })
    }
    fn touches(&self) -> &[Tag] {
        &[]
    }
    fn explain(&self, _: ExplainInput<'_>, out: &mut String) {
        out.push_str("gated");
    }
}

fn book(id: i64) -> Value {
    let title = if id == 9 { Value::Null } else { json!(format!("Book {id}")) };
    json!({"__typename": "Book", "id": id, "title": title, "author": {"id": 10 + id, "name": "Ann"},
        "tags": [["a", "b"], [format!("c{id}")]], "shelf": {"name": "A", "books": [{"id": id + 20, "title": "Next", "author": null, "shelf": null}]}})
}

fn review(book: i64) -> Value {
    json!({"text": format!("about {book}"), "stars": book % 5, "bookId": book})
}

pub(crate) struct Shop {
    engine: Engine,
    pub(crate) gate: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
    pub(crate) reviews: Arc<Documents>,
}

/// Books at once; reviews after a permit per fetch. Book 9 has no title, reviews of author 13 fail.
pub(crate) fn shop() -> Shop {
    shop_with(settings())
}

/// As [`shop`], with an engine of these settings.
pub(crate) fn shop_with(settings: Settings) -> Shop {
    shop_of(settings, |books| books)
}

/// As [`shop`], where later books of a streamed list follow two by two.
pub(crate) fn flowing_shop() -> Shop {
    shop_of(settings(), |books| books.flowing(2))
}

fn shop_of(settings: Settings, given: impl FnOnce(Arc<Documents>) -> Arc<Documents>) -> Shop {
    let books = Documents::new("books", BOOKS, |field, arguments| {
        Ok(match field {
            "books" => (1..=3).map(book).collect(),
            "many" | "loose" => (1..=arguments["count"].as_i64().unwrap()).map(book).collect(),
            "items" => {
                let authors = (1..=8).map(|id| json!({"__typename": "Author", "id": id, "name": "Bo"}));
                authors.zip((1..=8).map(book)).flat_map(|(author, book)| [book, author]).collect()
            }
            "none" | "nothing" => Value::Null,
            _ => book(arguments["id"].as_i64().unwrap()),
        })
    });
    let reviews = Documents::new("reviews", REVIEWS, |field, arguments| {
        let id = arguments["book"].as_i64().unwrap_or_default();
        Ok(match field {
            "reviews" if id == 13 => return Err(SourceError::Busy),
            "reviews" => json!([review(id), review(id + 1)]),
            "worst" => Value::Null,
            _ => review(id),
        })
    });
    let gate = Arc::new(Semaphore::new(0));
    let waiting = Arc::new(AtomicUsize::new(0));
    let gated = Gated { inner: Arc::clone(&reviews), gate: Arc::clone(&gate), waiting: Arc::clone(&waiting) };
    let join = |on: &str, name: &str, source: &str, target: &str, arguments: &str| Join {
        on: on.to_owned(),
        name: name.to_owned(),
        description: String::new(),
        source: source.to_owned(),
        target: target.to_owned(),
        arguments: arguments.to_owned(),
    };
    let joins = [
        join("Book", "reviews", "reviews", "reviews", "(book: $this.id)"),
        join("Book", "rating", "reviews", "rating", "(book: $this.id)"),
        join("Author", "reviews", "reviews", "reviews", "(book: $this.id)"),
        join("Review", "book", "books", "book", "(id: $this.bookId)"),
    ];
    let graph = Graph::compose(vec![given(books), Arc::new(gated)], &joins).unwrap();
    Shop { engine: Engine::new(graph, settings), gate, waiting, reviews }
}

impl Shop {
    pub(crate) async fn ask(&self, query: &str, increments: Option<IncrementForm>) -> Body {
        self.ask_with(query, "{}", increments).await
    }

    async fn ask_with(&self, query: &str, variables: &str, increments: Option<IncrementForm>) -> Body {
        let variables = Json::parse(variables.as_bytes(), 64).unwrap();
        let variables = Some(variables.root());
        let request = Request::new(query, Instant::now() + Duration::from_secs(5));
        let request = Request { increments, variables, ..request };
        self.engine.execute(request, &self.engine.caller(&Identity::admin())).await.body
    }

    /// All parts of an answer, without any waiting; one for an answer that is whole.
    pub(crate) async fn parts(&self, query: &str, form: IncrementForm) -> Vec<Value> {
        self.parts_with(query, "{}", form).await
    }

    /// As [`Self::parts`], with variables.
    pub(crate) async fn parts_with(&self, query: &str, variables: &str, form: IncrementForm) -> Vec<Value> {
        self.gate.add_permits(10_000);
        let mut parts = Vec::new();
        match self.ask_with(query, variables, Some(form)).await {
            Body::Increments { first, mut rest } => {
                parts.push(read(&first));
                while let Some(part) = rest.recv().await {
                    parts.push(read(&part.unwrap()));
                }
                assert_eq!(parts.last().unwrap()["hasNext"], false, "{query}");
            }
            body => parts.push(whole(body)),
        }
        parts
    }

    /// Asks `query`, and goes away when a fetch waits for a permit. Waits until none does any more.
    pub(crate) async fn ask_and_go(&self, query: &str) {
        let Body::Increments { rest, .. } = self.ask(query, Some(IncrementForm::Ids)).await else {
            panic!("it comes in parts")
        };
        while self.waiting.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        drop(rest);
        while self.waiting.load(Ordering::SeqCst) > 0 {
            tokio::task::yield_now().await;
        }
    }

    pub(crate) async fn whole(&self, query: &str) -> Value {
        self.gate.add_permits(10_000);
        whole(self.ask(query, None).await)
    }
}

pub(crate) fn read(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(bytes)))
}

fn whole(body: Body) -> Value {
    match body {
        Body::Whole(bytes) => read(&bytes),
        Body::Shared(bytes) => read(&bytes),
        Body::Stream { .. } | Body::Increments { .. } => panic!("it is asked for at once"),
    }
}

fn at<'v>(data: &'v mut Value, path: &Value, sub: &Value) -> &'v mut Value {
    let steps = path.as_array().into_iter().chain(sub.as_array()).flatten();
    steps.fold(data, |value, step| match step {
        Value::String(key) => &mut value[key.as_str()],
        step => &mut value[step.as_u64().unwrap() as usize],
    })
}

fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (Value::Array(into), Value::Array(from)) if into.len() == from.len() => {
            into.iter_mut().zip(from).for_each(|(into, from)| merge(into, from));
        }
        (into, from) => *into = from.clone(),
    }
}

/// The data of all parts together, as clients merge them.
pub(crate) fn merged(parts: &[Value]) -> Value {
    let mut data = parts[0]["data"].clone();
    let mut places: Vec<(Value, Value)> = Vec::new();
    for part in parts {
        let pending = part["pending"].as_array().into_iter().flatten();
        places.extend(pending.map(|it| (it["id"].clone(), it["path"].clone())));
        for entry in part["incremental"].as_array().into_iter().flatten() {
            let id = places.iter().find(|it| it.0 == entry["id"]);
            let path = id.map_or_else(|| entry["path"].clone(), |it| it.1.clone());
            if entry["id"].is_string() {
                assert!(id.is_some(), "a part was not announced: {entry}");
            }
            if let Some(items) = entry["items"].as_array() {
                let list = if entry["id"].is_string() {
                    at(&mut data, &path, &Value::Null)
                } else {
                    let (index, list) = path.as_array().unwrap().split_last().unwrap();
                    let list = at(&mut data, &json!(list), &Value::Null);
                    assert_eq!(list.as_array().unwrap().len() as u64, index.as_u64().unwrap(), "{entry}");
                    list
                };
                list.as_array_mut().unwrap().extend(items.iter().cloned());
            }
            if !entry["data"].is_null() {
                merge(at(&mut data, &path, &entry["subPath"]), &entry["data"]);
            }
        }
        for entry in part["completed"].as_array().into_iter().flatten() {
            let before = places.len();
            places.retain(|it| it.0 != entry["id"]);
            assert_eq!(places.len() + 1, before, "{entry}");
        }
    }
    assert!(places.is_empty(), "what was announced is completed: {places:?}");
    data
}

#[tokio::test]
async fn the_first_part_does_not_wait_for_another_source() {
    let shop = shop();
    let query = r#"{ book(id: 1) { title ... @defer(label: "r") { id reviews { text } } } }"#;
    let Body::Increments { first, mut rest } = shop.ask(query, Some(IncrementForm::Paths)).await else {
        panic!("it comes in parts")
    };
    assert_eq!(read(&first), json!({"data": {"book": {"title": "Book 1"}}, "hasNext": true}));
    shop.gate.add_permits(1);
    let second = read(&rest.recv().await.unwrap().unwrap());
    let data = json!({"id": 1, "reviews": [{"text": "about 1"}, {"text": "about 2"}]});
    let expected = json!({"incremental": [{"path": ["book"], "label": "r", "data": data}], "hasNext": false});
    assert_eq!(second, expected);
    assert!(rest.recv().await.is_none());

    let Body::Increments { first, mut rest } = shop.ask(query, Some(IncrementForm::Ids)).await else {
        panic!("it comes in parts")
    };
    let pending = json!([{"id": "0", "path": ["book"], "label": "r"}]);
    assert_eq!(
        read(&first),
        json!({"data": {"book": {"title": "Book 1"}}, "pending": pending, "hasNext": true})
    );
    shop.gate.add_permits(1);
    let second = read(&rest.recv().await.unwrap().unwrap());
    let expected =
        json!({"incremental": [{"id": "0", "data": data}], "completed": [{"id": "0"}], "hasNext": false});
    assert_eq!(second, expected);
}

#[tokio::test]
async fn parts_leave_as_their_sources_answer() {
    let shop = shop();
    let query =
        r"{ book(id: 1) { title ... @defer { a: reviews { text } } ... @defer { rating { stars } } } }";
    let Body::Increments { mut rest, .. } = shop.ask(query, Some(IncrementForm::Paths)).await else {
        panic!("it comes in parts")
    };
    shop.gate.add_permits(1);
    assert_eq!(read(&rest.recv().await.unwrap().unwrap())["hasNext"], true);
    shop.gate.add_permits(1);
    assert_eq!(read(&rest.recv().await.unwrap().unwrap())["hasNext"], false);
}

#[tokio::test]
async fn all_parts_together_are_the_answer() {
    let queries = [
        "{ books { title ... @defer { reviews { text } } } }",
        "{ books { ... @defer { id title author { name ... @defer { reviews { stars } } } rating: reviews { text } } } }",
        "{ books { author { id } ... @defer { author { reviews { text } name } } } }",
        "{ books { title ... @defer { reviews { text } } ... @defer { reviews { text stars } author { id } } } }",
        "{ books { ...F ...F @defer } } fragment F on Book { title reviews { text } }",
        "{ books { ...F @defer } } fragment F on Book { title reviews { text ... @defer { book { title ... @defer { reviews { stars } } } } } }",
        "{ ... @defer { top { text } } books { id } }",
        "{ ... @defer { top { text book { id } } books { title reviews { text } } } books { id } }",
        "{ a: book(id: 1) { ...F } b: book(id: 2) { shelf { books { ...F } } } } fragment F on Book { shelf { name ... @defer { books { reviews { stars } } } } }",
        "{ books { ... @defer { ... @defer { reviews { text } } title } } }",
        "{ books { ... @defer(if: false) { reviews { text } } title } }",
        "{ books { ... @defer { title } id } __typename ... @defer { __schema { queryType { name } } } }",
        "{ book(id: 1) { reviews { text ... @defer { stars book { reviews { text } } } } } }",
        "{ book(id: 1) { ... @defer { a: reviews { text } b: reviews { text } } c: reviews { text } } }",
    ];
    for query in queries {
        let plain = query.replace("@defer(if: false)", "").replace("@defer", "");
        let expected = shop().whole(&plain).await;
        assert_eq!(shop().whole(query).await["data"], expected["data"], "without parts: {query}");
        for form in [IncrementForm::Paths, IncrementForm::Ids] {
            let parts = shop().parts(query, form).await;
            assert_eq!(merged(&parts), expected["data"], "{form:?} {query}: {parts:#?}");
        }
    }
}

#[tokio::test]
async fn nothing_to_wait_for_is_one_answer() {
    let shop = shop();
    for query in [
        "{ books { ... @defer { title author { name } } } }",
        "{ books { ... @defer(if: false) { reviews { text } } } }",
        "query ($d: Boolean = false) { books { ... @defer(if: $d) { reviews { text } } } }",
        "{ books { reviews { text } ... @defer { title reviews { text } } } }",
    ] {
        assert_eq!(shop.parts(query, IncrementForm::Ids).await.len(), 1, "{query}");
    }
    let asked = "query ($d: Boolean = true) { books { ... @defer(if: $d) { reviews { text } } } }";
    assert_eq!(shop.parts(asked, IncrementForm::Ids).await.len(), 2);
}

#[tokio::test]
async fn an_error_stays_in_its_part() {
    let failing = "{ book(id: 3) { title author { id ... @defer { name reviews { text } } } } }";
    let parts = shop().parts(failing, IncrementForm::Paths).await;
    let entry = &parts[1]["incremental"][0];
    assert_eq!(entry["data"], json!({"name": "Ann", "reviews": null}), "{parts:#?}");
    assert_eq!(entry["errors"][0]["path"], json!(["book", "author", "reviews"]));
    assert!(parts[0].get("errors").is_none());

    let bubbling = "{ book(id: 9) { id ... @defer { title rating { stars } } } }";
    let parts = shop().parts(bubbling, IncrementForm::Paths).await;
    let entry = &parts[1]["incremental"][0];
    assert_eq!((&entry["path"], &entry["data"]), (&json!(["book"]), &Value::Null));
    assert_eq!(entry["errors"][0]["path"], json!(["book", "title"]));
    let parts = shop().parts(bubbling, IncrementForm::Ids).await;
    assert!(parts[1].get("incremental").is_none(), "{parts:#?}");
    assert_eq!(parts[1]["completed"][0]["errors"][0]["path"], json!(["book", "title"]));

    let root = "{ books { id } ... @defer { worst { text } } }";
    let parts = shop().parts(root, IncrementForm::Ids).await;
    assert_eq!(parts[0]["data"]["books"][0], json!({"id": 1}));
    assert_eq!(parts[1]["completed"][0]["errors"][0]["path"], json!(["worst"]));
}

#[tokio::test]
async fn a_null_takes_the_parts_below_it_along() {
    let query = "{ a: book(id: 9) { title ... @defer { reviews { text } } } b: book(id: 1) { id ... @defer { reviews { text } } } }";
    for form in [IncrementForm::Paths, IncrementForm::Ids] {
        let parts = shop().parts(query, form).await;
        assert_eq!(parts[0]["data"]["a"], Value::Null);
        assert_eq!(merged(&parts), shop().whole(&query.replace("@defer", "")).await["data"]);
        assert_eq!(parts[1]["incremental"].as_array().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn parts_of_a_mutation_follow_it() {
    let query = "mutation { write(id: 1) { title ... @defer { reviews { text } } } }";
    let parts = shop().parts(query, IncrementForm::Paths).await;
    assert_eq!(parts[0]["data"], json!({"write": {"title": "Book 1"}}));
    assert_eq!(parts[1]["incremental"][0]["path"], json!(["write"]));
}

#[tokio::test]
async fn a_client_that_goes_away_takes_its_fetches_along() {
    let shop = shop();
    shop.ask_and_go("{ books { ... @defer { reviews { text } } } }").await;
    assert!(shop.reviews.asked().is_empty(), "nothing was answered");
}

#[tokio::test]
async fn so_many_fragments_come_later_and_the_others_at_once() {
    let places: String = (0..40).map(|it| format!("a{it}: book(id: {it}) {{ ...F }} ")).collect();
    let query = format!(
        "{{ {places} }} fragment F on Book {{ id ... @defer {{ reviews {{ text }} }} author {{ ... @defer {{ reviews {{ stars }} }} }} }}"
    );
    let nested = format!(
        "{{ book(id: 1) {{ id {} rating {{ stars }} {} }} }}",
        "... @defer { ".repeat(40),
        "}".repeat(40)
    );
    let refused = format!("{{ book(id: 1) {{ {} }} }}", "... @defer { reviews { text } } ".repeat(2000));
    assert_eq!(
        shop().parts(&refused, IncrementForm::Ids).await[0]["errors"][0]["extensions"]["code"],
        "LIMIT_DIRECTIVES"
    );
    for query in [query, nested] {
        let expected = shop().whole(&query.replace("@defer", "")).await;
        for form in [IncrementForm::Paths, IncrementForm::Ids] {
            let parts = shop().parts(&query, form).await;
            assert!(parts.len() > 1, "{parts:#?}");
            assert_eq!(merged(&parts), expected["data"]);
        }
    }
}

#[tokio::test]
async fn plans_in_parts_are_plans_of_their_own() {
    let shop = shop();
    let query = "{ books { ... @defer { reviews { text } } } }";
    assert!(shop.whole(query).await["data"]["books"][0]["reviews"].is_array());
    assert_eq!(shop.parts(query, IncrementForm::Paths).await.len(), 2);
    assert!(shop.whole(query).await["data"]["books"][0]["reviews"].is_array());
    let other = engine(&[Documents::new("a", "type Query { a: Int }", |_, _| Ok(json!(1)))], &[]);
    let request = Request {
        increments: Some(IncrementForm::Ids),
        ..Request::new("{ ... @defer { a } }", Instant::now() + Duration::from_secs(5))
    };
    let body = other.execute(request, &other.caller(&Identity::admin())).await.body;
    assert!(matches!(body, Body::Increments { .. }), "root fields of a deferred fragment are asked apart");
}
