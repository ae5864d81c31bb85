//! The headers of a client's request, as sources see them: by name, borrowed from the transport.
//!
//! **Cost:** nothing is copied or listed; a source looks up the names its plan holds.

use super::answer_notes::AnswerNotes;
use super::consistency::{Consistency, Positions};
use crate::telemetry::span::SpanContext;
use std::any::Any;
use std::sync::Arc;

/// Headers of one request, with its consistency and its spans.
pub trait Headers: Send + Sync {
    /// Hands each value of the header `name` to `take`, in the order they were sent.
    ///
    /// - `name`: in lower case.
    fn each<'h>(&'h self, name: &str, take: &mut dyn FnMut(&'h [u8]));

    /// Hands name, in lower case, and value of every header to `take`; by default of none.
    fn each_line<'h>(&'h self, take: &mut dyn FnMut(&'h str, &'h [u8])) {
        let _ = take;
    }

    /// The name of the request in logs; empty if it has none.
    fn request_id(&self) -> &str {
        ""
    }

    /// Consistency of the request: how recent its rows must be.
    fn consistency(&self) -> Consistency {
        Consistency::Bounded
    }

    /// Log positions that the request sent, where the positions of its changes are recorded too; `None` if positions are not used.
    fn positions(&self) -> Option<&Positions> {
        None
    }

    /// Place for notes about the answer; `None` if its transport has no headers and no status.
    fn notes(&self) -> Option<&AnswerNotes> {
        None
    }

    /// Values that the embedding program gave the request, for its own resolvers.
    fn data(&self) -> Option<&Arc<dyn Any + Send + Sync>> {
        None
    }

    /// The span of the request; `None`: traces are neither recorded nor passed on.
    fn span(&self) -> Option<SpanContext> {
        None
    }
}

impl dyn Headers + '_ {
    /// The trace of the request in hexadecimal digits, for logs: the recorded one, or the one that its client names.
    pub fn trace_id(&self) -> Option<String> {
        let named = || self.get("traceparent").and_then(SpanContext::read);
        self.span().or_else(named).map(|it| format!("{:032x}", it.trace))
    }

    /// The first value of the header `name`, in lower case.
    pub fn get<'h>(&'h self, name: &str) -> Option<&'h [u8]> {
        let mut first = None;
        self.each(name, &mut |value| {
            first.get_or_insert(value);
        });
        first
    }
}

/// The headers of a request with values of the embedding program, or with notes about the answer.
pub struct EnrichedHeaders<'h> {
    headers: &'h dyn Headers,
    data: Option<Arc<dyn Any + Send + Sync>>,
    notes: Option<AnswerNotes>,
}

impl<'h> EnrichedHeaders<'h> {
    /// `headers` with `data` of the embedding program in place of their own.
    pub fn with_data(headers: &'h dyn Headers, data: Arc<dyn Any + Send + Sync>) -> Self {
        Self { headers, data: Some(data), notes: None }
    }

    /// `headers` with empty notes.
    pub(crate) fn with_notes(headers: &'h dyn Headers) -> Self {
        Self { headers, data: None, notes: Some(AnswerNotes::default()) }
    }
}

impl Headers for EnrichedHeaders<'_> {
    fn each<'h>(&'h self, name: &str, take: &mut dyn FnMut(&'h [u8])) {
        self.headers.each(name, take);
    }
    fn each_line<'h>(&'h self, take: &mut dyn FnMut(&'h str, &'h [u8])) {
        self.headers.each_line(take);
    }
    fn request_id(&self) -> &str {
        self.headers.request_id()
    }
    fn consistency(&self) -> Consistency {
        self.headers.consistency()
    }
    fn positions(&self) -> Option<&Positions> {
        self.headers.positions()
    }
    fn notes(&self) -> Option<&AnswerNotes> {
        self.notes.as_ref().or_else(|| self.headers.notes())
    }
    fn data(&self) -> Option<&Arc<dyn Any + Send + Sync>> {
        self.data.as_ref().or_else(|| self.headers.data())
    }
    fn span(&self) -> Option<SpanContext> {
        self.headers.span()
    }
}

/// No headers: requests that came by no transport.
#[derive(Clone, Copy, Debug)]
pub struct NoHeaders;

impl Headers for NoHeaders {
    fn each<'h>(&'h self, _: &str, _: &mut dyn FnMut(&'h [u8])) {}
}
