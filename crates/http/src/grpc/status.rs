//! gRPC status codes as errors of clients. Their messages are logged only: they were not written for clients.
//!
//! Source: gRPC, "Status codes and their use".

use crate::call::Answer;
use crate::passthrough::failed;
use http::StatusCode;
use weir_engine::source::FieldError;

/// The status of `answer`; 0 if it is good, `None` if it says none.
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

/// The status of HTTP that says the same: whether it may be kept, whether something may have been changed, whether the server
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

/// Error of a status that is not 0.
pub(super) fn error(status: Option<u8>) -> FieldError {
    match status {
        // CANCELLED, DEADLINE_EXCEEDED.
        Some(1 | 4) => failed("SOURCE_TIMEOUT", "The source did not answer in time."),
        Some(8) => failed("POOL_TIMEOUT", "The source has no capacity left."),
        Some(3) => refused("invalid argument"),
        Some(5) => refused("not found"),
        Some(6) => refused("already exists"),
        Some(7) => refused("permission denied"),
        Some(9) => refused("failed precondition"),
        Some(10) => refused("aborted"),
        Some(11) => refused("out of range"),
        Some(12) => refused("unimplemented"),
        Some(16) => refused("unauthenticated"),
        // UNKNOWN, INTERNAL, UNAVAILABLE, DATA_LOSS, and servers that speak no gRPC.
        Some(_) | None => failed("SOURCE_UNAVAILABLE", "The source is unavailable."),
    }
}

fn refused(why: &str) -> FieldError {
    failed("SOURCE_REFUSED", &format!("The source refused the request: {why}."))
}
