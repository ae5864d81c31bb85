//! Structs of Rust through the whole engine: written by their own code and by way of rows, the answers are the same.

use futures_util::FutureExt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::compose::{Graph, Join};
use weir_engine::engine::{Body, Engine, Request, Settings};
use weir_engine::memory::{Memory, RawJson, Value};
use weir_engine::source::{FieldError, Source};
use weir_engine::{one_of, record};
use weir_language::json::Json;
use weir_language::schema::Schema;

const SDL: &str = r"
type Query {
  books: [Book!]!
  maybe: [Book]
  hits(term: String = any, first: Int!): [Hit]
  named: Named
  grid: [[Int!]]
  shelf: Shelf
}
interface Named { name: String! }
type Book implements Named {
  name: String! year: Int pages: Int! price: Float sold: Boolean! genre: Genre by: Author tags: [String!]! extra: Json
  sequels: [Book!]! lent: Int!
}
type Author implements Named { name: String! born: Long }
union Hit = Book | Author
type Shelf { label: String! }
enum Genre { CRIME POETRY }
scalar Json
scalar Long
";

#[derive(Clone)]
struct Book {
    name: String,
    year: Option<i32>,
    pages: Option<i32>,
    price: f64,
    sold: bool,
    genre: &'static str,
    by: Option<Arc<Author>>,
    tags: Vec<String>,
    sequels: Vec<Book>,
}
record!(Book {
    name,
    year,
    pages,
    price,
    sold,
    genre,
    by,
    tags,
    sequels,
    extra = |book| RawJson(format!("{{\"len\":{}}}", book.name.len()).into()),
    lent = |book| if book.sold { Err(gone()) } else { Ok(3) },
});

struct Writer {
    name: String,
    born: i64,
}
type Author = Writer;
record!(Writer as "Author" { name, born });

enum Hit {
    Book(Book),
    Author(Arc<Author>),
}
one_of!(Hit { Book, Author });

fn gone() -> FieldError {
    FieldError { code: "GONE", message: "sold \"out\"".into(), hasura_path: None, extensions: None }
}

fn book(name: &str) -> Book {
    Book {
        name: name.into(),
        year: None,
        pages: Some(7),
        price: 1.5,
        sold: false,
        genre: "CRIME",
        by: Some(Arc::new(Author { name: "Ada".into(), born: 1 << 40 })),
        tags: vec!["a".into(), "b\n".into()],
        sequels: Vec::new(),
    }
}

fn schema(sdl: &str) -> Arc<Schema> {
    Arc::new(Schema::from_sdl(&sdl.replace("String = any", "String = \"any\"")).unwrap())
}

fn engine(books: fn() -> Vec<Book>, as_rows: bool) -> Engine {
    let source = Memory::new("memory", schema(SDL))
        .field("books", move |_| books())
        .field("maybe", move |_| books().into_iter().map(Some).chain([None]).collect::<Vec<_>>())
        .field("hits", |call| {
            let term = call.argument("term");
            let first = call.argument("first");
            let Some(Value::Text(term)) = term else { panic!("the term has a default") };
            let Some(Value::Int(first)) = first else { panic!("the number is required") };
            let hits = [
                Some(Hit::Book(book(&term))),
                None,
                Some(Hit::Author(Arc::new(Author { name: term.to_string(), born: 2 }))),
            ];
            hits.into_iter().take(first as usize).collect::<Vec<_>>()
        })
        .field("named", |_| book("one of several"))
        .field("grid", |_| vec![Some(vec![1, 2]), None, Some(vec![])]);
    let source = if as_rows { source.always_rows() } else { source };
    engine_of(vec![Arc::new(source)], &[])
}

fn engine_of(sources: Vec<Arc<dyn Source>>, joins: &[Join]) -> Engine {
    let graph = match Graph::compose(sources, joins) {
        Ok(graph) => graph,
        Err(errors) => panic!("{errors:?}"),
    };
    let settings = Settings::STANDARD;
    Engine::new(graph, settings)
}

fn answer(engine: &Engine, query: &str, variables: &str) -> String {
    let json = Json::parse(variables.as_bytes(), 100).unwrap();
    let request = Request {
        variables: Some(json.root()),
        ..Request::new(query, Instant::now() + Duration::from_secs(60))
    };
    match engine.execute(request, &engine.caller(&Identity::admin())).now_or_never().unwrap().body {
        Body::Whole(bytes) => String::from_utf8(bytes).unwrap(),
        Body::Shared(_) | Body::Stream { .. } | Body::Increments { .. } => panic!("memory does not stream"),
    }
}

fn check(books: fn() -> Vec<Book>, query: &str, variables: &str, expected: &str) {
    for as_rows in [false, true] {
        assert_eq!(answer(&engine(books, as_rows), query, variables), expected, "as rows: {as_rows}");
    }
}

fn two() -> Vec<Book> {
    let first = Book { sequels: vec![book("II"), book("III")], year: Some(1999), ..book("I \"quoted\"") };
    vec![first, Book { by: None, tags: Vec::new(), genre: "POETRY", ..book("Other") }]
}

#[test]
fn every_kind_of_field_is_written() {
    check(
        two,
        "{ books { name year pages price sold genre tags extra lent by { name born __typename } sequels { name } } grid }",
        "{}",
        r#"{"data":{"books":[{"name":"I \"quoted\"","year":1999,"pages":7,"price":1.5,"sold":false,"genre":"CRIME","tags":["a","b\n"],"extra":{"len":10},"lent":3,"by":{"name":"Ada","born":1099511627776,"__typename":"Author"},"sequels":[{"name":"II"},{"name":"III"}]},{"name":"Other","year":null,"pages":7,"price":1.5,"sold":false,"genre":"POETRY","tags":[],"extra":{"len":5},"lent":3,"by":null,"sequels":[]}],"grid":[[1,2],null,[]]}}"#,
    );
}

#[test]
fn variants_are_told_apart() {
    check(
        two,
        "query ($n: Int!) { hits(first: $n) { __typename ... on Named { name } ... on Author { born } ... on Book { pages } } \
         named { name ... on Book { year } ... on Author { born } } }",
        "{\"n\": 3}",
        r#"{"data":{"hits":[{"__typename":"Book","name":"any","pages":7},null,{"__typename":"Author","name":"any","born":2}],"named":{"name":"one of several","year":null}}}"#,
    );
    check(
        two,
        "{ hits(term: \"x\", first: 1) { ... on Book { name } } }",
        "{}",
        r#"{"data":{"hits":[{"name":"x"}]}}"#,
    );
}

#[test]
fn a_field_without_a_resolver_is_null() {
    check(two, "{ shelf { label } }", "{}", r#"{"data":{"shelf":null}}"#);
}

#[test]
fn nulls_and_errors_bubble_to_what_may_be_null() {
    let some_are_bad: fn() -> Vec<Book> = || {
        vec![
            book("good"),
            Book { pages: None, ..book("a") },
            Book { price: f64::NAN, sold: true, ..book("b") },
        ]
    };
    check(
        some_are_bad,
        "{ maybe { name price pages lent } }",
        "{}",
        r#"{"errors":[{"message":"Cannot return null for non-nullable field Book.pages.","locations":[{"line":1,"column":22}],"path":["maybe",1,"pages"],"extensions":{"code":"NULL_FOR_NON_NULL"}},{"message":"Float cannot represent non numeric value: NaN","locations":[{"line":1,"column":16}],"path":["maybe",2,"price"],"extensions":{"code":"FLOAT_RANGE"}},{"message":"sold \"out\"","locations":[{"line":1,"column":28}],"path":["maybe",2,"lent"],"extensions":{"code":"GONE"}}],"data":{"maybe":[{"name":"good","price":1.5,"pages":7,"lent":3},null,null,null]}}"#,
    );
    check(
        || vec![Book { genre: "PROSE", ..book("c") }, Book { pages: None, ..book("a") }],
        "{ books { genre pages } grid }",
        "{}",
        r#"{"errors":[{"message":"Enum \"Genre\" cannot represent value: \"PROSE\"","locations":[{"line":1,"column":11}],"path":["books",0,"genre"],"extensions":{"code":"ENUM_VALUE"}},{"message":"Cannot return null for non-nullable field Book.pages.","locations":[{"line":1,"column":17}],"path":["books",1,"pages"],"extensions":{"code":"NULL_FOR_NON_NULL"}}],"data":null}"#,
    );
}

#[test]
fn a_type_that_does_not_fit_the_schema_is_refused_while_planning() {
    let source = Memory::new(
        "memory",
        schema("type Query { count: Int! other: String books: Book } type Book { missing: Int }"),
    )
    .field("count", |_| "text".to_owned())
    .field("books", |_| book("x"));
    let engine = engine_of(vec![Arc::new(source)], &[]);
    assert_eq!(
        answer(&engine, "{ count }", "{}"),
        r#"{"errors":[{"message":"`count` is `Int!`, not text","locations":[{"line":1,"column":3}],"extensions":{"code":"INTERNAL"}}]}"#
    );
    assert_eq!(
        answer(&engine, "{ books { missing } }", "{}"),
        r#"{"errors":[{"message":"`Book` has no field `missing`","locations":[{"line":1,"column":11}],"extensions":{"code":"INTERNAL"}}]}"#
    );
    assert_eq!(answer(&engine, "{ other }", "{}"), r#"{"data":{"other":null}}"#);
}

#[test]
fn records_give_keys_to_children_of_another_source_and_answer_as_such() {
    struct Row {
        id: i32,
        owner: Option<i32>,
    }
    record!(Row { id, owner });
    struct Person {
        id: i32,
        name: String,
    }
    record!(Person { id, name });
    let rows = Memory::new("rows", schema("type Query { rows: [Row!]! } type Row { id: Int! owner: Int }"))
        .field("rows", |_| {
            [(1, Some(7)), (2, None), (3, Some(8)), (4, Some(7))]
                .map(|(id, owner)| Row { id, owner })
                .into_iter()
                .collect::<Vec<_>>()
        });
    let people = Memory::new(
        "people",
        schema("type Query { person(id: Int!): Person } type Person { id: Int! name: String! }"),
    )
    .field_many("person", |calls| {
        assert_eq!(calls.len(), 2, "keys are unique and asked in one call");
        let ids = calls.iter().map(|call| match call.argument("id") {
            Some(Value::Int(id)) => id as i32,
            other => panic!("{other:?}"),
        });
        ids.map(|id| (id == 7).then(|| Person { id, name: format!("P{id}") })).collect()
    });
    let join = Join {
        on: "Row".into(),
        name: "person".into(),
        description: String::new(),
        source: "people".into(),
        target: "person".into(),
        arguments: "(id: $this.owner)".into(),
    };
    let engine = engine_of(vec![Arc::new(rows), Arc::new(people)], &[join]);
    assert_eq!(
        answer(&engine, "{ rows { id person { name id } } }", "{}"),
        r#"{"data":{"rows":[{"id":1,"person":{"name":"P7","id":7}},{"id":2,"person":null},{"id":3,"person":null},{"id":4,"person":{"name":"P7","id":7}}]}}"#
    );
}

#[test]
fn mutations_run_in_turn_and_one_that_fails_is_null_with_its_error() {
    let calls = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = Arc::clone(&calls);
    let add = move |call: &weir_engine::memory::Call<'_>| {
        let Some(Value::Text(title)) = call.argument("title") else { panic!("the title is required") };
        let mut calls = seen.lock().unwrap();
        calls.push(title.to_string());
        match &*title {
            "bad" => Err(gone()),
            _ => Ok(calls.len() as i32),
        }
    };
    let sdl =
        "type Query { none: Int } type Mutation { add(title: String!): Int sure(title: String!): Int! }";
    for as_rows in [false, true] {
        calls.lock().unwrap().clear();
        let source = Memory::new("memory", schema(sdl)).field("add", add.clone()).field("sure", add.clone());
        let source = if as_rows { source.always_rows() } else { source };
        let engine = engine_of(vec![Arc::new(source)], &[]);
        let query = r#"mutation ($t: String!) { a: add(title: "x") add(title: $t) again: add(title: "x") sure(title: "z") }"#;
        assert_eq!(
            answer(&engine, query, r#"{"t": "bad"}"#),
            r#"{"errors":[{"message":"sold \"out\"","locations":[{"line":1,"column":45}],"path":["add"],"extensions":{"code":"GONE","committed":["a","again","sure"]}}],"data":{"a":1,"add":null,"again":3,"sure":4}}"#
        );
        assert_eq!(*calls.lock().unwrap(), ["x", "bad", "x", "z"], "as rows: {as_rows}");
        let sure = answer(&engine, r#"mutation { sure(title: "bad") }"#, "{}");
        assert!(sure.contains(r#""data":null"#) && sure.contains("GONE"), "{sure}");
    }
}
