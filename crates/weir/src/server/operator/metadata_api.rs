//! `/v1/metadata`, `/v2/query` and `/v1/query`: commands of Hasura's tools, for the admin.
//!
//! A change of the metadata makes the next generation first, then writes the folder or file, then swaps the generation in: no
//! request is dropped, and what does not fit changes nothing.
//!
//! **Invariant:** one command runs at a time, as it holds the turn to make a generation.

mod catalog_state;
mod commands;
mod database_tools;
mod edit_entries;
mod event_commands;
mod inconsistent;
pub(crate) mod pg_dump;
mod pg_dump_text;
mod replace_metadata;
mod schedule_commands;
pub(super) mod sql;
mod sql_renames;
mod tools;

use crate::generation::Live;
use crate::server::request::answer::Answer;
use crate::server::request::answer::refusal::Refusal;
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::context::RequestContext;
use crate::server::request::hasura_error::HasuraError;
use crate::server::request::negotiate::Media;
use crate::server::request::receive;
use crate::server::telemetry::metrics::{Endpoint, Metrics};
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::http::HeaderMap;
use hyper::http::request::Parts;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_language::json::{Json, JsonRef, quote};

/// Maximum nesting of a command.
const NESTING_MAX: u32 = 200;

/// Result of a successful change.
const SUCCESS: &str = r#"{"message":"success"}"#;

/// Endpoints of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    /// `/v1/metadata`.
    Metadata,
    /// `/v2/query`: `run_sql`.
    Query,
    /// `/v1/query`: commands of both.
    Both,
}

/// State shared by the commands of one request.
struct Work {
    live: Arc<Live>,
    metrics: Arc<Metrics>,
    door: Door,
    /// Session variables of the admin, as JSON text.
    session: String,
    /// Version of the metadata that the client read; `None` after its first change.
    version: Cell<Option<String>>,
}

/// JSON of an answer, or an error.
type Done = Result<String, HasuraError>;

/// Runs the command in the body.
pub(crate) async fn answer(
    context: &RequestContext,
    head: &Parts,
    body: Incoming,
    door: Door,
) -> Result<Answer, Refusal> {
    let bytes = receive::body(context, &head.headers, body).await?;
    let work = Work {
        live: Arc::clone(&context.worker.live),
        metrics: Arc::clone(&context.worker.metrics),
        door,
        session: admin_session(&head.headers),
        version: Cell::default(),
    };
    let done = tokio::task::spawn_blocking(move || work.request(&bytes)).await;
    let done = done.unwrap_or_else(|_| {
        let error = HasuraError::new("unexpected", "$", "a bug: the command panicked");
        Err(error.with_status(StatusCode::INTERNAL_SERVER_ERROR))
    });
    Ok(match done {
        Ok(text) => Answer::page(json(StatusCode::OK, Media::Json, ResponseBody::whole(text.into_bytes()))),
        Err(error) => error.answer(Endpoint::Other),
    })
}

/// The session variables of the admin who sends `headers`: his role and what he sets himself, in small letters, without the secret.
fn admin_session(headers: &HeaderMap) -> String {
    let mut variables = BTreeMap::from([("x-hasura-role", "admin")]);
    for (name, value) in headers {
        let is_variable = name.as_str().starts_with("x-hasura-") && name != "x-hasura-admin-secret";
        if let (true, Ok(text)) = (is_variable, value.to_str()) {
            variables.entry(name.as_str()).or_insert(text);
        }
    }
    let mut out = String::new();
    for (name, value) in variables {
        out.push(if out.is_empty() { '{' } else { ',' });
        quote(name, &mut out);
        out.push(':');
        quote(value, &mut out);
    }
    out.push('}');
    out
}

impl Work {
    /// Runs the command in `body`.
    fn request(&self, body: &[u8]) -> Done {
        let json = Json::parse(body, NESTING_MAX)
            .map_err(|error| HasuraError::new("invalid-json", "$", error.to_string()))?;
        let root = json.root();
        if !root.is_object() {
            return Err(HasuraError::new(
                "parse-failed",
                "$",
                "a command is an object with `type` and `args`",
            ));
        }
        let sent = root.get("resource_version").filter(|it| !it.is_null());
        self.version.set(sent.map(|it| it.raw().to_owned()));
        self.command(root, "$")
    }
}

/// The member `key` as a boolean.
fn flag(args: JsonRef<'_>, key: &str, default: bool) -> Result<bool, HasuraError> {
    match args.get(key).filter(|it| !it.is_null()) {
        None => Ok(default),
        Some(value) => value
            .as_bool()
            .ok_or_else(|| HasuraError::new("parse-failed", &format!("$.args.{key}"), "expected a boolean")),
    }
}

/// The member `key` as a text.
fn text(args: JsonRef<'_>, key: &str) -> Result<Option<String>, HasuraError> {
    let value = args.get(key).filter(|it| !it.is_null());
    let read = value.map(|it| {
        let wrong = || HasuraError::new("parse-failed", &format!("$.args.{key}"), "expected a string");
        it.as_str().map(std::borrow::Cow::into_owned).ok_or_else(wrong)
    });
    read.transpose()
}
