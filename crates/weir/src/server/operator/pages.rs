//! Pages for operators: version and metrics; and what the questions of operators have in common.

use super::tools::HASURA_VERSION;
use crate::server::request::answer::Answer;
use crate::server::request::answer::refusal::Refusal;
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::context::RequestContext;
use crate::server::request::negotiate::{self, Media};
use crate::server::telemetry::exposition;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, VARY};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use weir_language::json::JsonRef;

/// The content types of the metrics page. Source: OpenMetrics 1.0.
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Content type of the older format. Source: Prometheus, exposition formats.
const PROMETHEUS_TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A page of plain text.
pub(crate) fn page(status: StatusCode, text: impl Into<String>) -> Answer {
    let mut response = Response::new(ResponseBody::whole(text.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Answer::page(response)
}

/// The version that Hasura's tools check, and Weir's version.
pub(crate) fn version() -> Answer {
    let own = env!("CARGO_PKG_VERSION");
    let text =
        format!("{{\"version\":\"{HASURA_VERSION}\",\"server_type\":\"ce\",\"weir_version\":\"{own}\"}}");
    Answer::page(json(StatusCode::OK, Media::Json, ResponseBody::whole(text.into_bytes())))
}

/// All metrics, as OpenMetrics if the client asks for it.
pub(crate) fn metrics(context: &RequestContext, head: &Parts) -> Answer {
    let sources = context.generation.engine.graph().sources();
    let live = context.generation.live.state();
    let admission = context.generation.admission.counts();
    let text = context.worker.metrics.page(sources.iter().map(|it| &it.0), live, admission);
    let (content_type, text) = if negotiate::wants_openmetrics(&head.headers) {
        (OPENMETRICS, text)
    } else {
        (PROMETHEUS_TEXT, exposition::prometheus_text(&text))
    };
    let mut answer = page(StatusCode::OK, text);
    let headers = answer.response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(VARY, HeaderValue::from_static("accept"));
    answer
}

/// Refuses a body whose content type is not JSON.
pub(super) fn check_json(head: &Parts) -> Result<(), Refusal> {
    let message = "a POST needs `content-type: application/json`";
    if negotiate::is_json(&head.headers) {
        Ok(())
    } else {
        Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE", message))
    }
}

/// The member `name` of a question, a text that is not empty.
pub(super) fn read_text(asked: JsonRef<'_>, name: &str) -> Result<String, Refusal> {
    let found = asked.get(name).and_then(|it| it.as_str()).filter(|it| !it.is_empty());
    found
        .map(std::borrow::Cow::into_owned)
        .ok_or_else(|| Refusal::bad_request(format!("`{name}` has to be a text")))
}
