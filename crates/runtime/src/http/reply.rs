//! Responses: a whole answer, a stream of events or parts, or a refusal.

use crate::request::{self, IncrementalResponse};
use bytes::Bytes;
use futures_util::stream::{self, BoxStream, Stream, StreamExt};
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Response, StatusCode};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use std::convert::Infallible;
use std::time::Duration;
use weir_engine::engine::Outcome;
use weir_transport::media::{Media, StreamForm};
use weir_transport::refusal::Refusal;

/// Keep-alive interval of a stream without results: less than half of the shortest idle timeout of common proxies, and the same as
/// in Weir's server.
const LIFE: Duration = Duration::from_secs(10);

/// Body of a response.
pub type HttpBody = UnsyncBoxBody<Bytes, Infallible>;

/// A response with a body that is whole.
pub(super) fn whole_response(
    status: StatusCode,
    content_type: &'static str,
    body: Vec<u8>,
) -> Response<HttpBody> {
    let mut response = Response::new(Full::new(Bytes::from(body)).boxed_unsync());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// The response to a request that does not reach the schema.
pub(super) fn refusal_response(refusal: &Refusal) -> Response<HttpBody> {
    let mut response = whole_response(refusal.status, Media::GraphqlResponse.content_type(), refusal.body());
    if let Some(allow) = refusal.allow {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static(allow));
    }
    response
}

/// Response for an answer, with the status of its outcome.
pub(super) fn whole(response: request::Response, media: Media) -> Response<HttpBody> {
    let status = match response.outcome {
        Outcome::Executed => StatusCode::OK,
        Outcome::Refused | Outcome::Subscription | Outcome::MethodNotAllowed(_) => media.refused_status(),
    };
    whole_response(status, media.content_type(), response.body)
}

/// Streams the results of a subscription until it ends, with keep-alives between them.
pub(super) fn results(
    results: BoxStream<'static, request::Response>,
    form: StreamForm,
) -> Response<HttpBody> {
    let results = results.map(move |it| form.result(&it.body));
    let alive = with_signs_of_life(results.chain(one(form.end())), form);
    stream_response(form, one(form.head()).chain(alive))
}

/// Sends the one result of a request as a stream of results.
pub(super) fn only_result(response: &request::Response, form: StreamForm) -> Response<HttpBody> {
    let all = [form.head(), form.result(&response.body), form.end()].concat();
    stream_response(form, one(all))
}

/// `results`, with a keep-alive whenever none came for [`LIFE`].
fn with_signs_of_life(
    results: impl Stream<Item = Vec<u8>> + Send + 'static,
    form: StreamForm,
) -> impl Stream<Item = Vec<u8>> + Send + 'static {
    stream::unfold(results.boxed(), move |mut results| async move {
        match tokio::time::timeout(LIFE, results.next()).await {
            Ok(result) => Some((result?, results)),
            Err(_) => Some((form.life(), results)),
        }
    })
}

/// Streams the parts of an answer; the first is ready.
pub(super) fn parts(answer: IncrementalResponse, form: StreamForm) -> Response<HttpBody> {
    let first = [form.head(), form.result(&answer.first.body)].concat();
    let rest = answer.rest.map(move |it| form.result(&it));
    stream_response(form, one(first).chain(rest).chain(one(form.end())))
}

fn one(bytes: Vec<u8>) -> impl Stream<Item = Vec<u8>> + Send + 'static {
    stream::iter(Some(bytes).filter(|it| !it.is_empty()))
}

fn stream_response(
    form: StreamForm,
    chunks: impl Stream<Item = Vec<u8>> + Send + 'static,
) -> Response<HttpBody> {
    let frames = chunks.map(|it| Ok::<_, Infallible>(Frame::data(Bytes::from(it))));
    let mut response = Response::new(BodyExt::boxed_unsync(StreamBody::new(frames)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(form.content_type()));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // nginx would buffer the chunks.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}
