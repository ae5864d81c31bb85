//! A piece of a mutation: handed to the writer, answered when it is durable.
//!
//! **Invariant:** a failing field, or a value that cannot be given, undoes the whole piece; the writer sees to it.

use super::driver::SqliteDriver;
use super::errors::writer_error;
use super::fetch::OwnedRun;
use crate::exec::driver::PlannedFetch;
use crate::exec::errors::{with_message, with_path};
use crate::trace_context::{find_trace, write_trace};
use std::sync::Arc;
use weir_engine::caller::Claims;
use weir_engine::source::{BoxFuture, FetchResult, SourceError};
use weir_engine::span::SpanContext;
use weir_sqlite::session_row::WriterSession;
use weir_sqlite::writer::Writer;

/// The session for triggers. It is written when they can read it.
struct CallerSession {
    claims: Arc<Claims>,
    trace: Option<SpanContext>,
}

impl WriterSession for CallerSession {
    fn variables(&self) -> &str {
        self.claims.session()
    }

    fn trace(&self) -> Option<String> {
        self.trace.map(write_trace)
    }
}

/// Runs the root fields in one job of `writer`.
pub(super) fn write<'r>(
    writer: &Writer,
    run: &PlannedFetch<'r, SqliteDriver>,
) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
    let protocol = run.fetch.ask.protocol;
    let owned = OwnedRun::of(run, Vec::new());
    let refused = move |error| writer_error(error, protocol);
    let claims = Arc::clone(run.input.caller.claims());
    let session = CallerSession { claims, trace: find_trace(&run.input) };
    writer.submit(run.input.deadline, Some(session), refused, move |connection| {
        let fetch = &*owned.fetch;
        match fetch.answer(connection, &owned.prepared, owned.bindings(), None, None) {
            // A value that cannot be written rolls the changes back.
            Ok(Some(reply)) if !reply.errors.is_empty() => Err(SourceError::Undone(reply.errors)),
            Ok(Some(reply)) => Ok(reply),
            Ok(None) => Err(SourceError::Broken("a mutation cannot stream".into())),
            Err(failure) => {
                let name = failure.violated_constraint();
                let failure = failure.redact_for(&fetch.ask.facts, &*fetch.state.frontend);
                let error = with_message(
                    failure.into_error(protocol),
                    name,
                    &fetch.ask.facts,
                    &*fetch.state.frontend,
                );
                Err(with_path(error, &owned.prepared.plan))
            }
        }
    })
}
