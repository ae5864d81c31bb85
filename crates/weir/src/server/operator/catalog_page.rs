//! `/admin/catalog`: what the database of a source has, tracked or not, and the types of a native source.
//!
//! **Invariant:** catalogs alone are read, no row of a table, by statements into which nothing of the request comes.
//! **Cost:** a connection and a statement for each part of the catalog; two catalogs are read at a time.

mod questions;

use super::metadata_api::sql::{ask, error_words};
use super::pages::{check_json, read_text};
use crate::config::Source;
use crate::config::source::types_file;
use crate::generation::Generation;
use crate::server::request::answer::Answer;
use crate::server::request::answer::refusal::Refusal;
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::context::RequestContext;
use crate::server::request::hasura_error::HasuraError;
use crate::server::request::negotiate::Media;
use crate::server::request::receive;
use crate::sources::native::Native;
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use questions::{CatalogPart, FUNCTIONS, PARTS, TABLES};
use serde_json::{Map, Value, json as value};
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::Semaphore;
use weir_postgres::script::ScriptAnswer;
use weir_sqlite::introspect::check_clauses::find_check_clauses;

/// Catalogs that are read at a time.
static READERS: Semaphore = Semaphore::const_new(2);

/// An object of a catalog, with its schema and name.
struct CatalogRow {
    schema: String,
    name: String,
    object: Map<String, Value>,
}

/// Tells what the source in `{"source": …}` has.
pub(crate) async fn answer(
    context: &RequestContext,
    head: &Parts,
    body: Incoming,
) -> Result<Answer, Refusal> {
    check_json(head)?;
    let limits = &context.generation.config.limits;
    let bytes = receive::body(context, &head.headers, body).await?;
    let name = {
        let tape = receive::json(context.worker.json_buffer.take(), &bytes, limits)?;
        read_text(tape.root(), "source")?
    };
    let generation = context.worker.live.current();
    let permit = READERS.acquire().await;
    let reading = tokio::task::spawn_blocking(move || {
        let described = describe_source(&generation, &name);
        drop(permit);
        described
    });
    let failed =
        |_| Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL", "a bug: the reading panicked"));
    let described = reading.await.unwrap_or_else(failed)?;
    let body = ResponseBody::whole(described.to_string().into_bytes());
    Ok(Answer::page(json(StatusCode::OK, Media::Json, body)))
}

/// The source called `name`.
pub(super) fn find_source<'g>(generation: &'g Generation, name: &str) -> Result<&'g Source, Refusal> {
    let found = generation.config.sources.iter().find(|it| it.name == name);
    found.ok_or_else(|| Refusal::bad_request(format!("there is no source `{name}`")))
}

fn describe_source(generation: &Arc<Generation>, name: &str) -> Result<Value, Refusal> {
    let source = find_source(generation, name)?;
    if let Some(native) = Native::of(source).map_err(Refusal::bad_request)? {
        let sdl = types_file::read(&native.sdl).map_err(unreadable)?;
        let file = native.sdl.display().to_string();
        return Ok(value!({ "kind": "native", "sdl": sdl, "file": file, "store": native.store_name() }));
    }
    if source.url.is_empty() {
        return Ok(value!({ "kind": "services" }));
    }
    describe_database(generation, name)
}

fn unreadable(words: String) -> Refusal {
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "SOURCE_UNAVAILABLE", words)
}

fn describe_database(generation: &Generation, name: &str) -> Result<Value, Refusal> {
    let read = |part: &CatalogPart| read_rows(generation, name, part);
    let tables = read(&TABLES).map_err(|error| unreadable(error_words(&error)))?;
    let mut places = HashMap::new();
    let mut all: Vec<Map<String, Value>> = Vec::new();
    for CatalogRow { schema, name, mut object } in tables {
        object.insert("schema".into(), value!(schema));
        object.insert("name".into(), value!(name));
        PARTS.iter().for_each(|it| _ = object.insert(it.key.into(), value!([])));
        places.insert((schema, name), all.len());
        all.push(object);
    }
    // Products lack one function or another: the other parts are told anyway.
    let mut unread = Vec::new();
    for part in &PARTS {
        match read(part) {
            Ok(rows) => {
                for CatalogRow { schema, name, object } in rows {
                    let table = places.get(&(schema, name)).map(|at| &mut all[*at]);
                    push_item(table, part.key, Value::Object(object));
                }
            }
            Err(error) => unread.push(format!("{}: {}", part.key, error_words(&error))),
        }
    }
    all.iter_mut().for_each(add_checks);
    let functions = read(&FUNCTIONS).unwrap_or_else(|error| {
        unread.push(format!("functions: {}", error_words(&error)));
        Vec::new()
    });
    let named = |CatalogRow { schema, name, mut object }| {
        object.insert("schema".into(), value!(schema));
        object.insert("name".into(), value!(name));
        Value::Object(object)
    };
    let functions: Vec<Value> = functions.into_iter().map(named).collect();
    Ok(value!({ "kind": "database", "tables": all, "functions": functions, "unread": unread }))
}

fn push_item(table: Option<&mut Map<String, Value>>, key: &str, item: Value) {
    if let Some(list) = table.and_then(|it| it.get_mut(key)).and_then(Value::as_array_mut) {
        list.push(item);
    }
}

/// Adds the checks that stand in the statement of an SQLite table. The statement of a view, which PostgreSQL gives too, has none.
fn add_checks(table: &mut Map<String, Value>) {
    let is_table = table.get("kind").is_some_and(|it| it == "table");
    let Some(sql) = table.get("definition").and_then(Value::as_str).filter(|_| is_table) else { return };
    for clause in find_check_clauses(sql) {
        let check = value!({ "name": clause.name, "kind": "check", "definition": clause.definition, "columns": null });
        push_item(Some(table), "constraints", check);
    }
}

fn read_rows(
    generation: &Generation,
    name: &str,
    part: &CatalogPart,
) -> Result<Vec<CatalogRow>, HasuraError> {
    let rows = match ask(generation, Some(name), part.of_postgres, part.of_sqlite)? {
        ScriptAnswer::Rows(_, rows) => rows,
        ScriptAnswer::Done => Vec::new(),
    };
    let row = |cells: Vec<Option<String>>| match <[Option<String>; 3]>::try_from(cells) {
        Ok([Some(schema), Some(name), Some(text)]) => {
            let object = serde_json::from_str(&text).ok()?;
            Some(CatalogRow { schema, name, object })
        }
        Ok(_) | Err(_) => None,
    };
    Ok(rows.into_iter().filter_map(row).collect())
}
