//! Maps gRPC status codes to errors. The server's messages are only logged, since they were not written for clients.
//!
//! Source: gRPC, "Status codes and their use".

use crate::call::Answer;
use crate::passthrough::client_error;
use http::StatusCode;
use weir_engine::source::FieldError;

/// gRPC status of `answer`: 0 for success, `None` if it has none.
pub(super) fn of(answer: &Answer) -> Option<u8> {
    let find = |name: &str| answer.trailers.get(name).or_else(|| answer.headers.get(name));
    let status = find("grpc-status").and_then(|it| it.to_str().ok()).and_then(|it| it.parse::<u8>().ok());
    if status != Some(0) {
        let words = find("grpc-message").and_then(|it| it.to_str().ok()).unwrap_or_default();
        tracing::warn!(
            status,
            http = answer.status.as_u16(),
            words,
            "a gRPC server did not do what it was asked"
        );
    }
    status
}

/// The HTTP status with the same meaning for the cache: whether to keep the answer, whether data may have changed, whether the server
/// failed.
pub(super) fn as_http(status: Option<u8>) -> StatusCode {
    match status {
        Some(0) => StatusCode::OK,
        Some(1 | 4) => StatusCode::GATEWAY_TIMEOUT,
        Some(3 | 9 | 11) => StatusCode::BAD_REQUEST,
        Some(5) => StatusCode::NOT_FOUND,
        Some(6 | 10) => StatusCode::CONFLICT,
        Some(7) => StatusCode::FORBIDDEN,
        Some(8) => StatusCode::TOO_MANY_REQUESTS,
        Some(12) => StatusCode::METHOD_NOT_ALLOWED,
        Some(16) => StatusCode::UNAUTHORIZED,
        Some(_) | None => StatusCode::BAD_GATEWAY,
    }
}

/// Error for a status other than 0.
pub(super) fn error(status: Option<u8>) -> FieldError {
    match status {
        // CANCELLED, DEADLINE_EXCEEDED.
        Some(1 | 4) => client_error("SOURCE_TIMEOUT", "The source did not answer in time."),
        Some(8) => client_error("POOL_TIMEOUT", "The source has no capacity left."),
        Some(3) => refusal_error("invalid argument"),
        Some(5) => refusal_error("not found"),
        Some(6) => refusal_error("already exists"),
        Some(7) => refusal_error("permission denied"),
        Some(9) => refusal_error("failed precondition"),
        Some(10) => refusal_error("aborted"),
        Some(11) => refusal_error("out of range"),
        Some(12) => refusal_error("unimplemented"),
        Some(16) => refusal_error("unauthenticated"),
        // UNKNOWN, INTERNAL, UNAVAILABLE, DATA_LOSS, and servers that do not speak gRPC.
        Some(_) | None => client_error("SOURCE_UNAVAILABLE", "The source is unavailable."),
    }
}

fn refusal_error(why: &str) -> FieldError {
    client_error("SOURCE_REFUSED", &format!("The source refused the request: {why}."))
}
