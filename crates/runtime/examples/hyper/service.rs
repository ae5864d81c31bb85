//! GraphQL at `/graphql`: one function that any server of hyper's types can call, and a server that calls it.

use http_body_util::BodyExt;
use hyper::body::{Body, Bytes};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::convert::Infallible;
use std::sync::Arc;
use tokio::net::TcpListener;
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

/// Serves all connections of `listener`.
/// # Errors
/// No more connections can be accepted.
pub(crate) async fn accept(listener: TcpListener, schema: Arc<Schema>) -> std::io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        let schema = Arc::clone(&schema);
        tokio::spawn(async move {
            let service = hyper::service::service_fn(move |request| {
                let schema = Arc::clone(&schema);
                async move { Ok::<_, Infallible>(serve(&schema, request).await) }
            });
            let server = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
            // A connection that breaks is the client's own affair.
            drop(server.serve_connection(TokioIo::new(stream), service).await);
        });
    }
}
