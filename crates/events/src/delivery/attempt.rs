//! Calls the receiver of an event.

use super::decision::{Decision, RetryPolicy, decide};
use super::invocation::{self, Invocation, LogVersion};
use super::trace::CallTrace;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_language::json::{Json, quote};
use weir_metadata::document::webhook::{HeaderEntry, RequestTransform, ResponseTransform, WebhookAddress};
use weir_webhook::environment::{Environment, resolve_address, resolve_headers};
use weir_webhook::headers::{event_headers, write_event_headers};
use weir_webhook::transform::{OriginalAnswer, OriginalRequest, Value, read_body};
use weir_webhook::{
    EnvironmentError, RequestTransformer, ResponseTransformer, TransformErrors, WebhookClient, WebhookError,
    WebhookRequest, WebhookUrl,
};

/// Maximum depth of a body in the log.
const BODY_DEPTH_MAX: u32 = 200;

/// Longest time of a call, whatever its trigger says.
const WHOLE_MAX: Duration = Duration::from_secs(30 * 60);

/// The webhook that gets events.
#[derive(Clone, Debug)]
pub struct Receiver {
    url: WebhookUrl,
    /// The address before its variables are filled in, for traces.
    template: Box<str>,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Names and values of `headers` for the log, as JSON text.
    logged_headers: String,
    timeout: Duration,
    version: LogVersion,
    request_transform: Option<Arc<RequestTransformer>>,
    response_transform: Option<Arc<ResponseTransformer>>,
}

impl Receiver {
    /// Resolves the variables of an address and headers.
    /// # Errors
    /// A variable is not set, or the address is none.
    pub fn new(
        address: &WebhookAddress,
        headers: &[HeaderEntry],
        timeout: Duration,
        version: LogVersion,
        environment: &Environment<'_>,
    ) -> Result<Self, String> {
        let words = |error: EnvironmentError| error.to_string();
        let url = WebhookUrl::parse(&resolve_address(address, environment).map_err(words)?)?;
        let mut logged_headers = String::new();
        write_event_headers(headers, &mut logged_headers);
        let headers = event_headers(resolve_headers(headers, environment).map_err(words)?);
        let timeout = timeout.min(WHOLE_MAX);
        let (request_transform, response_transform) = (None, None);
        let template = match address {
            WebhookAddress::Template(text) => text.as_str().into(),
            WebhookAddress::FromEnv(name) => format!("{{{{{name}}}}}").into(),
        };
        Ok(Self {
            url,
            template,
            headers,
            logged_headers,
            timeout,
            version,
            request_transform,
            response_transform,
        })
    }
}

impl Receiver {
    /// The receiver with transforms of its calls and answers.
    /// # Errors
    /// Templates that do not parse.
    pub fn with_transforms(
        self,
        request: Option<&RequestTransform>,
        response: Option<&ResponseTransform>,
    ) -> Result<Self, String> {
        let request = request.map(RequestTransformer::parse).transpose();
        let request = request.map_err(|it| format!("request transform validation failed: {it}"))?;
        let response = response.map(ResponseTransformer::parse).transpose();
        let response = response.map_err(|it| format!("response transform validation failed: {it}"))?;
        Ok(Self {
            request_transform: request.map(Arc::new),
            response_transform: response.map(Arc::new),
            ..self
        })
    }

    /// The call with `body`, and what its answer's transform sees of it.
    fn make_call(
        &self,
        body: &str,
        session_variables: &Value,
    ) -> Result<(WebhookRequest, Value), TransformErrors> {
        let mut request = WebhookRequest {
            method: Method::POST,
            url: self.url.clone(),
            headers: self.headers.clone(),
            body: Bytes::copy_from_slice(body.as_bytes()),
            timeout: self.timeout,
            span: None,
        };
        let Some(transform) = &self.request_transform else { return Ok((request, Value::Null)) };
        let original = OriginalRequest {
            method: request.method.clone(),
            url: &self.url,
            headers: request.headers.clone(),
            body: request.body.clone(),
            session_variables: session_variables.clone(),
        };
        let made = transform.apply(original)?;
        (request.method, request.url, request.headers, request.body) =
            (made.method, made.url, made.headers, made.body);
        Ok((request, made.context))
    }

    fn needs_session(&self) -> bool {
        self.request_transform.is_some() || self.response_transform.is_some()
    }
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// True if the event is delivered.
    pub is_success: bool,
    /// True if the receiver answered, with whatever status.
    pub is_answered: bool,
    /// The pause that the receiver asks for.
    pub retry_after: Option<Duration>,
    /// The row of the log; `None` if the transform of the request failed, so that nobody was called.
    pub row: Option<Invocation>,
}

impl Attempt {
    /// Decides about the event after this attempt, see [`decide`]. A transform that failed will fail again.
    pub fn decide(&self, tries: u32, policy: RetryPolicy) -> Decision {
        match self.row {
            Some(_) => decide(self.is_success, self.retry_after, tries, policy),
            None => Decision::Failed,
        }
    }

    /// An attempt without an answer that counts.
    fn failed(status: Option<u16>, request: String, response: String) -> Self {
        let row = Some(Invocation { status, request, response });
        Self { is_success: false, is_answered: false, retry_after: None, row }
    }
}

/// Calls `receiver` with `body`, a JSON text, within `trace`.
pub async fn attempt(
    client: &WebhookClient,
    receiver: &Receiver,
    body: String,
    trace: &CallTrace<'_>,
) -> Attempt {
    let Some(delivery) = trace.begin() else { return call(client, receiver, trace.name, body, |_| {}).await };
    let push = |request: &mut WebhookRequest| trace.push_headers(&delivery, request, &receiver.template);
    let attempted = call(client, receiver, trace.name, body, push).await;
    trace.end(&delivery, attempted.is_success);
    attempted
}

/// Calls `receiver` for `trigger`; `finish` adds to the request what transforms do not see.
async fn call(
    client: &WebhookClient,
    receiver: &Receiver,
    trigger: &str,
    body: String,
    finish: impl FnOnce(&mut WebhookRequest),
) -> Attempt {
    let session_variables = if receiver.needs_session() { session_of(&body) } else { Value::Null };
    let (mut request, context) = match receiver.make_call(&body, &session_variables) {
        Ok(made) => made,
        Err(errors) => {
            tracing::error!(trigger, %errors, "the request of an event cannot be transformed: it has failed, and nobody was called");
            return Attempt { is_success: false, is_answered: false, retry_after: None, row: None };
        }
    };
    finish(&mut request);
    let answered = client.send(&request, Instant::now() + receiver.timeout).await;
    let version = receiver.version;
    let sent = match &receiver.request_transform {
        None => body,
        Some(_) => loggable_body(&request.body),
    };
    let logged = invocation::write_request(version, &sent, &receiver.logged_headers);
    let answer = match answered {
        Ok(answer) => answer,
        Err(error) => {
            let is_whole = error == WebhookError::Timeout && receiver.timeout >= WHOLE_MAX;
            let response = invocation::write_error(version, &error);
            return Attempt::failed(is_whole.then_some(500), logged, response);
        }
    };
    let transformed = match &receiver.response_transform {
        None => Ok(answer.body.clone()),
        Some(transform) => transform.apply(&OriginalAnswer {
            status: answer.status,
            body: &answer.body,
            session_variables,
            request: context,
        }),
    };
    match transformed {
        Ok(body) => {
            let response = invocation::write_answer(version, &answer, &body);
            let status = invocation::status_of(answer.status);
            Attempt {
                is_success: answer.is_success(),
                is_answered: true,
                retry_after: answer.retry_after(),
                row: Some(Invocation { status, request: logged, response }),
            }
        }
        Err(errors) => {
            Attempt::failed(Some(500), logged, invocation::write_failure(version, &errors.to_json()))
        }
    }
}

/// The session variables of the event in `body`.
fn session_of(body: &str) -> Value {
    let inner = |value: Value, key: &str| match value {
        Value::Object(members) => members.get(key).cloned().unwrap_or(Value::Null),
        _ => Value::Null,
    };
    inner(inner(read_body(body.as_bytes()), "event"), "session_variables")
}

/// A body as JSON text for the log: a form is a JSON string there, and no body is null.
fn loggable_body(body: &Bytes) -> String {
    let text = String::from_utf8_lossy(body);
    match Json::parse(body, BODY_DEPTH_MAX) {
        Ok(_) => text.into_owned(),
        Err(_) if text.is_empty() => "null".to_owned(),
        Err(_) => {
            let mut quoted = String::with_capacity(text.len() + 2);
            quote(&text, &mut quoted);
            quoted
        }
    }
}
