//! A piece of a mutation, prepared: handed to the writer, answered when it is durable.
//!
//! **Invariant:** a failing field undoes the whole piece; the writer sees to it.

use super::fetch::Reading;
use crate::exec::write_errors::with_message;
use crate::exec::write_errors::with_path;
use std::sync::Arc;
use weir_engine::source::{Accent, BoxFuture, Fetch, FetchInput, FieldError, Reply, SourceError, Tag};

/// See the module's words.
pub(super) struct WriteFetch {
    pub(super) inner: Arc<Reading>,
    pub(super) tags: Vec<Tag>,
}

impl WriteFetch {
    /// Writes by a plan that is known or short.
    fn planned<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<Reply, SourceError>> {
        let inner = &self.inner;
        let Some(writer) = &inner.shared.writer else {
            return Box::pin(std::future::ready(Err(read_only(inner.ask.accent))));
        };
        let (prepared, form) = match inner.plan(input.shape, input.variables) {
            Ok(found) => found,
            Err(error) => return Box::pin(std::future::ready(Err(error))),
        };
        let (reading, prepared) = (Arc::clone(inner), prepared.into_owned());
        let (shape, variables) = (Arc::clone(input.shape), Arc::clone(input.variables));
        writer.submit(input.deadline, inner.ask.accent, move |connection| {
            let bindings = reading.bindings(&shape, &variables, &form, &[]);
            match reading.answer(connection, &prepared, bindings, None, None) {
                Ok(Some(reply)) => Ok(reply),
                Ok(None) => Err(SourceError::Broken("a mutation cannot stream".into())),
                Err(failure) => {
                    let name = failure.violated();
                    let error = failure.into_error(reading.ask.accent);
                    let error = with_message(error, name, &*reading.shared.frontend);
                    Err(with_path(error, &prepared.plan))
                }
            }
        })
    }
}

impl Fetch for WriteFetch {
    fn run<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<Reply, SourceError>> {
        match self.inner.plan_aside(&input) {
            None => self.planned(input),
            Some(planning) => Box::pin(async move {
                planning.await?;
                self.planned(input).await
            }),
        }
    }

    fn touches(&self) -> &[Tag] {
        &self.tags
    }

    fn explain(&self, out: &mut String) {
        self.inner.explain(out);
    }

    fn describe(&self, out: &mut String) {
        self.inner.describe(out);
    }
}

pub(super) fn read_only(accent: Accent) -> SourceError {
    let code = match accent {
        Accent::Spec => "READ_ONLY",
        Accent::Hasura => "not-supported",
    };
    let error =
        FieldError { code, message: "the database is read-only".into(), hasura_path: None, extensions: None };
    SourceError::Rejected { error, field: None }
}
