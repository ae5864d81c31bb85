//! Nobody gets over the wall by Dgraph's API, on SQLite and on PostgreSQL.

use crate::file_kit::{Beside, DatabaseFile, beside};
use crate::kit::answer;
use crate::postgres_kit::database;
use crate::postgres_kit::release::on_one_release;
use crate::wall_kit::ask::{Asker, Rules};
use crate::wall_kit::shelf::{self, SHELF};
use crate::wall_kit::{Wall, sorted};
use serde_json::Value;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::runtime::Runtime;
use weir_database::postgres::PostgresSource;
use weir_database::sqlite::SqliteSource;
use weir_engine::engine::Engine;
use weir_language::ast::OperationKind;
use weir_language::schema::Schema;
use weir_native::compile::Native;
use weir_native::layout::Database;
use weir_native::store::{Place, Types, open_and_migrate};
use weir_postgres::Settings;
use weir_relational::catalog::{Catalog, Table, TableId, TableKind};
use weir_sqlite::connection::Tuning;

/// Operations for each type on SQLite; `WEIR_WALL_CASES` asks for more.
const CASES: u64 = 800;
/// The same on PostgreSQL, whose stores take longer to make.
const POSTGRES_CASES: u64 = 200;
/// Mutations for each table on SQLite.
const CHANGES: u64 = 200;
/// The same on PostgreSQL.
const POSTGRES_CHANGES: u64 = 80;
/// Operations on one pair of stores: mutations change both, until new ones are made.
const CASES_PER_STORE: u64 = 40;

const TYPES: &str = "
type Author { id: ID!, name: String! @search(by: [hash, term]), born: Int @search, mentor: Author,
  desk: Desk @hasInverse(field: owner),
  books: [Book] @hasInverse(field: author), critiques: [Review] @hasInverse(field: critic) }
type Book { id: ID!, title: String! @search(by: [exact, fulltext]), pages: Int @search, notes: [String],
  author: Author, reviews: [Review] @hasInverse(field: book), tags: [Tag] @hasInverse(field: books) }
type Review { id: ID!, stars: Int @search, words: String @search(by: [fulltext]), book: Book, critic: Author }
type Tag { label: String! @id, weight: Int @search, books: [Book] }
type Desk { id: ID!, width: Int @search, owner: Author }
";

/// More types, whose objects are in registries: of an interface's keys.
const WORKS: &str = "
interface Work { id: ID!, code: String! @id(interface: true), parts: [String] }
type Song implements Work { length: Int, on: Film }
type Film implements Work { year: Int, songs: [Song] @hasInverse(field: on) }
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
    r#"mutation { addDesk(input: [{width: 3, owner: {id: "0x1"}}, {width: 5}, {owner: {id: "0x3"}}]) { numUids } }"#,
    r#"mutation { updateAuthor(input: {filter: {id: ["0x2", "0x3"]}, set: {mentor: {id: "0x1"}}}) { numUids } }"#,
];

const FILL_WORKS: &[&str] = &[
    r#"mutation { addFilm(input: [{code: "a", year: 3, songs: [{code: "b", length: 4, parts: ["a", "b"]}, {code: "c"}]}, {code: "b c", parts: ["b"]}]) { numUids } }"#,
    r#"mutation { addSong(input: [{code: "x", length: 7}]) { numUids } }"#,
];

/// Root fields that rows of another source lead to.
const JOINS: &[(&str, &str)] = &[
    ("getAuthor", "(id: $this.key)"),
    ("queryAuthor", "(filter: {name: {eq: $this.text}})"),
    ("aggregateAuthor", "(filter: {born: {gt: $this.number}})"),
    ("getBook", "(id: $this.key)"),
    ("queryBook", "(filter: {pages: {ge: $this.number}})"),
    ("aggregateBook", "(filter: {title: {eq: $this.text}})"),
    ("getReview", "(id: $this.key)"),
    ("queryReview", "(filter: {stars: {eq: $this.number}})"),
    ("aggregateReview", "(filter: {stars: {le: $this.number}})"),
    ("getTag", "(label: $this.text)"),
    ("queryTag", "(filter: {label: {eq: $this.text}})"),
    ("aggregateTag", "(filter: {weight: {ge: $this.number}})"),
    ("getDesk", "(id: $this.key)"),
    ("queryDesk", "(filter: {width: {eq: $this.number}})"),
    ("aggregateDesk", "(filter: {width: {ge: $this.number}})"),
];

/// Columns of one-to-one edges: a reference is cleared when its target gets another partner.
const SINGLE: &[&str] = &["desk", "owner"];

/// Pages need a complete order, which only the order of ids is: so a case has pages or an order.
const WITH_PAGES: Rules =
    Rules { orders: &[], key: "id", without: &["order"], cascades: true, nulls: true, references: true };
const WITH_ORDER: Rules = Rules { without: &["first", "offset"], ..WITH_PAGES };

/// One of the two stores.
struct Side {
    engine: Engine,
    schema: Arc<Schema>,
    /// Runs statements beside the source; gives the first column of the first row.
    beside: Beside,
    /// The walled table.
    table: Table,
    _file: Option<DatabaseFile>,
}

/// A store and the wall before one of its tables.
#[derive(Clone, Copy)]
struct Setting<'s> {
    types: &'s str,
    fill: &'s [&'s [&'s str]],
    table: &'s str,
    wall: fn(TableId) -> Wall,
}

impl Setting<'_> {
    /// The front end behind the wall, and the walled table.
    fn frontend(&self, database: Database) -> (Native, Table) {
        let Types { model, layout, .. } = Types::read(self.types, database).expect("the types are sound");
        let (id, table) = found(&layout.relations.catalog, self.table);
        let api = weir_native::api::generate(model).expect("the API is sound");
        let table = table.clone();
        (Native::with_policy(api, layout, database, Arc::new((self.wall)(id))), table)
    }

    /// The front end without a wall.
    fn whole(&self, database: Database) -> Native {
        let Types { model, layout, .. } = Types::read(self.types, database).expect("the types are sound");
        Native::new(weir_native::api::generate(model).expect("the API is sound"), layout, database)
    }

    fn fill(&self, engine: &Engine) {
        for mutation in self.fill.iter().copied().flatten() {
            let answer = runtime().block_on(answer(engine, mutation, ""));
            assert!(!answer.contains("errors"), "{answer}");
        }
    }
}

fn found<'c>(catalog: &'c Catalog, name: &str) -> (TableId, &'c Table) {
    let at = catalog.tables.iter().position(|it| it.name == name).expect("the table is in the layout");
    (TableId(at as u32), &catalog.tables[at])
}

fn cases(usual: u64) -> u64 {
    std::env::var("WEIR_WALL_CASES").ok().and_then(|it| it.parse().ok()).unwrap_or(usual)
}

fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Runtime::new().expect("one starts"))
}

fn on_sqlite(setting: Setting<'_>) -> Side {
    let file = DatabaseFile::new();
    let types = Types::read(setting.types, Database::Sqlite).expect("the types are sound");
    open_and_migrate(&Place::Sqlite(file.0.clone()), &types).expect("the store is made");
    let open = |frontend: Native| {
        let source = SqliteSource::new("main", Arc::new(frontend), &file.0, Tuning::USUAL);
        shelf::engine(Arc::new(source.expect("the store is served")), JOINS)
    };
    setting.fill(&open(setting.whole(Database::Sqlite)));
    let (frontend, table) = setting.frontend(Database::Sqlite);
    let engine = open(frontend);
    let schema = Arc::clone(engine.schema());
    let connection = file.open();
    connection.pragma_update(None, "foreign_keys", false).expect("the pragma is known");
    let mut inner = beside(connection);
    let beside =
        move |sql: &str| inner(&sql.replace("LIST(", "json_group_array(").replace("ROW(", "json_array("));
    Side { engine, schema, beside: Box::new(beside), table, _file: Some(file) }
}

fn on_postgres(setting: Setting<'_>) -> Side {
    let made = database("");
    let settings = Settings::parse(&made.url(), |_| None).expect("a sound address");
    let types = Types::read(setting.types, Database::Postgres).expect("the types are sound");
    open_and_migrate(&Place::Postgres(Box::new(settings.clone())), &types).expect("the store is made");
    let open = |frontend: Native| {
        let opening =
            PostgresSource::new("main", Arc::new(frontend), settings.clone(), Duration::from_secs(60));
        shelf::engine(Arc::new(runtime().block_on(opening).expect("the store is served")), JOINS)
    };
    setting.fill(&open(setting.whole(Database::Postgres)));
    let (frontend, table) = setting.frontend(Database::Postgres);
    let engine = open(frontend);
    let schema = Arc::clone(engine.schema());
    let beside = move |sql: &str| {
        if sql.starts_with("SELECT") {
            let sql = sql.replace("LIST(", "json_agg(").replace("ROW(", "json_build_array(");
            String::from_utf8(made.rows(&sql)[0][0].clone().unwrap_or_default()).expect("text")
        } else {
            made.run(&format!("SET session_replication_role = replica; {sql}"));
            String::new()
        }
    };
    Side { engine, schema, beside: Box::new(beside), table, _file: None }
}

impl Side {
    fn ask(&self, operation: &str) -> String {
        runtime().block_on(answer(&self.engine, operation, ""))
    }

    /// The rows of the walled table.
    fn rows(&mut self) -> Vec<Vec<Value>> {
        let columns: Vec<String> = self.table.columns.iter().map(|it| format!("\"{}\"", it.name)).collect();
        let sql = format!("SELECT LIST(ROW({})) FROM \"{}\"", columns.join(", "), self.table.name);
        let text = (self.beside)(&sql);
        if text.is_empty() {
            Vec::new()
        } else {
            serde_json::from_str(&text).expect("the database writes JSON")
        }
    }

    /// The first of the rows `before` that `operation` changed or deleted. A reference to a deleted object is cleared, and
    /// one to an object that has another partner now.
    fn changed<'b>(&mut self, before: &'b [Vec<Value>], operation: &str) -> Option<&'b Vec<Value>> {
        let after = self.rows();
        let deletes = operation.contains(": delete");
        let is_reference = |at: usize| {
            self.table.foreign_keys.iter().any(|it| it.columns.len() == 1 && it.columns[0].0 as usize == at)
        };
        let may_be_cleared = |at: usize| {
            is_reference(at) && (deletes || SINGLE.contains(&self.table.columns[at].name.as_str()))
        };
        let clearable: Vec<bool> = (0..self.table.columns.len()).map(may_be_cleared).collect();
        let is_same = |before: &[Value], after: &[Value]| {
            let mut cells = before.iter().zip(after).zip(&clearable);
            cells.all(|((before, after), may_be_cleared)| {
                before == after || (*may_be_cleared && after.is_null())
            })
        };
        before.iter().find(|row| !after.iter().any(|it| is_same(row, it)))
    }
}

/// Types whose objects are hidden.
const HIDDEN: &[&str] = &["Author", "Book", "Review", "Tag", "Desk"];

/// Asks both sides; gives how many queries, joined queries and mutations were answered without an error.
fn check(make: impl Fn(Setting<'_>) -> Side, ty: &str, cases: u64) -> [u64; 3] {
    let mut answered = [0; 3];
    let setting = Setting { types: TYPES, fill: &[FILL], table: ty, wall: Wall::hiding };
    let mut sides: Option<(Side, Side, Vec<Vec<Value>>)> = None;
    for seed in 0..cases {
        if seed % CASES_PER_STORE == 0 {
            let mut behind = make(setting);
            let mut empty = make(Setting { wall: Wall::open, ..setting });
            let hidden = behind.rows();
            (empty.beside)(&format!("DELETE FROM \"{ty}\""));
            sides = Some((behind, empty, hidden));
        }
        let Some((behind, empty, hidden)) = &mut sides else { continue };
        let (kind, focus, place) = match seed % 6 {
            2 | 5 => (OperationKind::Mutation, ty, 2),
            1 => (OperationKind::Query, SHELF, 1),
            _ => (OperationKind::Query, ty, 0),
        };
        let rules = if seed % 2 == 0 { &WITH_PAGES } else { &WITH_ORDER };
        let mut asker = Asker::new(&behind.schema, seed + 1, rules, focus);
        let operation = asker.operation(kind).expect("there are both roots");
        // An object that is made can meet the key of a hidden one, which an empty type does not have.
        if asker.inputs.iter().any(|it| *it == format!("Add{ty}Input") || *it == format!("{ty}Ref")) {
            continue;
        }
        let found = behind.ask(&operation);
        let expected = empty.ask(&operation);
        assert_eq!(sorted(&found), sorted(&expected), "seed {seed} against {ty}: {operation}");
        if kind == OperationKind::Mutation {
            let changed = behind.changed(hidden, &operation);
            assert_eq!(changed, None, "seed {seed} changed {ty}: {operation}");
            *hidden = behind.rows();
        }
        answered[place] += u64::from(!expected.contains("\"errors\""));
    }
    answered
}

fn run(make: impl Fn(Setting<'_>) -> Side, usual: u64) {
    let cases = cases(usual);
    let mut all = [0; 3];
    for ty in HIDDEN {
        let answered = check(&make, ty, cases);
        all.iter_mut().zip(answered).for_each(|(all, it)| *all += it);
    }
    let [queries, joined, mutations] = all;
    println!("answered without an error: {queries} queries, {joined} joined queries, {mutations} mutations");
    let cases = cases * HIDDEN.len() as u64;
    assert!(queries * 4 > cases && joined * 12 > cases && mutations * 30 > cases, "too many errors: {all:?}");
}

#[test]
fn nobody_gets_over_the_wall_on_sqlite() {
    run(on_sqlite, CASES);
}

#[test]
fn nobody_gets_over_the_wall_on_postgres() {
    on_one_release("native wall", || run(on_postgres, POSTGRES_CASES));
}

/// Mutations that name an author by its number.
const NAMED: &[&str] = &[
    r#"mutation { addBook(input: [{title: "z", author: {id: "ID"}}]) { numUids } }"#,
    r#"mutation { addReview(input: [{stars: 1, critic: {id: "ID"}}]) { numUids } }"#,
    r#"mutation { addDesk(input: [{width: 1, owner: {id: "ID"}}]) { numUids } }"#,
    r#"mutation { updateBook(input: {filter: {}, set: {author: {id: "ID"}}}) { numUids } }"#,
];

/// A hidden object that a mutation names is answered as one that does not exist.
fn check_named(make: impl Fn(Setting<'_>) -> Side) {
    let setting = Setting { types: TYPES, fill: &[FILL], table: "Author", wall: Wall::hiding };
    let behind = make(setting);
    let open = make(Setting { wall: Wall::open, ..setting });
    for mutation in NAMED {
        let named = |side: &Side, id: &str| side.ask(&mutation.replace("ID", id)).replace(id, "ID");
        let hidden = named(&behind, "0x1");
        assert!(hidden.contains("\"errors\""), "{mutation}: {hidden}");
        assert_eq!(hidden, named(&behind, "0xfffff"), "{mutation}");
        let seen = named(&open, "0x1");
        assert!(!seen.contains("\"errors\""), "{mutation}: {seen}");
    }
}

#[test]
fn nobody_names_what_is_behind_the_wall_on_sqlite() {
    check_named(on_sqlite);
}

#[test]
fn nobody_names_what_is_behind_the_wall_on_postgres() {
    on_one_release("native names", || check_named(on_postgres));
}

/// Orders by values of authors, which are others than those of ids.
const ORDERED: &[&str] = &[
    "{ queryBook(order: {author: {desc: name}}) { id title } }",
    "{ queryBook(first: 1, order: {author: {asc: born}}) { title } }",
    "{ queryReview(order: {critic: {desc: name}}) { id stars } }",
    "{ queryReview(order: {book: {author: {desc: name}}}) { id stars } }",
    "{ queryTag(filter: {label: {eq: \"a\"}}) { books(order: {author: {desc: name}}) { title } } }",
];

/// Values of hidden objects order nothing: the answer is that of a store without these objects.
fn check_ordered(make: impl Fn(Setting<'_>) -> Side) {
    let setting = Setting { types: TYPES, fill: &[FILL], table: "Author", wall: Wall::hiding };
    let open = Setting { wall: Wall::open, ..setting };
    let behind = make(setting);
    let whole = make(open);
    let mut empty = make(open);
    (empty.beside)("DELETE FROM \"Author\"");
    for query in ORDERED {
        let expected = empty.ask(query);
        assert!(!expected.contains("\"errors\""), "{query}: {expected}");
        assert_eq!(behind.ask(query), expected, "{query}");
        assert_ne!(whole.ask(query), expected, "{query}: the values order nothing");
    }
}

#[test]
fn nobody_orders_by_what_is_behind_the_wall_on_sqlite() {
    check_ordered(on_sqlite);
}

#[test]
fn nobody_orders_by_what_is_behind_the_wall_on_postgres() {
    on_one_release("native orders", || check_ordered(on_postgres));
}

/// Asks mutations behind a wall before the changes of `table`; gives how many were done.
fn check_changes(make: impl Fn(Setting<'_>) -> Side, table: &str, cases: u64) -> u64 {
    let types = [TYPES, WORKS].concat();
    let setting = Setting { types: &types, fill: &[FILL, FILL_WORKS], table, wall: Wall::read_only };
    let mut done = 0;
    let mut behind = None;
    for seed in 0..cases {
        if seed % CASES_PER_STORE == 0 {
            behind = Some(make(setting));
        }
        let Some(behind) = &mut behind else { continue };
        let focus = table.split('.').next().unwrap_or(table);
        let mut asker = Asker::new(&behind.schema, seed + 1, &WITH_PAGES, focus);
        let operation = asker.operation(OperationKind::Mutation).expect("there are mutations");
        let before = behind.rows();
        let answer = behind.ask(&operation);
        let changed = behind.changed(&before, &operation);
        assert_eq!(changed, None, "seed {seed} changed {table}: {operation}");
        done += u64::from(!answer.contains("\"errors\""));
    }
    done
}

/// Rows that may be read but not changed, in every table: of objects, of lists, of pairs and of registries.
fn run_changes(make: impl Fn(Setting<'_>) -> Side, database: Database, usual: u64) {
    let cases = cases(usual);
    let types = Types::read(&[TYPES, WORKS].concat(), database).expect("the types are sound");
    let tables = types.layout.relations.catalog.tables.iter().filter(|it| it.kind == TableKind::Table);
    let tables: Vec<&str> = tables.map(|it| it.name.as_str()).collect();
    let done: Vec<u64> = tables.iter().map(|it| check_changes(&make, it, cases)).collect();
    println!("done without an error: {:?}", tables.iter().zip(&done).collect::<Vec<_>>());
    assert!(done.iter().all(|it| *it * 5 > cases), "too many errors: {done:?}");
}

#[test]
fn nobody_changes_what_may_only_be_read_on_sqlite() {
    run_changes(on_sqlite, Database::Sqlite, CHANGES);
}

#[test]
fn nobody_changes_what_may_only_be_read_on_postgres() {
    on_one_release("native changes", || run_changes(on_postgres, Database::Postgres, POSTGRES_CHANGES));
}
