//! Makes one call, and decides by its status what the answer is.
//!
//! **Invariant:** a handler is called once; what it answers is bounded in size and depth.

use super::forwarded_headers::{HeaderLines, HeaderPrecedence, merge};
use super::handler_error::read_refusal;
use super::request_body::BodyParts;
use crate::action_error::{ActionCode, ActionError};
use crate::model::Action;
use bytes::Bytes;
use http::header::SET_COOKIE;
use http::{HeaderMap, Method, StatusCode};
use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::call_span::CallSpan;
use weir_engine::source::AnswerNotes;
use weir_language::json::{Json, JsonRef};
use weir_language::string_value::write_json;
use weir_metadata::document::action::{ActionKind, ActionOperation, TIMEOUT_S};
use weir_webhook::environment::resolve_headers;
use weir_webhook::headers::default_headers;
use weir_webhook::{WebhookAnswer, WebhookClient, WebhookError, WebhookRequest};

/// The value of a variable of the environment, if it is set.
pub(crate) type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Settings of all calls.
#[derive(Clone)]
pub(crate) struct CallSettings {
    pub(crate) client: Arc<WebhookClient>,
    pub(crate) environment: Variables,
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
}

/// The body of an answer with a status from 200 to 299.
pub(crate) struct HandlerAnswer {
    pub(crate) body: Bytes,
    /// Details for the admin, if the body does not fit.
    pub(crate) internal: String,
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

impl HandlerCall<'_> {
    /// Makes the call.
    /// # Errors
    /// The handler cannot be reached, refuses, or answers what is no answer.
    pub(crate) async fn send(self) -> Result<HandlerAnswer, ActionError> {
        let definition = &self.action.entry.definition;
        let configured = resolve_headers(&definition.headers, &*self.settings.environment)
            .map_err(|error| ActionError::new(ActionCode::NotFound, error.to_string()))?;
        let headers =
            merge(self.client_headers.clone(), default_headers(), configured, self.settings.precedence);
        let body = Bytes::from(self.parts.write());
        let request_bytes = body.len();
        let request = WebhookRequest {
            method: Method::POST,
            url: self.action.url.clone(),
            headers,
            body,
            timeout: Duration::from_secs(definition.timeout.unwrap_or(TIMEOUT_S).into()),
            span: self.span.clone(),
        };
        let answer = self.settings.client.send(&request, self.deadline).await;
        self.log(request_bytes, answer.as_ref());
        match answer {
            Ok(answer) => self.judge(answer),
            Err(error) => {
                tracing::warn!(action = %self.parts.action, %error, "a handler of an action did not answer");
                let internal = self.internal(&error.to_json(), None);
                let message = "http exception when calling webhook";
                Err(ActionError::new(ActionCode::Unavailable, message).with_internal(internal))
            }
        }
    }

    /// Decides by the status what `answer` is.
    fn judge(&self, answer: WebhookAnswer) -> Result<HandlerAnswer, ActionError> {
        let WebhookAnswer { status, headers, body } = answer;
        let failed = |error: ActionError, why: &str| {
            let mut quoted = String::new();
            write_json(why, &mut quoted);
            error.with_internal(self.internal(&quoted, Some((status, &headers, &body))))
        };
        let Ok(json) = Json::parse(&body, self.settings.nesting_max) else {
            return Err(failed(no_json(), "invalid json"));
        };
        if status.is_success() {
            let internal = self.internal("\"unexpected response\"", Some((status, &headers, &body)));
            drop(json);
            return Ok(HandlerAnswer { body, internal, headers });
        }
        if status.is_client_error() {
            let error = read_refusal(json.root(), status.as_u16());
            return Err(failed(error, "got client error"));
        }
        let why = format!("expecting 2xx or 4xx status code, but found {}", status.as_u16());
        Err(failed(ActionError::new(ActionCode::Answer, "internal error"), &why))
    }

    /// Details for the admin: `error` is JSON.
    fn internal(&self, error: &str, answer: Option<(StatusCode, &HeaderMap, &Bytes)>) -> String {
        let mut out = format!("{{\"error\":{error},\"request\":");
        self.parts.write_internal(&self.action.entry.definition.handler, None, &mut out);
        out.push_str(",\"response\":");
        match answer {
            None => out.push_str("null"),
            Some((status, headers, body)) => {
                // Writing to a string cannot fail.
                let _ = write!(out, "{{\"status\":{},\"body\":", status.as_u16());
                match Json::parse(body, self.settings.nesting_max) {
                    Ok(json) => out.push_str(json.root().raw()),
                    Err(_) => write_json(&String::from_utf8_lossy(body), &mut out),
                }
                out.push_str(",\"headers\":[");
                for (at, (name, value)) in headers.iter().enumerate() {
                    out.push_str(if at > 0 { ",{\"name\":" } else { "{\"name\":" });
                    write_json(name.as_str(), &mut out);
                    out.push_str(",\"value\":");
                    write_json(&String::from_utf8_lossy(value.as_bytes()), &mut out);
                    out.push('}');
                }
                out.push_str("]}");
            }
        }
        out.push('}');
        out
    }

    fn log(&self, request_bytes: usize, answer: Result<&WebhookAnswer, &WebhookError>) {
        let definition = &self.action.entry.definition;
        let kind = match (definition.operation, definition.kind) {
            (ActionOperation::Query, _) => "query",
            (ActionOperation::Mutation, ActionKind::Synchronous) => "mutation-synchronous",
            (ActionOperation::Mutation, ActionKind::Asynchronous) => "mutation-asynchronous",
        };
        let status = answer.map_or(0, |it| it.status.as_u16());
        let response_bytes = answer.map_or(0, |it| it.body.len());
        tracing::info!(
            action_name = %self.parts.action,
            action_type = kind,
            handler = %definition.handler,
            request_bytes,
            response_bytes,
            status,
            "action-handler-log"
        );
    }
}
