//! Nobody gets over the wall by Dgraph's API, on SQLite and on PostgreSQL.

use crate::kit::{answer, engine};
use crate::postgres_kit::database;
use crate::wall_kit::ask::{Asker, Rules};
use crate::wall_kit::{Wall, sorted};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::runtime::Runtime;
use weir_engine::engine::Engine;
use weir_language::ast::OperationKind;
use weir_language::schema::Schema;
use weir_native::compile::Native;
use weir_native::layout::Database;
use weir_native::store::{Place, Types, bring};
use weir_postgres::Settings;
use weir_sql::frontend::ApiFrontend;
use weir_sql::postgres::PostgresSource;
use weir_sql::sqlite::SqliteSource;
use weir_sql::sqlite::connection::Tuning;

/// Operations for each type on SQLite; `WEIR_WALL_CASES` asks for more.
const CASES: u64 = 800;
/// The same on PostgreSQL, whose stores take longer to make.
const POSTGRES_CASES: u64 = 200;
/// Operations on one pair of stores: mutations change both, until new ones are made.
const CASES_PER_STORE: u64 = 40;

const TYPES: &str = "
type Author { id: ID!, name: String! @search(by: [hash, term]), born: Int @search, mentor: Author,
  books: [Book] @hasInverse(field: author), critiques: [Review] @hasInverse(field: critic) }
type Book { id: ID!, title: String! @search(by: [exact, fulltext]), pages: Int @search, notes: [String],
  author: Author, reviews: [Review] @hasInverse(field: book), tags: [Tag] @hasInverse(field: books) }
type Review { id: ID!, stars: Int @search, words: String @search(by: [fulltext]), book: Book, critic: Author }
type Tag { label: String! @id, weight: Int @search, books: [Book] }
";

const FILL: &[&str] = &[
    r#"mutation { addAuthor(input: [{name: "a", born: 3}, {name: "b"}, {name: "b c", born: 7}, {name: "c", born: 1}]) { numUids } }"#,
    r#"mutation { addTag(input: [{label: "a", weight: 2}, {label: "b"}, {label: "c", weight: 5}]) { numUids } }"#,
    r#"mutation { addBook(input: [
      {title: "a", pages: 3, author: {id: "0x1"}, tags: [{label: "a"}, {label: "b"}], notes: ["a"],
       reviews: [{stars: 5, words: "a b", critic: {id: "0x2"}}, {stars: 3, critic: {id: "0x3"}}]},
      {title: "b", author: {id: "0x1"}, tags: [{label: "c"}], reviews: [{stars: 1, words: "b"}]},
      {title: "b c", pages: 7, author: {id: "0x2"}, notes: ["b", "c"]},
      {title: "c", pages: 8, author: {id: "0x4"}, tags: [{label: "a"}], reviews: [{stars: 4, words: "c", critic: {id: "0x1"}}]},
      {title: "a", pages: 2}]) { numUids } }"#,
    r#"mutation { updateAuthor(input: {filter: {id: ["0x2", "0x3"]}, set: {mentor: {id: "0x1"}}}) { numUids } }"#,
];

/// Pages need a complete order, which only the order of ids is: so a case has pages or an order.
const WITH_PAGES: Rules =
    Rules { orders: &[], key: "id", without: &["order"], cascades: true, references: true };
const WITH_ORDER: Rules =
    Rules { orders: &[], key: "id", without: &["first", "offset"], cascades: true, references: true };

/// One of the two stores.
struct Side {
    engine: Engine,
    schema: Arc<Schema>,
    /// Runs statements beside the source; gives the first column of the first row.
    beside: Box<dyn FnMut(&str) -> String>,
    file: Option<PathBuf>,
}

impl Drop for Side {
    fn drop(&mut self) {
        for end in self.file.iter().flat_map(|_| ["", "-wal", "-shm"]) {
            let _ = std::fs::remove_file(format!("{}{end}", self.file.as_ref().expect("a file").display()));
        }
    }
}

fn cases(usual: u64) -> u64 {
    std::env::var("WEIR_WALL_CASES").ok().and_then(|it| it.parse().ok()).unwrap_or(usual)
}

fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Runtime::new().expect("one starts"))
}

/// The front end behind a wall before `ty`; without one if `ty` is empty.
fn native(database: Database, ty: &str, hides: bool) -> Native {
    let Types { model, layout, .. } = Types::read(TYPES, database).expect("the types are sound");
    let hidden = model.type_ids().find(|it| model.ty(*it).name == ty).map(|it| layout.tables[it.index()]);
    let api = weir_native::api::generate(model).expect("the API is sound");
    match hidden {
        None => Native::new(api, layout, database),
        Some(table) if hides => Native::restricted(api, layout, database, Arc::new(Wall::hiding(table))),
        Some(table) => Native::restricted(api, layout, database, Arc::new(Wall::open(table))),
    }
}

fn fill(engine: &Engine) {
    for mutation in FILL {
        let answer = runtime().block_on(answer(engine, mutation, ""));
        assert!(!answer.contains("errors"), "{answer}");
    }
}

fn on_sqlite(ty: &str, hides: bool) -> Side {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("weir-native-wall-{}-{number}.db", std::process::id()));
    let types = Types::read(TYPES, Database::Sqlite).expect("the types are sound");
    bring(&Place::Sqlite(path.clone()), &types).expect("the store is made");
    let open = |frontend: Native| {
        let source = SqliteSource::new("main", Arc::new(frontend), &path, Tuning::USUAL);
        engine(Arc::new(source.expect("the store is served")))
    };
    fill(&open(native(Database::Sqlite, "", false)));
    let frontend = native(Database::Sqlite, ty, hides);
    let schema = Arc::clone(frontend.schema());
    let connection = rusqlite::Connection::open(&path).expect("the store opens");
    connection.pragma_update(None, "foreign_keys", false).expect("the pragma is known");
    let beside = move |sql: &str| match sql.starts_with("SELECT") {
        true => connection.query_row(sql, [], |row| row.get(0)).expect("it is answered"),
        false => {
            connection.execute_batch(sql).expect("it runs");
            String::new()
        }
    };
    Side { engine: open(frontend), schema, beside: Box::new(beside), file: Some(path.clone()) }
}

fn on_postgres(ty: &str, hides: bool) -> Side {
    let made = database("");
    let settings = Settings::parse(&made.url(), |_| None).expect("a sound address");
    let types = Types::read(TYPES, Database::Postgres).expect("the types are sound");
    bring(&Place::Postgres(Box::new(settings.clone())), &types).expect("the store is made");
    let open = |frontend: Native| {
        let opening =
            PostgresSource::new("main", Arc::new(frontend), settings.clone(), Duration::from_secs(60));
        engine(Arc::new(runtime().block_on(opening).expect("the store is served")))
    };
    fill(&open(native(Database::Postgres, "", false)));
    let frontend = native(Database::Postgres, ty, hides);
    let schema = Arc::clone(frontend.schema());
    let engine = open(frontend);
    let beside = move |sql: &str| match sql.starts_with("SELECT") {
        true => String::from_utf8(made.rows(sql)[0][0].clone().unwrap_or_default()).expect("text"),
        false => {
            made.run(&format!("SET session_replication_role = replica; {sql}"));
            String::new()
        }
    };
    Side { engine, schema, beside: Box::new(beside), file: None }
}

/// A type with what makes texts of its rows; edges to objects that are deleted go, whatever is hidden.
const HIDDEN: &[(&str, &str)] = &[
    ("Author", r#"name || ',' || coalesce(born, -1)"#),
    ("Book", r#"title || ',' || coalesce(pages, -1)"#),
    ("Review", r#"coalesce(stars, -1) || ',' || coalesce(words, '')"#),
    ("Tag", r#"label || ',' || coalesce(weight, -1)"#),
];

/// Asks both sides; gives how many queries and mutations were answered without an error.
fn check(make: impl Fn(&str, bool) -> Side, (ty, row): (&str, &str), list: &str, cases: u64) -> [u64; 2] {
    let rows =
        format!("SELECT CAST(count(*) AS text) || {list} FROM (SELECT {row} AS it FROM \"{ty}\") AS rows");
    let mut answered = [0, 0];
    let mut sides: Option<(Side, Side, String)> = None;
    for seed in 0..cases {
        if seed % CASES_PER_STORE == 0 {
            let (mut behind, mut empty) = (make(ty, true), make(ty, false));
            let hidden = (behind.beside)(&rows);
            (empty.beside)(&format!("DELETE FROM \"{ty}\""));
            sides = Some((behind, empty, hidden));
        }
        let Some((behind, empty, hidden)) = &mut sides else { continue };
        let is_mutation = seed % 3 == 2;
        let kind = if is_mutation { OperationKind::Mutation } else { OperationKind::Query };
        let rules = if seed % 2 == 0 { &WITH_PAGES } else { &WITH_ORDER };
        let mut asker = Asker::new(&behind.schema, seed + 1, rules, ty);
        let operation = asker.operation(kind).expect("there are both roots");
        // An object that is made can meet the key of a hidden one, which an empty type does not have.
        if asker.inputs.iter().any(|it| *it == format!("Add{ty}Input") || *it == format!("{ty}Ref")) {
            continue;
        }
        let ask = |side: &Side| runtime().block_on(answer(&side.engine, &operation, ""));
        let (found, expected) = (ask(behind), ask(empty));
        assert_eq!(sorted(&found), sorted(&expected), "seed {seed} against {ty}: {operation}");
        if is_mutation {
            assert_eq!((behind.beside)(&rows), *hidden, "seed {seed} changed {ty}: {operation}");
        }
        answered[usize::from(is_mutation)] += u64::from(!expected.contains("\"errors\""));
    }
    answered
}

fn run(make: impl Fn(&str, bool) -> Side, list: &str, usual: u64) {
    let cases = cases(usual);
    let mut all = [0, 0];
    for (ty, row) in HIDDEN {
        let answered = check(&make, (ty, row), list, cases);
        all = [all[0] + answered[0], all[1] + answered[1]];
    }
    println!("answered without an error: {} queries, {} mutations", all[0], all[1]);
    let cases = cases * HIDDEN.len() as u64;
    assert!(all[0] * 3 > cases && all[1] * 30 > cases, "too many errors: {all:?}");
}

#[test]
fn nobody_gets_over_the_wall_on_sqlite() {
    run(on_sqlite, "group_concat(it, ';')", CASES);
}

#[test]
fn nobody_gets_over_the_wall_on_postgres() {
    run(on_postgres, "string_agg(it, ';' ORDER BY it)", POSTGRES_CASES);
}
