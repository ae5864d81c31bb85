//! A request of the embedding program, and its response.

use crate::context::data::Data;
use crate::input::uploaded_file::Upload;
use crate::resolve_error::{BAD_USER_INPUT, field_error, internal};
use crate::rust_types::uploads::Uploads;
use futures_util::stream::{self, BoxStream, StreamExt};
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::engine::{self, Aborted, Body, Outcome};
use weir_engine::errors::error_text::error_body;
use weir_engine::source::{FieldError, Headers, NoHeaders};
use weir_engine::unread::Receiver;
use weir_language::ast::OperationKind;
use weir_language::json::{Json, JsonRef};

/// Time for a request without a deadline of its own.
const PATIENCE: Duration = Duration::from_secs(30);

/// Upper bound of the nesting of variables.
const VARIABLES_DEPTH_MAX: u32 = 200;

/// Variables of a request.
#[derive(Clone, Copy)]
pub(crate) enum RequestVariables<'r> {
    None,
    Text(&'r str),
    Json(JsonRef<'r>),
}

impl<'r> RequestVariables<'r> {
    /// The tape of variables that are a text, which have to be an object.
    pub(crate) fn read(self) -> Result<Option<Json<'r>>, String> {
        let Self::Text(text) = self else { return Ok(None) };
        let tape = Json::parse(text.as_bytes(), VARIABLES_DEPTH_MAX);
        let tape = tape.map_err(|error| format!("the variables are not valid JSON: {error}"))?;
        if tape.root().is_object() || tape.root().is_null() {
            Ok(Some(tape))
        } else {
            Err("the variables are no JSON object".into())
        }
    }

    /// The variables; `tape` is what [`RequestVariables::read`] gave.
    pub(crate) fn root<'t>(self, tape: Option<&'t Json<'t>>) -> Option<JsonRef<'t>>
    where
        'r: 't,
    {
        let root = match self {
            Self::Json(json) => Some(json),
            Self::None | Self::Text(_) => tape.map(Json::root),
        };
        root.filter(|it| !it.is_null())
    }
}

/// A document, its variables, and data of the program about the client.
///
/// ```
/// use std::time::{Duration, Instant};
/// use weir_runtime::Request;
/// let request = Request::new("query Q($id: ID!) { user(id: $id) { name } }")
///     .operation("Q")
///     .variables(r#"{"id": "7"}"#)
///     .data("for resolvers")
///     .deadline(Instant::now() + Duration::from_secs(2))
///     .queries_only();
/// # let _ = request;
/// ```
pub struct Request<'r> {
    pub(crate) query: &'r str,
    pub(crate) operation_name: Option<&'r str>,
    pub(crate) variables: RequestVariables<'r>,
    pub(crate) uploads: Arc<[Upload]>,
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
            uploads: Arc::default(),
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
    /// The variables, with files in them.
    #[must_use]
    pub fn uploads(mut self, uploads: &'r Uploads) -> Self {
        self.variables = RequestVariables::Text(&uploads.variables);
        self.uploads = uploads.files.as_slice().into();
        self
    }
    /// A value for resolvers ([`crate::Context::data`]).
    #[must_use]
    pub fn data<T: Any + Send + Sync>(mut self, value: T) -> Self {
        self.data = self.data.with(value);
        self
    }
    /// The caller: role and claims, for profiles, permissions of other sources, and resolvers. Without one the caller has no role.
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

    /// Copies the program's data about the client from `other`: data, identity and deadline.
    #[cfg(feature = "http")]
    pub(crate) fn prepared_as(mut self, other: &Self) -> Self {
        self.data = other.data.clone();
        self.identity = other.identity.clone();
        self.deadline = other.deadline;
        self.queries_only = other.queries_only;
        self
    }

    /// The request as the engine takes it; `tape` is what [`RequestVariables::read`] gave.
    pub(crate) fn for_engine<'t>(
        &'t self,
        tape: Option<&'t Json<'t>>,
        headers: &'t dyn Headers,
    ) -> engine::Request<'t> {
        engine::Request {
            operation_name: self.operation_name,
            variables: self.variables.root(tape),
            queries_only: self.queries_only,
            headers,
            ..engine::Request::new(self.query, self.deadline)
        }
    }
}

/// An answer, whole.
///
/// ```
/// use weir_runtime::{Context, Request, Schema, root};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema = Schema::builder("type Query { hello: String! }")
///     .resolve("Query.hello", root(|_: &(), _: &Context| "world"))
///     .build()?;
/// let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
/// let ask = |query| runtime.block_on(schema.execute(Request::new(query)));
/// let answer = ask("{ hello }");
/// assert_eq!((answer.text(), answer.status()), (r#"{"data":{"hello":"world"}}"#, 200));
/// let refused = ask("{ nothing }");
/// assert_eq!((refused.is_ok(), refused.status()), (false, 400));
/// # Ok(())
/// # }
/// ```
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

    /// Response to a request with invalid variables.
    pub(crate) fn bad_variables(message: &str) -> Self {
        Self::from_error(&field_error(BAD_USER_INPUT, message))
    }

    /// Response with an error and no data.
    pub(crate) fn from_error(error: &FieldError) -> Self {
        Self::of_errors(error_body(&error.message, error.code, None))
    }

    /// Response to an operation kind that the transport does not allow.
    pub(crate) fn method_not_allowed(kind: OperationKind) -> Self {
        let error = field_error("METHOD_NOT_ALLOWED", "this transport takes queries alone");
        Self { outcome: Outcome::MethodNotAllowed(kind), ..Self::from_error(&error) }
    }

    /// Response of a request that failed before execution, with this body.
    pub(crate) fn of_errors(body: Vec<u8>) -> Self {
        Self { body, outcome: Outcome::Refused, timing: engine::Timing::default() }
    }

    /// Collects the whole answer of the engine.
    pub(crate) async fn collect(response: engine::Response) -> Self {
        let engine::Response { body, outcome, timing, .. } = response;
        let body = match body {
            Body::Whole(bytes) => bytes,
            Body::Shared(bytes) => bytes.into(),
            Body::Stream { head: mut all, mut rest } => {
                while let Some(chunk) = rest.recv().await {
                    match chunk {
                        Ok(chunk) => all.extend_from_slice(&chunk),
                        Err(_) => return Self::from_error(&internal()),
                    }
                }
                all
            }
            // Only `IncrementalResponse` takes an answer in parts.
            Body::Increments { .. } => return Self::from_error(&internal()),
        };
        Self { body, outcome, timing }
    }
}

/// An answer in parts. [`Schema::execute_incremental`](crate::Schema::execute_incremental) has an example.
pub struct IncrementalResponse {
    /// The first part, or the whole answer.
    pub first: Response,
    /// The JSON of each later part, as its sources answer; nothing if the first is all.
    pub rest: BoxStream<'static, Vec<u8>>,
    /// True if there are later parts.
    pub has_next: bool,
}

impl fmt::Debug for IncrementalResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, has_next, .. } = self;
        f.debug_struct("IncrementalResponse").field("first", first).field("has_next", has_next).finish()
    }
}

impl IncrementalResponse {
    pub(crate) fn whole(first: Response) -> Self {
        Self { first, rest: stream::empty().boxed(), has_next: false }
    }

    pub(crate) async fn of(response: engine::Response) -> Self {
        let outcome = response.outcome;
        let timing = response.timing;
        match response.body {
            Body::Increments { first: body, rest } => {
                let next = |mut rest: Receiver<Result<Vec<u8>, Aborted>>| async move {
                    let part = rest.recv().await?.ok()?;
                    Some((part, rest))
                };
                let rest = stream::unfold(rest, next).boxed();
                Self { first: Response { body, outcome, timing }, rest, has_next: true }
            }
            body @ (Body::Whole(_) | Body::Shared(_) | Body::Stream { .. }) => {
                Self::whole(Response::collect(engine::Response { body, ..response }).await)
            }
        }
    }
}
