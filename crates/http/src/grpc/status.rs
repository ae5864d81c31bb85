//! What a server's status means here. Its words are the operator's: they were not written for clients.
//!
//! Source: gRPC, "Status codes and their use".

use crate::call::Answer;
use crate::shaped::failed;
use weir_engine::source::FieldError;

/// Looks whether `answer` is one.
pub(super) fn check(answer: &Answer) -> Result<(), FieldError> {
    let find = |name: &str| answer.trailers.get(name).or_else(|| answer.headers.get(name));
    let status = find("grpc-status").and_then(|it| it.to_str().ok()).and_then(|it| it.parse::<u8>().ok());
    if status == Some(0) {
        return Ok(());
    }
    let words = find("grpc-message").and_then(|it| it.to_str().ok()).unwrap_or_default();
    tracing::warn!(
        status,
        http = answer.status.as_u16(),
        words,
        "a gRPC server did not do what it was asked"
    );
    Err(match status {
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
    })
}

fn refused(why: &str) -> FieldError {
    failed("SOURCE_REFUSED", &format!("The source refused the request: {why}."))
}
