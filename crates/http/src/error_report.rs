//! Logs failed calls with all details, which clients do not see.

use crate::cache::{Body, Entry};
use crate::call::Failure;
use std::fmt;
use weir_engine::source::Headers;

/// Identification of a call in logs.
#[derive(Clone, Copy)]
pub(crate) struct CallLabel<'c> {
    /// The service and the field that calls it, or the server.
    pub(crate) shown: &'c str,
    /// Headers of the client's request.
    pub(crate) headers: &'c dyn Headers,
}

impl CallLabel<'_> {
    /// Logs that there was no answer.
    pub(crate) fn no_answer(self, failure: &Failure) {
        let went = &failure.went;
        tracing::warn!(
            request_id = self.headers.request_id(),
            trace_id = self.headers.trace_id(),
            call = %self.shown,
            address = went.address.map(tracing::field::display),
            attempts = went.attempts,
            took_ms = went.took.as_millis() as u64,
            code = failure.error.code(),
            reason = %failure,
            "a service did not answer"
        );
    }

    /// Logs an unusable answer with its error `code`.
    pub(crate) fn bad_answer(self, entry: &Entry, code: &str) {
        match &entry.body {
            Body::Unreadable(reason) => self.bad_answer_for(entry, code, Some(&reason)),
            Body::Json(_) | Body::Absent => self.bad_answer_for(entry, code, None),
        }
    }

    /// Logs an unusable answer with its error `code` and a reason.
    pub(crate) fn bad_answer_for(self, entry: &Entry, code: &str, reason: Option<&dyn fmt::Display>) {
        let went = &entry.went;
        tracing::warn!(
            request_id = self.headers.request_id(),
            trace_id = self.headers.trace_id(),
            call = %self.shown,
            address = went.address.map(tracing::field::display),
            attempts = went.attempts,
            took_ms = went.took.as_millis() as u64,
            status = entry.status,
            code,
            reason = reason.map(tracing::field::display),
            "a service failed"
        );
    }
}
