//! Makes one call, and decides by its status what the answer is.
//!
//! **Invariant:** a handler is called once; what it answers is bounded in size and depth.

use super::call_report::{CallReport, ReportedAnswer};
use super::handler_error::read_refusal;
use super::merged_headers::{HeaderLines, HeaderPrecedence, merge};
use super::request_body::BodyParts;
use crate::action_error::{ActionCode, ActionError};
use crate::model::Action;
use bytes::Bytes;
use http::header::SET_COOKIE;
use http::{HeaderMap, Method};
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::call_span::CallSpan;
use weir_engine::source::AnswerNotes;
use weir_kriti::Value;
use weir_language::json::{Json, JsonRef};
use weir_metadata::document::action::TIMEOUT_S;
use weir_webhook::environment::{SharedEnvironment, resolve_headers};
use weir_webhook::headers::default_headers;
use weir_webhook::transform::{OriginalAnswer, OriginalRequest, TransformedRequest, read_body};
use weir_webhook::{WebhookAnswer, WebhookClient, WebhookRequest};

#[derive(Clone)]
pub(crate) struct CallSettings {
    pub(crate) client: Arc<WebhookClient>,
    pub(crate) environment: SharedEnvironment,
    pub(crate) precedence: HeaderPrecedence,
    /// Maximum nesting of an answer.
    pub(crate) nesting_max: u32,
}

/// A call to make.
pub(crate) struct HandlerCall<'c> {
    pub(crate) action: &'c Action,
    pub(crate) settings: &'c CallSettings,
    pub(crate) parts: BodyParts<'c>,
    /// Headers of the client that go along.
    pub(crate) client_headers: HeaderLines,
    pub(crate) deadline: Instant,
    pub(crate) span: Option<CallSpan>,
    /// True if errors have details of the call.
    pub(crate) has_details: bool,
}

/// The body of an answer with a status from 200 to 299.
pub(crate) struct HandlerAnswer {
    pub(crate) body: Bytes,
    /// Details of the call, if they are wanted and the body does not fit.
    pub(crate) internal: Option<String>,
    headers: HeaderMap,
}

impl HandlerAnswer {
    /// Notes the cookies of the answer for the client.
    pub(crate) fn note_cookies(&self, notes: Option<&AnswerNotes>) {
        let Some(notes) = notes else { return };
        self.headers.get_all(SET_COOKIE).iter().for_each(|it| notes.add_cookie(it.as_bytes()));
    }

    /// The body as a text of JSON.
    pub(crate) fn text(&self) -> Result<String, ActionError> {
        std::str::from_utf8(&self.body).map(|it| it.trim().to_owned()).map_err(|_| no_json())
    }

    /// Runs `read` on the JSON of the body.
    pub(crate) fn read<T>(
        &self,
        nesting_max: u32,
        read: impl FnOnce(JsonRef<'_>) -> T,
    ) -> Result<T, ActionError> {
        let json = Json::parse(&self.body, nesting_max).map_err(|_| no_json())?;
        Ok(read(json.root()))
    }
}

fn no_json() -> ActionError {
    ActionError::new(ActionCode::Answer, "not a valid json response from webhook")
}

/// A transformed request in details: without headers, which may have secrets.
fn show_request(request: &WebhookRequest) -> String {
    let quote = CallReport::quote;
    let body = match std::str::from_utf8(&request.body) {
        Ok(text) if !text.is_empty() => quote(text),
        _ => "null".to_owned(),
    };
    let (method, url) = (quote(request.method.as_str()), quote(request.url.text()));
    format!("{{\"method\":{method},\"url\":{url},\"body\":{body}}}")
}

impl HandlerCall<'_> {
    /// Makes the call.
    /// # Errors
    /// The handler cannot be reached, refuses, or answers what is no answer; or a transform has no result.
    pub(crate) async fn send(self) -> Result<HandlerAnswer, ActionError> {
        let TransformedRequest { method, url, headers, body, context } = self.make_request()?;
        let timeout_s = self.action.entry.definition.timeout.unwrap_or(TIMEOUT_S);
        let request_bytes = body.len();
        let timeout = Duration::from_secs(timeout_s.into());
        let span = self.span.clone();
        let request = WebhookRequest { method, url, headers, body, timeout, span };
        let answer = self.settings.client.send(&request, self.deadline).await;
        let is_transformed = self.has_details && self.action.request_transform.is_some();
        let transformed = is_transformed.then(|| show_request(&request));
        let nesting_max = self.settings.nesting_max;
        let report = CallReport { action: self.action, parts: self.parts, transformed, nesting_max };
        report.log(request_bytes, answer.as_ref());
        match answer {
            Ok(answer) => self.judge(&report, answer, context),
            Err(error) => {
                tracing::warn!(action = %self.parts.action, %error, "a handler of an action did not answer");
                let failed = ActionError::new(ActionCode::Unavailable, "http exception when calling webhook");
                let details = || report.write(&error.to_json(), None);
                Err(failed.with_internal(self.has_details.then(details)))
            }
        }
    }

    /// The request, transformed if the action says how.
    fn make_request(&self) -> Result<TransformedRequest, ActionError> {
        let definition = &self.action.entry.definition;
        let configured = resolve_headers(&definition.headers, &*self.settings.environment)
            .map_err(|error| ActionError::new(ActionCode::NotFound, error.to_string()))?;
        let client = self.client_headers.clone();
        let headers = merge(client, default_headers(), configured, self.settings.precedence);
        let body = Bytes::from(self.parts.write());
        let url = &self.action.url;
        let method = Method::POST;
        let Some(transform) = &self.action.request_transform else {
            return Ok(TransformedRequest { method, url: url.clone(), headers, body, context: Value::Null });
        };
        let session_variables = self.session();
        let original = OriginalRequest { method, url, headers, body, session_variables };
        transform.apply(original).map_err(|errors| {
            let failed = ActionError::new(ActionCode::Answer, "Request Transformation Failed");
            failed.with_internal(self.has_details.then(|| errors.to_json()))
        })
    }

    /// Session variables in templates.
    fn session(&self) -> Value {
        read_body(self.parts.session_variables.as_bytes())
    }

    /// Decides by the status what `answer` is; `context` is the request in templates.
    fn judge(
        &self,
        report: &CallReport<'_>,
        answer: WebhookAnswer,
        context: Value,
    ) -> Result<HandlerAnswer, ActionError> {
        let WebhookAnswer { status, headers, body } = answer;
        let body = match &self.action.response_transform {
            None => body,
            Some(transform) => {
                let session_variables = self.session();
                let original = OriginalAnswer { status, body: &body, session_variables, request: context };
                transform.apply(&original).map_err(|errors| {
                    let failed = ActionError::new(ActionCode::Answer, "Response Transformation Failed");
                    failed.with_internal(self.has_details.then(|| errors.to_json()))
                })?
            }
        };
        let details = |why: &str| {
            let answer = ReportedAnswer { status, headers: &headers, body: &body };
            self.has_details.then(|| report.write(&CallReport::quote(why), Some(answer)))
        };
        let Ok(json) = Json::parse(&body, self.settings.nesting_max) else {
            return Err(no_json().with_internal(details("invalid json")));
        };
        if status.is_client_error() {
            let error = read_refusal(json.root(), status.as_u16());
            return Err(error.with_internal(details("got client error")));
        }
        if !status.is_success() {
            let why = format!("expecting 2xx or 4xx status code, but found {}", status.as_u16());
            return Err(ActionError::new(ActionCode::Answer, "internal error").with_internal(details(&why)));
        }
        let internal = details("unexpected response");
        drop(json);
        Ok(HandlerAnswer { body, internal, headers })
    }
}
