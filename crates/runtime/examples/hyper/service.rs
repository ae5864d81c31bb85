//! GraphQL at `/graphql`, in one function that any server of hyper's types can call.

use http_body_util::BodyExt;
use hyper::body::{Body, Bytes};
use hyper::{Request, Response, StatusCode};
use weir_runtime::Schema;
use weir_runtime::http::{HttpBody, answer};

/// Answers one request.
pub(crate) async fn serve<B>(schema: &Schema, request: Request<B>) -> Response<HttpBody>
where
    B: Body<Data = Bytes> + Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    if request.uri().path() != "/graphql" {
        let mut response = Response::new(http_body_util::Empty::new().boxed_unsync());
        *response.status_mut() = StatusCode::NOT_FOUND;
        return response;
    }
    answer(schema, request, &crate::served::OPTIONS, |request| request).await
}
