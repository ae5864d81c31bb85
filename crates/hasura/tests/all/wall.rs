//! Nobody gets over the wall by Hasura's API, on SQLite and on PostgreSQL.

use crate::policy_kit::{Governed, serve_postgres, serve_sqlite};
use crate::postgres_kit::release::on_one_release;
use crate::wall_kit::ask::{Asker, Rules};
use crate::wall_kit::shelf::{self, SHELF};
use crate::wall_kit::{Wall, Walled, sorted};
use std::sync::Arc;
use weir_database::frontend::ApiFrontend;
use weir_hasura::api::generate;
use weir_hasura::model::{Model, ModelOptions};
use weir_hasura::permission::Permissions;
use weir_language::ast::OperationKind;
use weir_metadata::document::table::TableEntry;
use weir_relational::catalog::{Catalog, TableId};

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
fn on_sqlite(table: &str, hides: bool) -> Governed {
    let frontend = |catalog| walled(api(catalog, true, false), table, hides) as _;
    listing(serve_sqlite(TABLES, &frontend, &|source| shelf::engine(source, JOINS)), "group_concat(")
}

/// A database in PostgreSQL.
fn on_postgres(table: &str, hides: bool, enforced: bool) -> Governed {
    let sql = [TABLES, KEYS, if enforced && hides { "" } else { NOT_ENFORCED }].concat();
    let frontend = |catalog| walled(api(catalog, false, hides && enforced), table, hides) as _;
    listing(serve_postgres(&sql, &frontend, &|source| shelf::engine(source, JOINS)), "string_agg(")
}

/// `LIST(` in statements beside the source is what the database calls `name`.
fn listing(mut side: Governed, name: &'static str) -> Governed {
    let mut inner = std::mem::replace(&mut side.beside, Box::new(|_| String::new()));
    side.beside = Box::new(move |sql| inner(&sql.replace("LIST(", name)));
    side
}

fn fill(side: &mut Governed, without: Option<&str>) {
    (side.beside)(CLEAR);
    (side.beside)(ROWS);
    if let Some(table) = without {
        (side.beside)(&format!("DELETE FROM {table}"));
    }
}

/// Asks both sides; `hidden` is the text of a row of `table`.
fn check([behind, empty]: [&mut Governed; 2], (table, hidden): (&str, &str), mutates: bool) -> [u64; 2] {
    let mut changed = true;
    let mut answered = [0, 0];
    let of_rows = |prefix: &str| format!("SELECT {prefix} FROM {table}");
    for seed in 0..cases() {
        let is_mutation = mutates && seed % 3 == 2;
        if changed {
            fill(behind, None);
            fill(empty, Some(table));
        }
        changed = is_mutation;
        let kind = if is_mutation { OperationKind::Mutation } else { OperationKind::Query };
        let is_joined = !is_mutation && seed % 4 == 1;
        let focus = if is_joined { SHELF } else { table };
        let mut asker = Asker::new(&behind.schema, seed + 1, &RULES, focus);
        let operation = asker.operation(kind).unwrap();
        let inserts = asker.inputs.iter().any(|it| it == &format!("{table}_insert_input"));
        let before = rows(behind, &of_rows, hidden);
        let found = behind.ask(&operation, &[]);
        let expected = empty.ask(&operation, &[]);
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
fn rows(side: &mut Governed, of: &dyn Fn(&str) -> String, hidden: &str) -> Vec<String> {
    let all =
        (side.beside)(&of(&format!("CAST(count(*) AS text) || '|' || coalesce(LIST({hidden}, '|'), '')")));
    all.split('|').skip(1).map(str::to_owned).collect()
}

fn run(mutates: bool, side: impl Fn(&str, bool) -> Governed) {
    let mut all = [0, 0];
    for (table, hidden) in HIDDEN {
        let mut behind = side(table, true);
        let mut empty = side(table, false);
        let answered = check([&mut behind, &mut empty], (table, hidden), mutates);
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
    run(true, on_sqlite);
}

fn run_on_postgres(enforced: bool) {
    run(!enforced, |table, hides| on_postgres(table, hides, enforced));
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
