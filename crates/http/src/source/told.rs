//! What went wrong with a call: told to the client without names, to the operator with them.

use super::Line;
use super::judge::failed;
use crate::cache::Entry;
use crate::call::CallError;
use weir_engine::source::FieldError;

/// There was no answer.
pub(super) fn no_answer(line: &Line, error: &CallError) -> FieldError {
    tracing::warn!(call = %line.shown, %error, "a service did not answer");
    failed(error.code(), error.for_client())
}

/// The answer is none.
pub(super) fn bad_answer(line: &Line, entry: &Entry, error: &FieldError) {
    tracing::warn!(call = %line.shown, status = entry.status, code = error.code, "a service failed");
}
