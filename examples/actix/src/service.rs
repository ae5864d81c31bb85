//! GraphQL at `/graphql` of an actix-web app. Its types are those of `http` 0.2, so requests and responses are converted.

use actix_web::body::SizedStream;
use actix_web::http::StatusCode;
use actix_web::web::{self, Data, PayloadConfig, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use http_body::Body;
use http_body_util::{BodyDataStream, Full};
use weir_runtime::Schema;
use weir_runtime::http::{HttpBody, answer};

/// Bytes of a body that actix reads; the bounds of `served::OPTIONS` are stricter.
const BODY_BYTES_MAX: usize = 2 << 20;

async fn graphql(schema: Data<Schema>, request: HttpRequest, body: Bytes) -> HttpResponse {
    match asked(&request, body) {
        Ok(request) => answered(answer(&schema, request, &crate::served::OPTIONS, |request| request).await),
        Err(error) => HttpResponse::BadRequest().body(error.to_string()),
    }
}

/// The request in the types of `http` 1.
fn asked(request: &HttpRequest, body: Bytes) -> http::Result<http::Request<Full<Bytes>>> {
    let mut asked = http::Request::builder().method(request.method().as_str()).uri(request.uri().to_string());
    for (name, value) in request.headers() {
        asked = asked.header(name.as_str(), value.as_bytes());
    }
    asked.body(Full::new(body))
}

/// The response in actix's types: whole, or as a stream of events or parts.
fn answered(response: http::Response<HttpBody>) -> HttpResponse {
    let (head, body) = response.into_parts();
    let status = StatusCode::from_u16(head.status.as_u16()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut answer = HttpResponse::build(status);
    for (name, value) in &head.headers {
        answer.append_header((name.as_str(), value.as_bytes()));
    }
    match body.size_hint().exact() {
        Some(bytes) => answer.body(SizedStream::new(bytes, BodyDataStream::new(body))),
        None => answer.streaming(BodyDataStream::new(body)),
    }
}

/// The routes of an app whose data is a schema. Middleware of actix adds authentication, CORS, compression and time limits.
pub(crate) fn routes(config: &mut ServiceConfig) {
    config.app_data(PayloadConfig::new(BODY_BYTES_MAX)).route("/graphql", web::route().to(graphql));
}
