//! Front ends under policies made by hand, on SQLite and on PostgreSQL.

#![allow(unreachable_pub, reason = "the tests of this binary share it")]

use crate::answer_kit::{execute, whole};
use crate::file_kit::{Beside, DatabaseFile, beside};
use crate::postgres_kit::{database, hand};
use crate::wall_kit::Walled;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::runtime::Runtime;
use weir_database::frontend::ApiFrontend;
use weir_database::postgres::PostgresSource;
use weir_database::sqlite::SqliteSource;
use weir_engine::caller::{Claims, Identity, Token};
use weir_engine::compose::Graph;
use weir_engine::engine::{Engine, Settings as EngineSettings};
use weir_engine::source::{Protocol, Source};
use weir_hasura::api::generate;
use weir_hasura::model::{Model, ModelOptions};
use weir_hasura::permission::Permissions;
use weir_language::schema::Schema;
use weir_metadata::document::table::TableEntry;
use weir_postgres::Settings;
use weir_postgres::introspect::{Functions, ReadRelations, Shards, assemble, questions, schemas_array};
use weir_relational::catalog::{Catalog, ColumnId, ColumnType, Relations, RelationshipId, TableId};
use weir_relational::passes::policy::{Policy, Preset, WriteKind, claims_of};
use weir_relational::plan::operators::{Comparison, Sign};
use weir_relational::plan::{Expr, Filter, GuardedColumn, Parameter, Purpose, Reader, RowAt};
use weir_sqlite::connection::Tuning;
use weir_sqlite::introspect::SqliteOptions;

/// The purposes for which rows are read.
pub const READS: &[Purpose] =
    &[Purpose::Root, Purpose::Related, Purpose::Exists, Purpose::Value, Purpose::Aggregate];

/// A policy made of what is said of each table.
#[derive(Debug, Default)]
pub struct ByHand {
    pub rows: Vec<(TableId, Vec<Purpose>, Filter)>,
    pub limits: Vec<(TableId, u32)>,
    pub cells: HashMap<TableId, Vec<GuardedColumn>>,
    pub checks: Vec<(TableId, WriteKind, Filter)>,
    pub presets: HashMap<(TableId, WriteKind), Vec<(ColumnId, Preset)>>,
}

impl Policy for ByHand {
    fn rows(&self, table: TableId, purpose: Purpose) -> Option<Filter> {
        let rule = self.rows.iter().find(|it| it.0 == table && it.1.contains(&purpose));
        rule.map(|it| it.2.clone())
    }

    fn limit(&self, table: TableId, _purpose: Purpose) -> Option<u32> {
        self.limits.iter().find(|it| it.0 == table).map(|it| it.1)
    }

    fn cells(&self, table: TableId) -> &[GuardedColumn] {
        self.cells.get(&table).map_or(&[], Vec::as_slice)
    }

    fn check(&self, table: TableId, kind: WriteKind) -> Option<Filter> {
        self.checks.iter().find(|it| it.0 == table && it.1 == kind).map(|it| it.2.clone())
    }

    fn presets(&self, table: TableId, kind: WriteKind) -> &[(ColumnId, Preset)] {
        self.presets.get(&(table, kind)).map_or(&[], Vec::as_slice)
    }
}

/// Names of a catalog.
pub struct Names<'n>(pub &'n Relations);

impl Names<'_> {
    pub fn table(&self, name: &str) -> TableId {
        self.0.catalog.find("", name).unwrap()
    }

    pub fn column(&self, table: &str, name: &str) -> ColumnId {
        let columns = &self.0.catalog.table(self.table(table)).columns;
        ColumnId(columns.iter().position(|it| it.name == name).unwrap() as u32)
    }

    fn ty(&self, table: &str, name: &str) -> ColumnType {
        self.0.catalog.table(self.table(table)).column(self.column(table, name)).ty.clone()
    }

    /// `claim`: a session variable; else a constant.
    pub fn value(&self, table: &str, column: &str, text: &str) -> Parameter {
        let reader = Reader::Column(self.ty(table, column));
        if text.starts_with("x-hasura-") {
            Parameter::claim(text, reader)
        } else {
            Parameter::constant(text, reader)
        }
    }

    pub fn compare(&self, table: &str, column: &str, by: Comparison, text: &str) -> Filter {
        let with = match by {
            Comparison::In | Comparison::Nin => {
                let reader = Reader::Each(self.ty(table, column));
                Parameter { reader, ..self.value(table, column, text) }
            }
            _ => self.value(table, column, text),
        };
        Filter::Compare { of: Expr::Column(self.column(table, column)), by, with }
    }

    pub fn eq(&self, table: &str, column: &str, text: &str) -> Filter {
        self.compare(table, column, Comparison::Eq, text)
    }

    /// A column of the row at hand against one of the restricted row, of the table `root`.
    pub fn root(&self, (table, column): (&str, &str), by: Sign, (root, of): (&str, &str)) -> Filter {
        let row = RowAt::Root(self.table(root));
        Filter::Columns { of: Expr::Column(self.column(table, column)), by, row, with: self.column(root, of) }
    }

    pub fn related(&self, table: &str, name: &str, filter: Filter) -> Filter {
        let from = self.table(table);
        let at = self.0.relationships.iter().position(|it| it.from == from && it.name == name).unwrap();
        Filter::exists(self.0, RelationshipId(at as u32), filter)
    }
}

/// A database under a policy.
pub struct Governed {
    pub engine: Engine,
    pub schema: Arc<Schema>,
    /// Runs statements beside the source; gives the first column of the first row.
    pub beside: Beside,
    file: Option<DatabaseFile>,
}

pub fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Runtime::new().unwrap())
}

/// Makes the policy of a catalog.
pub type Make<'m> = &'m dyn Fn(&Names<'_>) -> ByHand;

fn govern(catalog: Catalog, entries: Option<&str>, make: Make<'_>) -> Arc<dyn ApiFrontend> {
    let entries: Vec<TableEntry> = entries.map_or(Vec::new(), |it| serde_json::from_str(it).unwrap());
    let options = ModelOptions { tables: &entries, ..ModelOptions::default() };
    let (mut model, _) = Model::build(catalog, options, &mut |_| Err("none".into()));
    // Tests may take away rows that others refer to.
    model.relations.relationships.iter_mut().for_each(|it| it.enforced = false);
    let inner: Arc<dyn ApiFrontend> = Arc::new(generate(model, Permissions::default()).unwrap());
    let policy = Arc::new(make(&Names(inner.relations())));
    Arc::new(Walled { inner, policy })
}

fn engine(source: Arc<dyn Source>) -> Engine {
    Engine::new(Graph::compose(vec![source], &[]).unwrap(), EngineSettings::STANDARD)
}

pub fn on_sqlite(sql: &str, entries: Option<&str>, make: Make<'_>) -> Governed {
    serve_sqlite(sql, &|catalog| govern(catalog, entries, make), &engine)
}

pub fn on_postgres(sql: &str, entries: Option<&str>, make: Make<'_>) -> Governed {
    serve_postgres(sql, &|catalog| govern(catalog, entries, make), &engine)
}

/// A new file made by `sql`, with the front end and the engine that these make.
pub fn serve_sqlite(
    sql: &str,
    frontend: &dyn Fn(Catalog) -> Arc<dyn ApiFrontend>,
    engine: &dyn Fn(Arc<dyn Source>) -> Engine,
) -> Governed {
    let file = DatabaseFile::new();
    let connection = file.fill(sql);
    let (catalog, _) = weir_sqlite::introspect::read(&connection, SqliteOptions::default()).unwrap();
    let source = SqliteSource::new("main", frontend(catalog), &file.0, Tuning::USUAL).unwrap();
    let engine = engine(Arc::new(source));
    let schema = Arc::clone(engine.schema());
    Governed { engine, schema, beside: beside(connection), file: Some(file) }
}

/// [`serve_sqlite`] in PostgreSQL.
pub fn serve_postgres(
    sql: &str,
    frontend: &dyn Fn(Catalog) -> Arc<dyn ApiFrontend>,
    engine: &dyn Fn(Arc<dyn Source>) -> Engine,
) -> Governed {
    let made = database(sql);
    let schemas = schemas_array(&["public".to_owned()]);
    let answers = questions(Functions::Read, Shards::None, ReadRelations::Own)
        .map(|it| made.rows(&format!("PREPARE q(text[]) AS {it}; EXECUTE q('{schemas}')")));
    let rows =
        answers.each_ref().map(|answer| answer.iter().map(|row| row.iter().map(Option::as_deref)).collect());
    let settings = Settings::parse(&made.socket_url(), |_| None).unwrap();
    let opening = PostgresSource::new("main", frontend(assemble(rows).0), settings, Duration::from_secs(60));
    let engine = engine(Arc::new(runtime().block_on(opening).unwrap()));
    let schema = Arc::clone(engine.schema());
    Governed { engine, schema, beside: hand::beside(&made), file: None }
}

impl Governed {
    pub const fn is_sqlite(&self) -> bool {
        self.file.is_some()
    }

    pub fn ask(&self, operation: &str, session: &[(&str, &str)]) -> String {
        self.ask_in(Protocol::GraphqlOverHttp, operation, session)
    }

    pub fn ask_in(&self, protocol: Protocol, operation: &str, session: &[(&str, &str)]) -> String {
        ask(&self.engine, protocol, operation, session)
    }
}

/// The answer to a caller with these session variables.
pub fn ask(engine: &Engine, protocol: Protocol, operation: &str, session: &[(&str, &str)]) -> String {
    let variables = session.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let claims = Arc::new(Claims::new(variables, Token::Absent));
    let identity = Identity { claims, ..Identity::admin() };
    whole(runtime().block_on(execute(engine, &identity, protocol, (operation, ""))))
}

/// Boats of a harbour with their crews, and the notes of whoever.
pub const BOATS: &str = "
CREATE TABLE harbour (id INTEGER PRIMARY KEY, name TEXT NOT NULL, owner TEXT);
CREATE TABLE boat (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, harbour_id INTEGER, owner TEXT,
  length INTEGER DEFAULT 5, twice INTEGER GENERATED ALWAYS AS (length * 2) STORED);
CREATE TABLE crew (id INTEGER PRIMARY KEY, boat_id INTEGER, name TEXT NOT NULL, age INTEGER);
CREATE TABLE member (id INTEGER PRIMARY KEY, who TEXT NOT NULL, boat_id INTEGER NOT NULL);
INSERT INTO harbour VALUES (1, 'north', 'ada'), (2, 'south', 'bob');
INSERT INTO boat (id, name, harbour_id, owner, length) VALUES (1, 'ant', 1, 'ada', 10), (2, 'bee', 1, 'bob', 20), (3, 'cat', 2, 'ada', 30),
  (4, 'dog', 2, NULL, 40);
INSERT INTO crew VALUES (1, 1, 'x', 30), (2, 1, 'y', 40), (3, 2, 'z', 50), (4, 3, 'x', NULL);
INSERT INTO member VALUES (1, 'ada', 1), (2, 'ada', 3), (3, 'bob', 2), (4, 'ada b', 4);
";

/// Their relationships, by columns.
const BOAT_ENTRIES: &str = r#"[
{"table": "harbour", "array_relationships": [{"name": "boats", "using": {"manual_configuration": {"remote_table": "boat", "column_mapping": {"id": "harbour_id"}}}}]},
{"table": "boat", "object_relationships": [{"name": "harbour", "using": {"manual_configuration": {"remote_table": "harbour", "column_mapping": {"harbour_id": "id"}}}}],
 "array_relationships": [{"name": "crews", "using": {"manual_configuration": {"remote_table": "crew", "column_mapping": {"id": "boat_id"}}}}]},
{"table": "crew", "object_relationships": [{"name": "boat", "using": {"manual_configuration": {"remote_table": "boat", "column_mapping": {"boat_id": "id"}}}}]},
{"table": "member"}
]"#;

/// An operation, the session it is asked in, and the answer.
pub type Asked<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str);

/// Asks both databases under one policy, each operation on what the ones before left.
pub fn check(make: Make<'_>, asked: &[Asked<'_>]) {
    let sides: [(&str, &dyn Fn() -> Governed); 2] = [
        ("sqlite", &|| on_sqlite(BOATS, Some(BOAT_ENTRIES), make)),
        ("postgres", &|| on_postgres(BOATS, Some(BOAT_ENTRIES), make)),
    ];
    for (database, serve) in sides {
        let served = serve();
        for (operation, session, expected) in asked {
            let (protocol, operation) = match operation.strip_prefix("hasura ") {
                Some(operation) => (Protocol::Hasura, operation),
                None => (Protocol::GraphqlOverHttp, *operation),
            };
            let found = served.ask_in(protocol, operation, session);
            assert_eq!(found, *expected, "{database}: {operation} as {session:?}");
        }
    }
}

/// Asks both databases from several threads at once; every answer has to be the caller's own.
pub fn check_at_once(make: Make<'_>, asked: &[Asked<'_>]) {
    for served in [on_sqlite(BOATS, Some(BOAT_ENTRIES), make), on_postgres(BOATS, Some(BOAT_ENTRIES), make)] {
        let engine = &served.engine;
        std::thread::scope(|threads| {
            for first in 0..4 {
                threads.spawn(move || {
                    for at in 0..200 {
                        let (operation, session, expected) = asked[(first + at) % asked.len()];
                        let found = ask(engine, Protocol::GraphqlOverHttp, operation, session);
                        assert_eq!(found, expected, "{operation} as {session:?}");
                    }
                });
            }
        });
    }
}

/// The session variables of a policy over the boats.
pub fn claims(make: Make<'_>) -> Vec<String> {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    connection.execute_batch(BOATS).unwrap();
    let (catalog, _) = weir_sqlite::introspect::read(&connection, SqliteOptions::default()).unwrap();
    let frontend = govern(catalog, Some(BOAT_ENTRIES), make);
    claims_of(&*frontend.policy(&[]), frontend.relations()).iter().map(ToString::to_string).collect()
}
