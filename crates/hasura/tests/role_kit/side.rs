//! Databases with the tables of [`super::judge`], served with permissions.

use super::grant::{Grants, INHERITED};
use super::judge::{DOUBLES, Row, SESSION, TABLES, Table, World};
use crate::answer_kit::{execute, whole};
use crate::file_kit::{Beside, beside};
use crate::kit;
use crate::policy_kit::runtime;
use crate::postgres_kit::database;
use crate::postgres_kit::hand;
use crate::wall_kit::ask::Random;
use crate::wall_kit::shelf;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use weir_engine::caller::{Claims, Identity, Token};
use weir_engine::engine::Engine;
use weir_engine::source::{Protocol, Source};
use weir_hasura::model::{ModelOptions, Track};
use weir_hasura::open::{PostgresOptions, open_postgres};
use weir_metadata::document::api::InheritedRole;
use weir_metadata::document::function::FunctionEntry;
use weir_metadata::document::table::TableEntry;
use weir_postgres::Settings;

/// A served database.
pub struct Side {
    pub engine: Engine,
    pub source: Arc<dyn Source>,
    /// The same database with the API of connections.
    pub relay: Engine,
    /// Runs statements beside the source; gives the first column of the first row.
    pub beside: Beside,
    is_sqlite: bool,
    _served: Option<kit::Served>,
}

/// The kind of database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Database {
    Sqlite,
    Postgres,
}

/// The tables as they are; or, for what is seen of them, with all columns nullable and those that tie rows apart.
pub fn ddl(seen: Option<&dyn Fn(&str) -> bool>, keys: bool) -> String {
    TABLES.iter().map(|it| create(it, seen, keys)).collect()
}

/// Functions of PostgreSQL: a value of a row, rows of a row, rows by an argument. `ties`: put before the names of the columns
/// whose values are stored, whoever sees them.
fn functions(ties: &str) -> String {
    format!(
        "CREATE FUNCTION book_size(book) RETURNS integer STABLE LANGUAGE sql AS 'SELECT $1.{ties}pages * 10 + $1.{ties}id';
         CREATE FUNCTION author_works(author) RETURNS SETOF book STABLE LANGUAGE sql AS
           'SELECT * FROM book WHERE {ties}author_id = $1.{ties}id';
         CREATE FUNCTION books_of(number integer) RETURNS SETOF book STABLE LANGUAGE sql AS
           'SELECT * FROM book WHERE {ties}author_id = number';"
    )
}

fn column_type(column: &str, is_text: bool) -> &'static str {
    if is_text {
        "TEXT"
    } else if DOUBLES.contains(&column) {
        "DOUBLE PRECISION"
    } else {
        "INTEGER"
    }
}

fn create((name, columns, key): &Table, seen: Option<&dyn Fn(&str) -> bool>, keys: bool) -> String {
    let mut parts = Vec::new();
    for (column, is_text, nullable) in *columns {
        let ty = column_type(column, *is_text);
        let target = match *column {
            "mentor_id" | "author_id" => " REFERENCES author",
            "book_id" => " REFERENCES book",
            "tag_id" => " REFERENCES tag",
            _ => "",
        };
        let target = if keys && seen.is_none() { target } else { "" };
        let null = if *nullable || seen.is_some() { "" } else { " NOT NULL" };
        parts.push(format!("{column} {ty}{null}{target}"));
    }
    if seen.is_some() {
        parts.extend(
            columns
                .iter()
                .map(|(column, is_text, _)| format!("s_{column} {}", column_type(column, *is_text))),
        );
    }
    if seen.is_none_or(|it| it(name)) {
        parts.push(format!("PRIMARY KEY ({})", key.join(", ")));
    }
    format!("CREATE TABLE {name} ({});\n", parts.join(", "))
}

/// Random rows; references lead to rows that are there.
pub fn world(seed: u64) -> World {
    let mut random = Random::new(seed * 11 + 5);
    let texts = ["a", "b", "c", "b c"];
    let mut world = World::new();
    for (name, columns, key) in TABLES {
        let mut rows: Vec<Row> = Vec::new();
        for id in 1..=7_u32 {
            let mut row = Row::new();
            for (column, is_text, nullable) in *columns {
                let below = |random: &mut Random, end: u32| Value::from(1 + random.below(end));
                let value = match *column {
                    "id" => id.into(),
                    "mentor_id" if id > 1 && random.below(3) > 0 => below(&mut random, id - 1),
                    "mentor_id" => Value::Null,
                    _ if *nullable && random.below(4) == 0 => Value::Null,
                    _ if *is_text => texts[random.below(4) as usize].into(),
                    "author_id" | "book_id" | "tag_id" => below(&mut random, 7),
                    _ => random.below(9).into(),
                };
                row.insert((*column).to_owned(), value);
            }
            let is_new = rows.iter().all(|other| key.iter().any(|it| other[*it] != row[*it]));
            if is_new {
                rows.push(row);
            }
        }
        world.insert((*name).to_owned(), rows);
    }
    world
}

/// Statements that leave exactly these rows.
pub fn fill(world: &World) -> String {
    let mut out: String = TABLES.iter().rev().map(|it| format!("DELETE FROM {}; ", it.0)).collect();
    let text = |it: &Value| it.as_str().map_or_else(|| it.to_string(), |it| format!("'{it}'"));
    for (name, ..) in TABLES {
        for row in &world[*name] {
            let columns: Vec<&str> = row.keys().map(String::as_str).collect();
            let values: Vec<String> = row.values().map(text).collect();
            let columns = columns.join(", ");
            let values = values.join(", ");
            out.push_str(&format!("INSERT INTO {name} ({columns}) VALUES ({values}); "));
        }
    }
    out
}

impl Side {
    /// `seen`: without permissions, over what is seen; it says of a table whether it has a key.
    pub fn new(
        database: Database,
        grants: &Grants,
        seen: Option<&dyn Fn(&str) -> bool>,
        (keys, joins): (bool, &[(&str, &str)]),
    ) -> Self {
        let calls = database == Database::Postgres;
        let ties = if seen.is_some() { "s_" } else { "" };
        let mut sql = ddl(seen, keys);
        let mut callable: Vec<FunctionEntry> = Vec::new();
        if calls {
            sql.push_str(&functions(ties));
            callable = serde_json::from_value(json!([{"function": "books_of"}])).unwrap();
        }
        let entries = grants.entries(ties, seen.is_none(), calls);
        let tables: Vec<TableEntry> = serde_json::from_value(entries).unwrap();
        let role = |(name, set): &(&str, &[&str])| InheritedRole {
            role_name: (*name).into(),
            role_set: set.iter().map(|it| (*it).into()).collect(),
        };
        let inherited_roles: Vec<InheritedRole> = INHERITED.iter().map(role).collect();
        let model = ModelOptions {
            track: Track::Listed,
            tables: &tables,
            functions: &callable,
            inherited_roles: if seen.is_none() { &inherited_roles } else { &[] },
            ..ModelOptions::default()
        };
        Self::serve(database, &sql, model, joins)
    }

    /// Serves a new database made by `sql`.
    pub fn serve(database: Database, sql: &str, model: ModelOptions<'_>, joins: &[(&str, &str)]) -> Self {
        match database {
            Database::Sqlite => Self::sqlite(sql, model, joins),
            Database::Postgres => Self::postgres(sql, model, joins),
        }
    }

    fn sqlite(sql: &str, model: ModelOptions<'_>, joins: &[(&str, &str)]) -> Self {
        let mut served = kit::serve_as(sql, model, &[]);
        let source: Arc<dyn Source> = served.source.clone();
        let other = rusqlite::Connection::open_in_memory().unwrap();
        let beside = beside(std::mem::replace(&mut served.beside, other));
        let relay = relay(&source);
        let engine = shelf::engine(Arc::clone(&source), joins);
        Self { engine, source, relay, beside, is_sqlite: true, _served: Some(served) }
    }

    fn postgres(sql: &str, model: ModelOptions<'_>, joins: &[(&str, &str)]) -> Self {
        let made = database(sql);
        let settings = Settings::parse(&made.socket_url(), |_| None).unwrap();
        let options = PostgresOptions { model, schemas: &["public".to_owned()], stringify: false };
        let opening = open_postgres("main", settings, options, Duration::from_secs(60));
        let (source, _) = runtime().block_on(opening).unwrap();
        let beside = hand::beside(&made);
        let source: Arc<dyn Source> = Arc::new(source);
        let relay = relay(&source);
        let engine = shelf::engine(Arc::clone(&source), joins);
        Self { engine, source, relay, beside, is_sqlite: false, _served: None }
    }

    /// All rows.
    pub fn read(&mut self) -> World {
        let mut world = World::new();
        for (name, columns, key) in TABLES {
            let pairs: Vec<String> = columns.iter().map(|it| format!("'{0}', {0}", it.0)).collect();
            let pairs = pairs.join(", ");
            let key = key.join(", ");
            let sql = if self.is_sqlite {
                format!(
                    "SELECT coalesce(json_group_array(json(o)), '[]') FROM (SELECT json_object({pairs}) AS o FROM {name} ORDER BY {key})"
                )
            } else {
                format!(
                    "SELECT coalesce(json_agg(o), '[]')::text FROM (SELECT json_build_object({pairs}) AS o FROM {name} ORDER BY {key}) AS t"
                )
            };
            let mut rows: Vec<Row> = serde_json::from_str(&(self.beside)(&sql)).unwrap();
            rows.iter_mut().flat_map(BTreeMap::values_mut).for_each(to_whole);
            world.insert((*name).to_owned(), rows);
        }
        world
    }

    pub fn ask(&self, identity: &Identity, operation: &str) -> String {
        ask(&self.engine, identity, operation, Protocol::GraphqlOverHttp)
    }
}

/// A number of a column of doubles, which are whole here.
fn to_whole(cell: &mut Value) {
    if let Some(number) = cell.as_f64() {
        *cell = (number as i64).into();
    }
}

fn relay(source: &Arc<dyn Source>) -> Engine {
    let connections =
        source.relay().expect("a database has connections").expect("they have names of their own");
    shelf::engine(connections, &[])
}

pub fn ask(engine: &Engine, identity: &Identity, operation: &str, protocol: Protocol) -> String {
    whole(runtime().block_on(execute(engine, identity, protocol, (operation, ""))))
}

/// A caller of `role` with the session of all.
pub fn caller(role: &str, is_backend: bool) -> Identity {
    caller_with(role, is_backend, SESSION)
}

/// A caller of `role` with these session variables.
pub fn caller_with(role: &str, is_backend: bool, session: &[(&str, &str)]) -> Identity {
    let variables = session.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let claims = Arc::new(Claims::new(variables, Token::Absent));
    Identity { role: role.into(), is_backend, is_anonymous: false, claims }
}
