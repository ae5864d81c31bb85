//! GraphQL over HTTP in one function, for every server that speaks the types of the crate `http`: hyper, axum, a tower service.
//! Other servers convert their requests and responses.
//!
//! - POST with JSON, GET for queries, POST with files by the multipart convention.
//! - Subscriptions as server-sent events: graphql-sse, distinct connections.
//! - Answers in parts (`@defer`) as `multipart/mixed`.
//! - Status and media type as GraphQL over HTTP says.
//!
//! ```
//! use bytes::Bytes;
//! use http_body_util::Full;
//! use weir_runtime::http::{HttpBody, HttpOptions, answer};
//! use weir_runtime::Schema;
//!
//! async fn graphql(schema: &Schema, request: http::Request<Full<Bytes>>) -> http::Response<HttpBody> {
//!     answer(schema, request, &HttpOptions::STANDARD, |request| request.data("what resolvers see")).await
//! }
//! ```
//!
//! Paths, authentication, TLS, compression, CORS and time limits are the server's.
//!
//! **Invariant:** a request that changes something passes a browser's preflight: a POST has a content type that forms cannot send,
//! or a header that they cannot set.
//!
//! Sources: GraphQL over HTTP, sections 4 to 6; graphql-sse's `PROTOCOL.md`.

mod accept;
#[cfg(feature = "uploads")]
mod multipart;
mod reply;

#[cfg(feature = "uploads")]
pub use multipart::UploadLimits;
pub use reply::HttpBody;

use crate::request::Request;
use crate::schema::Schema;
use accept::{Accepted, PartsForm, accepted, increments};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap};
use http::request::Parts;
use http::{Method, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, Limited};
use reply::{Refusal, events, parts, whole_answer};
use std::borrow::Cow;
use std::time::Duration;
use weir_engine::source::Headers;
use weir_language::json::{Json, JsonRef};

/// Nesting of a body.
const BODY_DEPTH_MAX: u32 = 200;

/// An error of a request's body.
type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// Bounds of requests.
///
/// ```
/// # #[cfg(feature = "uploads")] {
/// use weir_runtime::http::{HttpOptions, UploadLimits};
/// let uploads = UploadLimits { files_max: 3, ..UploadLimits::STANDARD };
/// let options = HttpOptions { body_bytes_max: 64 << 10, uploads: Some(uploads), ..HttpOptions::STANDARD };
/// # let _ = options;
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct HttpOptions {
    /// Bytes of a body in JSON, and of a URL's query.
    pub body_bytes_max: usize,
    /// Time for the first byte of the response to an event of a subscription.
    pub patience: Duration,
    /// Bounds of files; `None`: requests with files are refused.
    #[cfg(feature = "uploads")]
    pub uploads: Option<UploadLimits>,
}

impl HttpOptions {
    /// A megabyte of JSON, no files.
    pub const STANDARD: Self = Self {
        body_bytes_max: 1 << 20,
        patience: Duration::from_secs(30),
        #[cfg(feature = "uploads")]
        uploads: None,
    };
}

/// Headers of the crate `http` as resolvers see them.
struct ClientHeaders<'h>(&'h HeaderMap);

impl Headers for ClientHeaders<'_> {
    fn each<'h>(&'h self, name: &str, take: &mut dyn FnMut(&'h [u8])) {
        self.0.get_all(name).iter().for_each(|value| take(value.as_bytes()));
    }
}

/// A request without its body, and how it is answered.
struct Asked<'a> {
    schema: &'a Schema,
    head: &'a Parts,
    headers: ClientHeaders<'a>,
    options: &'a HttpOptions,
    accepted: Accepted,
    increments: Option<PartsForm>,
}

/// Answers `request`; `prepare` adds what the server knows of it: [`Request::identity`], [`Request::data`], [`Request::deadline`].
///
/// ```
/// use bytes::Bytes;
/// use http_body_util::{BodyExt, Full};
/// use weir_runtime::http::{HttpOptions, answer};
/// use weir_runtime::{Context, Schema, root};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema = Schema::builder("type Query { who: String }")
///     .resolve("Query.who", root(|_: &(), context: &Context| context.find::<&str>().copied()))
///     .build()?;
/// let body = Full::new(Bytes::from(r#"{"query": "{ who }"}"#));
/// let request = http::Request::post("/graphql").header("content-type", "application/json").body(body)?;
/// let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
/// let body = runtime.block_on(async {
///     let response = answer(&schema, request, &HttpOptions::STANDARD, |request| request.data("Ada")).await;
///     assert_eq!(response.status(), 200);
///     response.into_body().collect().await
/// })?;
/// assert_eq!(body.to_bytes(), r#"{"data":{"who":"Ada"}}"#);
/// # Ok(())
/// # }
/// ```
pub async fn answer<B>(
    schema: &Schema,
    request: http::Request<B>,
    options: &HttpOptions,
    prepare: impl for<'r> FnOnce(Request<'r>) -> Request<'r> + Send,
) -> Response<HttpBody>
where
    B: Body<Data = Bytes> + Send,
    B::Error: Into<BodyError>,
{
    let (head, body) = request.into_parts();
    let Some(accepted) = accepted(&head.headers) else {
        let words = "answers are application/graphql-response+json, application/json or text/event-stream";
        return Refusal::new(StatusCode::NOT_ACCEPTABLE, "NOT_ACCEPTABLE", words).response();
    };
    let increments = increments(&head.headers);
    let headers = ClientHeaders(&head.headers);
    let asked = Asked { schema, head: &head, headers, options, accepted, increments };
    let answered = match head.method {
        Method::GET => asked.by_get(prepare).await,
        Method::POST => asked.by_post(body, prepare).await,
        _ => Err(Refusal::method("GET, POST", "GraphQL is asked by GET or POST")),
    };
    answered.unwrap_or_else(|refusal| refusal.response())
}

/// Essence of the body's media type, in lower case.
fn content_type(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The body as JSON.
fn json(body: &[u8]) -> Result<Json<'_>, Refusal> {
    Json::parse(body, BODY_DEPTH_MAX).map_err(|error| Refusal::bad(format!("the body is no JSON: {error}")))
}

/// Members of a request in JSON.
struct Members<'j> {
    query: Cow<'j, str>,
    operation: Option<Cow<'j, str>>,
    variables: Option<JsonRef<'j>>,
}

/// The members of the request `json`; `what` it is, for the refusal.
fn members<'j>(json: JsonRef<'j>, what: &str) -> Result<Members<'j>, Refusal> {
    let member = |name: &str| json.get(name).filter(|it| !it.is_null());
    let text = |name: &str| member(name).and_then(|it| it.as_str());
    let query = text("query").ok_or_else(|| Refusal::bad(format!("{what} has no text `query`")))?;
    Ok(Members { query, operation: text("operationName"), variables: member("variables") })
}

impl Asked<'_> {
    /// A request without variables.
    fn request<'t>(&'t self, query: &'t str, operation: Option<&'t str>) -> Request<'t> {
        let request = Request::new(query).headers(&self.headers);
        match operation {
            Some(name) => request.operation(name),
            None => request,
        }
    }

    /// Runs `request` and answers in the form that the client takes.
    async fn respond(&self, request: Request<'_>) -> Result<Response<HttpBody>, Refusal> {
        if self.accepted == Accepted::Events {
            return match self.schema.subscribe(request, self.options.patience).await {
                Ok(results) => Ok(events(results)),
                Err(refused) => whole_answer(refused, Accepted::GraphqlResponse),
            };
        }
        let Some(form) = self.increments else {
            return whole_answer(self.schema.execute(request).await, self.accepted);
        };
        let answer = self.schema.execute_incremental(request, form.form).await;
        match answer.has_next {
            true => Ok(parts(answer, form)),
            false => whole_answer(answer.first, self.accepted),
        }
    }

    async fn by_get(
        self,
        prepare: impl for<'r> FnOnce(Request<'r>) -> Request<'r>,
    ) -> Result<Response<HttpBody>, Refusal> {
        let sent = self.head.uri.query().unwrap_or_default();
        if sent.len() > self.options.body_bytes_max {
            return Err(Refusal::new(StatusCode::URI_TOO_LONG, "LIMIT_URL", "the URL is too long"));
        }
        let (mut query, mut operation, mut variables) = (None, None, None);
        for (name, value) in form_urlencoded::parse(sent.as_bytes()) {
            match &*name {
                "query" => query = Some(value),
                "operationName" => operation = Some(value),
                "variables" => variables = Some(value),
                _ => {}
            }
        }
        let query = query.ok_or_else(|| Refusal::bad("the URL has no `query`"))?;
        let mut request = self.request(&query, operation.as_deref()).queries_only();
        if let Some(variables) = variables.as_deref().filter(|it| !it.is_empty()) {
            request = request.variables(variables);
        }
        self.respond(prepare(request)).await
    }

    async fn by_post(
        self,
        body: impl Body<Data = Bytes, Error: Into<BodyError>> + Send,
        prepare: impl for<'r> FnOnce(Request<'r>) -> Request<'r>,
    ) -> Result<Response<HttpBody>, Refusal> {
        match &*content_type(&self.head.headers) {
            "application/json" => {}
            #[cfg(feature = "uploads")]
            "multipart/form-data" if self.options.uploads.is_some() => {
                return Box::pin(self.by_multipart(body, prepare)).await;
            }
            _ => {
                let words = "a POST needs `content-type: application/json`";
                return Err(Refusal::new(
                    StatusCode::UNSUPPORTED_MEDIA_TYPE,
                    "UNSUPPORTED_MEDIA_TYPE",
                    words,
                ));
            }
        }
        let body = Limited::new(body, self.options.body_bytes_max).collect().await;
        let body = body.map_err(|error| Refusal::unread(&*error))?.to_bytes();
        let json = json(&body)?;
        let Members { query, operation, variables } = members(json.root(), "the body")?;
        let mut request = self.request(&query, operation.as_deref());
        if let Some(variables) = variables {
            if !variables.is_object() {
                return Err(Refusal::bad("`variables` is no JSON object"));
            }
            request = request.json_variables(variables);
        }
        self.respond(prepare(request)).await
    }

    #[cfg(feature = "uploads")]
    async fn by_multipart(
        self,
        body: impl Body<Data = Bytes, Error: Into<BodyError>> + Send,
        prepare: impl for<'r> FnOnce(Request<'r>) -> Request<'r>,
    ) -> Result<Response<HttpBody>, Refusal> {
        let Some(limits) = &self.options.uploads else {
            return Err(Refusal::bad("files are not accepted"));
        };
        let sent = multipart::read(&self.head.headers, body, limits, self.options.body_bytes_max).await?;
        let request = self.request(&sent.query, sent.operation.as_deref()).uploads(&sent.uploads);
        self.respond(prepare(request)).await
    }
}
