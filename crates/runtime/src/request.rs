//! A request of the embedding program, and its response.

use crate::data::Data;
use crate::error::{BAD_USER_INPUT, field_error, internal};
use std::any::Any;
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::engine::{self, Body, Outcome};
use weir_engine::source::{FieldError, Headers, NoHeaders};
use weir_language::json::{JsonRef, quote};

/// Time for a request without a deadline of its own.
const PATIENCE: Duration = Duration::from_secs(30);

/// Variables of a request.
#[derive(Clone, Copy)]
pub(crate) enum RequestVariables<'r> {
    None,
    Text(&'r str),
    Json(JsonRef<'r>),
}

/// A document, its variables, and what the program says of the client.
///
/// ```
/// use weir_runtime::Request;
/// let request = Request::new("query ($id: ID!) { user(id: $id) { name } }").variables(r#"{"id": "7"}"#);
/// # let _ = request;
/// ```
pub struct Request<'r> {
    pub(crate) query: &'r str,
    pub(crate) operation_name: Option<&'r str>,
    pub(crate) variables: RequestVariables<'r>,
    pub(crate) data: Data,
    pub(crate) identity: Option<Identity>,
    pub(crate) headers: &'r dyn Headers,
    pub(crate) deadline: Instant,
    pub(crate) queries_only: bool,
}

impl<'r> Request<'r> {
    /// A document with one operation, without variables.
    #[must_use]
    pub fn new(query: &'r str) -> Self {
        Self {
            query,
            operation_name: None,
            variables: RequestVariables::None,
            data: Data::new(),
            identity: None,
            headers: &NoHeaders,
            deadline: Instant::now() + PATIENCE,
            queries_only: false,
        }
    }
    /// The operation to run, of several.
    #[must_use]
    pub fn operation(mut self, name: &'r str) -> Self {
        self.operation_name = Some(name);
        self
    }
    /// The variables: the text of a JSON object.
    #[must_use]
    pub fn variables(mut self, json: &'r str) -> Self {
        self.variables = RequestVariables::Text(json);
        self
    }
    /// The variables: an object in JSON that is read already.
    #[must_use]
    pub fn json_variables(mut self, json: JsonRef<'r>) -> Self {
        self.variables = RequestVariables::Json(json);
        self
    }
    /// A value for resolvers ([`crate::Context::data`]).
    #[must_use]
    pub fn data<T: Any + Send + Sync>(mut self, value: T) -> Self {
        self.data = self.data.with(value);
        self
    }
    /// Who asks: role and claims, for profiles, permissions of other sources, and resolvers. Without one the caller has no role.
    #[must_use]
    pub fn identity(mut self, identity: Identity) -> Self {
        self.identity = Some(identity);
        self
    }
    /// The client's headers.
    #[must_use]
    pub fn headers(mut self, headers: &'r dyn Headers) -> Self {
        self.headers = headers;
        self
    }
    /// When the answer has to be there.
    #[must_use]
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.deadline = deadline;
        self
    }
    /// Refuses mutations, as the transport is a GET.
    #[must_use]
    pub fn queries_only(mut self) -> Self {
        self.queries_only = true;
        self
    }
}

/// An answer, whole.
#[derive(Debug)]
pub struct Response {
    /// The JSON of `data` and `errors`.
    pub body: Vec<u8>,
    /// For the status of the transport.
    pub outcome: Outcome,
    /// Duration of each stage.
    pub timing: engine::Timing,
}

impl Response {
    /// The JSON as text.
    #[must_use]
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap_or_default()
    }

    /// True if the answer has no errors: known errors come first.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        !self.body.starts_with(b"{\"errors\":")
    }

    /// The status of GraphQL over HTTP for clients that accept `application/graphql-response+json`.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self.outcome {
            Outcome::Executed => 200,
            Outcome::Refused | Outcome::Subscription => 400,
            Outcome::MethodNotAllowed(_) => 405,
        }
    }

    /// A request that is refused for its variables.
    pub(crate) fn refused(message: &str) -> Self {
        Self::failed(&field_error(BAD_USER_INPUT, message))
    }

    /// A request that is refused before it has data.
    pub(crate) fn failed(error: &FieldError) -> Self {
        let mut body = String::from("{\"errors\":[{\"message\":");
        quote(&error.message, &mut body);
        body.push_str(",\"extensions\":{\"code\":");
        quote(error.code, &mut body);
        body.push_str("}}]}");
        Self::of_errors(body.into_bytes())
    }

    /// A request that is refused with this body.
    pub(crate) fn of_errors(body: Vec<u8>) -> Self {
        Self { body, outcome: Outcome::Refused, timing: engine::Timing::default() }
    }

    /// Waits for all of the engine's answer.
    pub(crate) async fn collect(response: engine::Response) -> Self {
        let engine::Response { body, outcome, timing, .. } = response;
        let body = match body {
            Body::Whole(bytes) => bytes,
            Body::Shared(bytes) => bytes.into(),
            Body::Stream { head: mut all, mut rest } => {
                while let Some(chunk) = rest.recv().await {
                    match chunk {
                        Ok(chunk) => all.extend_from_slice(&chunk),
                        Err(_) => return Self::failed(&internal()),
                    }
                }
                all
            }
            // No request here asks for parts.
            Body::Increments { .. } => return Self::failed(&internal()),
        };
        Self { body, outcome, timing }
    }
}
