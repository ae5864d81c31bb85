//! Nobody gets over the wall by Hasura's API, on SQLite and on PostgreSQL.

use crate::postgres_kit::database;
use crate::postgres_kit::hand::Hand;
use crate::postgres_kit::release::on_one_release;
use crate::wall_kit::ask::{Asker, Rules};
use crate::wall_kit::shelf::{self, SHELF};
use crate::wall_kit::{Wall, Walled, sorted};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use weir_engine::caller::Identity;
use weir_engine::engine::{Body, Engine, Request};

use weir_database::frontend::ApiFrontend;
use weir_database::postgres::PostgresSource;
use weir_database::sqlite::SqliteSource;
use weir_hasura::api::generate;
use weir_hasura::model::{Model, ModelOptions};
use weir_hasura::permission::Permissions;
use weir_language::ast::OperationKind;
use weir_language::schema::Schema;
use weir_metadata::document::table::TableEntry;
use weir_postgres::Settings;
use weir_postgres::introspect::{Functions, ReadRelations, Shards, assemble, questions, schemas_array};
use weir_relational::catalog::{Catalog, TableId};
use weir_sqlite::connection::Tuning;
use weir_sqlite::introspect::SqliteOptions;

/// Operations for each table and database; `WEIR_WALL_CASES` asks for more.
const CASES: u64 = 500;

/// Tables, without foreign keys: rows of an empty table may be referred to.
pub(crate) const TABLES: &str = "
CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, born INTEGER, mentor_id INTEGER);
CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, author_id INTEGER NOT NULL, pages INTEGER, price INTEGER);
CREATE TABLE review (id INTEGER PRIMARY KEY, book_id INTEGER NOT NULL, author_id INTEGER, stars INTEGER, words TEXT);
CREATE TABLE tag (id INTEGER PRIMARY KEY, label TEXT NOT NULL UNIQUE);
CREATE TABLE book_tag (book_id INTEGER NOT NULL, tag_id INTEGER NOT NULL, weight INTEGER, PRIMARY KEY (book_id, tag_id));
";

/// Foreign keys of PostgreSQL.
const KEYS: &str = "
ALTER TABLE author ADD FOREIGN KEY (mentor_id) REFERENCES author;
ALTER TABLE book ADD FOREIGN KEY (author_id) REFERENCES author;
ALTER TABLE review ADD FOREIGN KEY (book_id) REFERENCES book, ADD FOREIGN KEY (author_id) REFERENCES author;
ALTER TABLE book_tag ADD FOREIGN KEY (book_id) REFERENCES book, ADD FOREIGN KEY (tag_id) REFERENCES tag;
";

/// Lets rows refer to rows that are not there.
pub(crate) const NOT_ENFORCED: &str = "
ALTER TABLE author DISABLE TRIGGER ALL;
ALTER TABLE book DISABLE TRIGGER ALL;
ALTER TABLE review DISABLE TRIGGER ALL;
ALTER TABLE tag DISABLE TRIGGER ALL;
ALTER TABLE book_tag DISABLE TRIGGER ALL;
";

pub(crate) const CLEAR: &str =
    "DELETE FROM book_tag; DELETE FROM review; DELETE FROM book; DELETE FROM author; DELETE FROM tag;";

pub(crate) const ROWS: &str = "
INSERT INTO author VALUES (1, 'a', 1950, NULL), (2, 'b', 1960, 1), (3, 'a', NULL, 1), (4, 'b c', 3, 2), (5, 'c', 7, 2);
INSERT INTO book VALUES (1, 'a', 1, 100, 5), (2, 'b', 1, NULL, 3), (3, 'b c', 2, 7, NULL), (4, 'a', 3, 4, 8),
  (5, 'c', 5, 3, 2), (6, 'a', 5, 3, 1), (7, 'b', 2, 8, 8);
INSERT INTO review VALUES (1, 1, 2, 5, 'a b'), (2, 1, 3, 3, NULL), (3, 2, NULL, 1, 'b'), (4, 4, 1, 4, 'a'),
  (5, 6, 5, 2, 'c'), (6, 7, 2, 0, 'b c'), (7, 3, 4, 4, 'a');
INSERT INTO tag VALUES (1, 'a'), (2, 'b'), (3, 'c');
INSERT INTO book_tag VALUES (1, 1, 2), (1, 2, NULL), (2, 1, 5), (3, 3, 1), (4, 2, 7), (5, 1, 3), (7, 3, 8);
";

/// A table by name, the key of its rows, and all of a row as text.
const HIDDEN: &[(&str, &str)] = &[
    ("author", "id || ',' || name || ',' || coalesce(born, -1) || ',' || coalesce(mentor_id, -1)"),
    (
        "book",
        "id || ',' || title || ',' || author_id || ',' || coalesce(pages, -1) || ',' || coalesce(price, -1)",
    ),
    ("review", "id || ',' || book_id || ',' || coalesce(author_id, -1) || ',' || coalesce(stars, -1)"),
    ("tag", "id || ',' || label"),
    ("book_tag", "book_id || ',' || tag_id || ',' || coalesce(weight, -1)"),
];

pub(crate) const RULES: Rules = Rules {
    orders: &[
        ("author_order_by", "{id: asc}"),
        ("book_order_by", "{id: asc}"),
        ("review_order_by", "{id: asc}"),
        ("tag_order_by", "{id: asc}"),
        ("book_tag_order_by", "{book_id: asc, tag_id: asc}"),
    ],
    key: "id",
    cascades: false,
    nulls: false,
    references: false,
    // Groups have no complete order, and the first columns of an order would have to be those of `distinct_on`.
    without: &[
        "distinct_on",
        "author_group_by",
        "book_group_by",
        "review_group_by",
        "tag_group_by",
        "book_tag_group_by",
    ],
};

/// Relationships in both directions, by columns.
pub(crate) const ENTRIES: &str = r#"[
{"table": "author", "object_relationships": [{"name": "mentor", "using": {"manual_configuration": {"remote_table": "author", "column_mapping": {"mentor_id": "id"}}}}],
 "array_relationships": [
  {"name": "books", "using": {"manual_configuration": {"remote_table": "book", "column_mapping": {"id": "author_id"}}}},
  {"name": "pupils", "using": {"manual_configuration": {"remote_table": "author", "column_mapping": {"id": "mentor_id"}}}},
  {"name": "reviews", "using": {"manual_configuration": {"remote_table": "review", "column_mapping": {"id": "author_id"}}}}]},
{"table": "book", "object_relationships": [{"name": "author", "using": {"manual_configuration": {"remote_table": "author", "column_mapping": {"author_id": "id"}}}}],
 "array_relationships": [
  {"name": "reviews", "using": {"manual_configuration": {"remote_table": "review", "column_mapping": {"id": "book_id"}}}},
  {"name": "tags", "using": {"manual_configuration": {"remote_table": "book_tag", "column_mapping": {"id": "book_id"}}}}]},
{"table": "review", "object_relationships": [
  {"name": "book", "using": {"manual_configuration": {"remote_table": "book", "column_mapping": {"book_id": "id"}}}},
  {"name": "critic", "using": {"manual_configuration": {"remote_table": "author", "column_mapping": {"author_id": "id"}}}}]},
{"table": "tag", "array_relationships": [{"name": "books", "using": {"manual_configuration": {"remote_table": "book_tag", "column_mapping": {"id": "tag_id"}}}}]},
{"table": "book_tag", "object_relationships": [
  {"name": "book", "using": {"manual_configuration": {"remote_table": "book", "column_mapping": {"book_id": "id"}}}},
  {"name": "tag", "using": {"manual_configuration": {"remote_table": "tag", "column_mapping": {"tag_id": "id"}}}}]}
]"#;

/// Root fields that rows of another source lead to.
pub(crate) const JOINS: &[(&str, &str)] = &[
    ("author_by_pk", "(id: $this.number)"),
    ("author", "(where: {mentor_id: {_eq: $this.number}})"),
    ("author_aggregate", "(where: {born: {_gt: $this.number}})"),
    ("book_by_pk", "(id: $this.number)"),
    ("book", "(where: {author_id: {_eq: $this.number}})"),
    ("book_aggregate", "(where: {title: {_eq: $this.text}})"),
    ("review_by_pk", "(id: $this.number)"),
    ("review", "(where: {stars: {_eq: $this.number}})"),
    ("review_aggregate", "(where: {book_id: {_lte: $this.number}})"),
    ("tag_by_pk", "(id: $this.number)"),
    ("tag", "(where: {label: {_eq: $this.text}})"),
    ("tag_aggregate", "(where: {label: {_neq: $this.text}})"),
    ("book_tag_by_pk", "(book_id: $this.number, tag_id: 1)"),
    ("book_tag", "(where: {tag_id: {_eq: $this.number}})"),
    ("book_tag_aggregate", "(where: {weight: {_gte: $this.number}})"),
];

/// One of the two databases.
struct Side {
    engine: Engine,
    schema: Arc<Schema>,
    /// Runs statements beside the source; gives the first column of the first row.
    beside: Box<dyn FnMut(&str) -> String>,
}

pub(crate) fn cases() -> u64 {
    std::env::var("WEIR_WALL_CASES").ok().and_then(|it| it.parse().ok()).unwrap_or(CASES)
}

/// The front end. Unless keys are `enforced`, nothing is concluded from them.
fn api(catalog: Catalog, is_named: bool, enforced: bool) -> Arc<dyn ApiFrontend> {
    let entries: Vec<TableEntry> = serde_json::from_str(ENTRIES).unwrap();
    let tables = if is_named { &entries[..] } else { &[] };
    let options = ModelOptions { tables, ..ModelOptions::default() };
    let (mut model, _) = Model::build(catalog, options, &mut |_| Err("none".into()));
    model.relations.relationships.iter_mut().for_each(|it| it.enforced &= enforced);
    Arc::new(generate(model, Permissions::default()).unwrap())
}

fn walled(inner: Arc<dyn ApiFrontend>, table: &str, hides: bool) -> Arc<Walled> {
    let at: TableId = inner.relations().catalog.find("", table).unwrap();
    let wall = if hides { Wall::hiding(at) } else { Wall::open(at) };
    Arc::new(Walled { inner, policy: Arc::new(wall) })
}

/// A database in a file; `hides`: with the wall and all rows, else without rows in `table`.
fn on_sqlite(table: &str, hides: bool) -> (Side, PathBuf) {
    let name = format!("weir-wall-{}-{table}-{hides}.db", std::process::id());
    let path = std::env::temp_dir().join(name);
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF").unwrap();
    connection.execute_batch(TABLES).unwrap();
    let (catalog, _) = weir_sqlite::introspect::read(&connection, SqliteOptions::default()).unwrap();
    let frontend = walled(api(catalog, true, false), table, hides);
    let source = SqliteSource::new("main", frontend, &path, Tuning::USUAL).unwrap();
    let engine = shelf::engine(Arc::new(source), JOINS);
    let beside = move |sql: &str| {
        if sql.starts_with("SELECT") {
            connection.query_row(sql, [], |row| row.get(0)).unwrap()
        } else {
            connection.execute_batch(sql).unwrap();
            String::new()
        }
    };
    let schema = Arc::clone(engine.schema());
    (Side { engine, schema, beside: Box::new(beside) }, path)
}

/// The same in PostgreSQL.
fn on_postgres(runtime: &'static Runtime, table: &str, hides: bool, enforced: bool) -> Side {
    let made = database(&[TABLES, KEYS, if enforced && hides { "" } else { NOT_ENFORCED }].concat());
    let schemas = schemas_array(&["public".to_owned()]);
    let answers = questions(Functions::Read, Shards::None, ReadRelations::Own)
        .map(|it| made.rows(&format!("PREPARE q(text[]) AS {it}; EXECUTE q('{schemas}')")));
    let rows =
        answers.each_ref().map(|answer| answer.iter().map(|row| row.iter().map(Option::as_deref)).collect());
    let frontend = walled(api(assemble(rows).0, false, hides && enforced), table, hides);
    let settings = Settings::parse(&made.socket_url(), |_| None).unwrap();
    let opening = PostgresSource::new("main", frontend, settings, Duration::from_secs(60));
    let source = runtime.block_on(opening).unwrap();
    let engine = shelf::engine(Arc::new(source), JOINS);
    let mut hand = runtime.block_on(Hand::new(&made));
    let beside = move |sql: &str| {
        let statements = sql.split(';').map(str::trim).filter(|it| !it.is_empty());
        statements.map(|it| runtime.block_on(hand.run(it))).last().unwrap_or_default()
    };
    let schema = Arc::clone(engine.schema());
    Side { engine, schema, beside: Box::new(beside) }
}

impl Side {
    fn fill(&mut self, without: Option<&str>) {
        (self.beside)(CLEAR);
        (self.beside)(ROWS);
        if let Some(table) = without {
            (self.beside)(&format!("DELETE FROM {table}"));
        }
    }

    fn ask(&self, runtime: &Runtime, operation: &str) -> String {
        let request = Request::new(operation, Instant::now() + Duration::from_secs(60));
        let body =
            runtime.block_on(self.engine.execute(request, &self.engine.caller(&Identity::admin()))).body;
        let bytes = match body {
            Body::Whole(bytes) => bytes,
            Body::Shared(bytes) => bytes.into(),
            Body::Stream { .. } | Body::Increments { .. } => {
                panic!("{operation}: so small an answer is streamed")
            }
        };
        String::from_utf8(bytes).unwrap()
    }
}

/// Asks both sides; `hidden` is the text of a row of `table`.
fn check(
    runtime: &Runtime,
    [behind, empty]: [&mut Side; 2],
    (table, hidden): (&str, &str),
    mutates: bool,
) -> [u64; 2] {
    let mut changed = true;
    let mut answered = [0, 0];
    let of_rows = |prefix: &str| format!("SELECT {prefix} FROM {table}");
    for seed in 0..cases() {
        let is_mutation = mutates && seed % 3 == 2;
        if changed {
            behind.fill(None);
            empty.fill(Some(table));
        }
        changed = is_mutation;
        let kind = if is_mutation { OperationKind::Mutation } else { OperationKind::Query };
        let is_joined = !is_mutation && seed % 4 == 1;
        let focus = if is_joined { SHELF } else { table };
        let mut asker = Asker::new(&behind.schema, seed + 1, &RULES, focus);
        let operation = asker.operation(kind).unwrap();
        let inserts = asker.inputs.iter().any(|it| it == &format!("{table}_insert_input"));
        let before = rows(behind, &of_rows, hidden);
        let found = behind.ask(runtime, &operation);
        let expected = empty.ask(runtime, &operation);
        // A new row can meet the key of a hidden one, which an empty table does not have.
        if !inserts {
            assert_eq!(sorted(&found), sorted(&expected), "seed {seed} against {table}: {operation}");
        }
        if is_mutation {
            let after = rows(behind, &of_rows, hidden);
            let lost: Vec<&String> = before.iter().filter(|it| !after.contains(it)).collect();
            assert!(lost.is_empty(), "seed {seed}: {operation} changed {lost:?} of {table}");
        }
        let is_error = expected.contains("\"errors\"");
        answered[usize::from(is_mutation)] += u64::from(!is_error);
    }
    answered
}

/// The rows of the hidden table.
fn rows(side: &mut Side, of: &dyn Fn(&str) -> String, hidden: &str) -> Vec<String> {
    let all =
        (side.beside)(&of(&format!("CAST(count(*) AS text) || '|' || coalesce(LIST({hidden}, '|'), '')")));
    all.split('|').skip(1).map(str::to_owned).collect()
}

fn run(mutates: bool, side: impl Fn(&'static Runtime, &str, bool) -> Side) {
    static RUNTIME: std::sync::OnceLock<Runtime> = std::sync::OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| Runtime::new().unwrap());
    let mut all = [0, 0];
    for (table, hidden) in HIDDEN {
        let mut behind = side(runtime, table, true);
        let mut empty = side(runtime, table, false);
        let answered = check(runtime, [&mut behind, &mut empty], (table, hidden), mutates);
        all[0] += answered[0];
        all[1] += answered[1];
    }
    println!("answered without an error: {} queries, {} mutations", all[0], all[1]);
    let tables = HIDDEN.len() as u64;
    assert!(
        all[0] * 3 > cases() * tables && (!mutates || all[1] * 12 > cases() * tables),
        "too many errors: {all:?}"
    );
}

#[test]
fn nobody_gets_over_the_wall_on_sqlite() {
    let paths = std::sync::Mutex::new(Vec::new());
    run(true, |_, table, hides| {
        let (mut side, path) = on_sqlite(table, hides);
        paths.lock().unwrap().push(path);
        let mut inner = std::mem::replace(&mut side.beside, Box::new(|_| String::new()));
        side.beside = Box::new(move |sql| inner(&sql.replace("LIST(", "group_concat(")));
        side
    });
    for path in paths.into_inner().unwrap() {
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", path.display()));
        }
    }
}

fn run_on_postgres(enforced: bool) {
    run(!enforced, |runtime, table, hides| {
        let mut side = on_postgres(runtime, table, hides, enforced);
        let mut inner = std::mem::replace(&mut side.beside, Box::new(|_| String::new()));
        side.beside = Box::new(move |sql| inner(&sql.replace("LIST(", "string_agg(")));
        side
    });
}

#[test]
fn nobody_gets_over_the_wall_on_postgres() {
    on_one_release("wall", || run_on_postgres(false));
}

/// Related rows that are certain are still looked up where they may be hidden.
#[test]
fn nobody_sees_over_the_wall_by_keys_that_are_enforced() {
    on_one_release("wall of keys", || run_on_postgres(true));
}
