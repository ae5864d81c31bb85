//! GraphQL over HTTP in one function, for every server that speaks the types of the crate `http`: hyper, axum, a tower service.
//! Other servers convert their requests and responses.
//!
//! - POST with JSON, with a list of requests, or with an operation as text; GET for queries; POST with files by the multipart convention.
//! - Subscriptions as server-sent events (graphql-sse, distinct connections) or as `multipart/mixed`.
//! - Answers in parts (`@defer`) as `multipart/mixed` or events.
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

mod decoded_request;
mod reply;

pub use reply::HttpBody;
#[cfg(feature = "uploads")]
pub use weir_transport::multipart::UploadLimits;

use crate::request::Request;
use crate::schema::Schema;
use bytes::Bytes;
use decoded_request::Asked;
use http::header::HeaderMap;
use http::{Method, Response};
use http_body::Body;
use std::time::Duration;
use weir_engine::source::Headers;
use weir_transport::media;
use weir_transport::refusal::Refusal;

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
    /// Requests in one list; 0 takes no lists.
    pub batch_max: usize,
    /// Time for the first byte of the response to an event of a subscription.
    pub patience: Duration,
    /// Bounds of files; `None`: requests with files are refused.
    #[cfg(feature = "uploads")]
    pub uploads: Option<UploadLimits>,
}

impl HttpOptions {
    /// A megabyte of JSON, lists of ten requests, no files.
    pub const STANDARD: Self = Self {
        body_bytes_max: 1 << 20,
        batch_max: 10,
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
    let media = media::media(&head.headers);
    if media.is_none() && !media::wants_events(&head.headers) {
        return reply::refusal_response(&Refusal::not_acceptable());
    }
    let headers = ClientHeaders(&head.headers);
    let asked = Asked { schema, head: &head, headers, options, media };
    let answered = match head.method {
        Method::GET => asked.by_get(prepare).await,
        Method::POST => asked.by_post(body, prepare).await,
        _ => Err(Refusal::method("GET, POST", "GraphQL is asked by GET or POST")),
    };
    answered.unwrap_or_else(|refusal| reply::refusal_response(&refusal))
}
