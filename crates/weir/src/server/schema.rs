//! `/admin/schema`: a new text of types for the native source, as its body is.
//!
//! The store is migrated first, then the file is replaced, then the next generation serves. The file stays what decides: a
//! later reload finds the same text in it.
//!
//! **Invariant:** one change at a time; a refused one leaves store, file and service as they were.

use super::body::Reply;
use super::exchange::{Answer, Exchange, Refusal, json, string};
use super::negotiate::Media;
use super::receive;
use crate::generation::Live;
use crate::native::Native;
use crate::server::metrics::Metrics;
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::header::{HOST, HeaderValue, ORIGIN};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use std::sync::{Arc, Mutex, PoisonError};
use weir_native::store::{Error, Plan};

/// What of a change went wrong.
enum Failure {
    /// There is not exactly one native source.
    None,
    /// The text is wrong.
    Text(String),
    /// The data does not allow it.
    Refused(String),
    /// The store or the file cannot be changed.
    Failed(String),
}

/// Changes the types. `?allow_data_loss=Dish.pic,Cook` names what may go.
pub(crate) async fn change(exchange: &Exchange, head: &Parts, incoming: Incoming) -> Result<Answer, Refusal> {
    if is_of_a_page(head) {
        let message = "a web page of another origin may not change the types";
        return Err(Refusal::new(StatusCode::FORBIDDEN, "ACCESS_DENIED", message));
    }
    let query = head.uri.query().unwrap_or_default();
    let allowed = query.split('&').find_map(|it| it.strip_prefix("allow_data_loss=")).unwrap_or_default();
    let allowed: Vec<String> = allowed.split(',').filter(|it| !it.is_empty()).map(str::to_owned).collect();
    let bytes = receive::body(exchange, &head.headers, incoming).await?;
    let sdl = String::from_utf8(bytes.to_vec()).map_err(|_| Refusal::bad_request("the body is not UTF-8"))?;
    let (live, metrics) = (Arc::clone(&exchange.worker.live), Arc::clone(&exchange.worker.metrics));
    let changed = tokio::task::spawn_blocking(move || apply(&live, &metrics, &sdl, &allowed)).await;
    let failed = |_| Err(Failure::Failed("a bug: the change panicked".into()));
    match changed.unwrap_or_else(failed) {
        Ok((plan, number)) => {
            let body = Reply::whole(report(&plan, number));
            Ok(Answer::page(json(StatusCode::OK, Media::Json, body)))
        }
        Err(failure) => Err(refusal(failure)),
    }
}

/// Whether a browser sends it for a page from elsewhere, which it does without asking where the body is plain text.
fn is_of_a_page(head: &Parts) -> bool {
    let text = |name| head.headers.get(name).and_then(|it: &HeaderValue| it.to_str().ok());
    let host = text(HOST).or_else(|| head.uri.authority().map(Authority::as_str));
    text(ORIGIN).is_some_and(|origin| origin.split_once("://").map(|it| it.1) != host)
}

fn refusal(failure: Failure) -> Refusal {
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    match failure {
        Failure::None => {
            let message = "there is not exactly one native source; change its file, then reload";
            Refusal::new(StatusCode::NOT_FOUND, "NOT_FOUND", message)
        }
        Failure::Text(message) => Refusal::new(status, "SCHEMA_INVALID", message),
        Failure::Refused(message) => Refusal::new(status, "MIGRATION_REFUSED", message),
        Failure::Failed(message) => Refusal::new(status, "MIGRATION_FAILED", message),
    }
}

fn apply(live: &Live, metrics: &Metrics, sdl: &str, allowed: &[String]) -> Result<(Plan, u64), Failure> {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let generation = live.current();
    let mut natives = generation.config.sources.iter().filter_map(|it| Native::of(it).ok().flatten());
    let (Some(native), None) = (natives.next(), natives.next()) else { return Err(Failure::None) };
    let types = native.types_of(sdl).map_err(Failure::Text)?;
    let plan = native.migrate(&types, allowed).map_err(|error| match error {
        Error::Refused(_) => {
            Failure::Refused(error.to_string().replace("--allow-data-loss ", "?allow_data_loss="))
        }
        Error::Database(_)
        | Error::Unreachable(_)
        | Error::Missing
        | Error::Foreign { .. }
        | Error::Format { .. }
        | Error::Stored(_)
        | Error::Changed => Failure::Failed(error.to_string()),
    })?;
    native
        .write(sdl)
        .map_err(|cause| Failure::Failed(format!("the file of types cannot be written: {cause}")))?;
    let number = super::reload(live, metrics).map_err(Failure::Failed)?;
    Ok((plan, number))
}

/// `{"data":{"code":"Success","message":"Done"},"changes":[…],"generation":2}`.
fn report(plan: &Plan, number: u64) -> Vec<u8> {
    let mut out = br#"{"data":{"code":"Success","message":"Done"},"changes":["#.to_vec();
    for (place, change) in plan.changes.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        string(&mut out, change);
    }
    out.extend_from_slice(format!("],\"generation\":{number}}}").as_bytes());
    out
}
