//! A piece of a mutation, prepared: handed to the writer, answered when it is durable.
//!
//! **Invariant:** a failing field undoes the whole piece; the writer's savepoint sees to it.

use super::fetch::Reading;
use crate::relational::Plan;
use crate::relational::change::{Work, WriteAnswer};
use std::sync::Arc;
use weir_engine::source::{Accent, BoxFuture, Fetch, FetchInput, FieldError, Reply, SourceError, Tag};

/// See the module's words.
pub(super) struct WriteFetch {
    pub(super) inner: Arc<Reading>,
    pub(super) tags: Vec<Tag>,
}

impl Fetch for WriteFetch {
    fn run<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<Reply, SourceError>> {
        let inner = &self.inner;
        let Some(writer) = &inner.shared.writer else {
            return Box::pin(std::future::ready(Err(read_only(inner.ask.accent))));
        };
        let (prepared, form) = match inner.plan(input.shape, input.variables) {
            Ok(found) => found,
            Err(error) => return Box::pin(std::future::ready(Err(error))),
        };
        let (reading, shape, variables) =
            (Arc::clone(inner), Arc::clone(input.shape), Arc::clone(input.variables));
        let conditions = input.conditions;
        writer.submit(input.deadline, move |connection| {
            let bindings = reading.bindings(&shape, &variables, &form, &[]);
            match reading.answer(connection, &prepared, bindings, conditions, None, None) {
                Ok(Some(reply)) => Ok(reply),
                Ok(None) => Err(SourceError::Broken("a mutation cannot stream".into())),
                Err(failure) => {
                    let error = failure.into_error(reading.ask.accent);
                    Err(with_path(error, &prepared.plan))
                }
            }
        })
    }

    fn touches(&self) -> &[Tag] {
        &self.tags
    }

    fn explain(&self, out: &mut String) {
        self.inner.explain(out);
    }
}

/// Says where in Hasura's words a statement failed: an insert at its rows, another change at the whole request.
fn with_path(mut error: SourceError, plan: &Plan) -> SourceError {
    if let SourceError::Rejected { error, field: Some(field) } = &mut error
        && error.hasura_path.is_none()
        && let Some(write) = plan.writes.iter().find(|it| it.field == *field)
    {
        let inserts = write.works.iter().any(|it| match it {
            Work::Insert(_) | Work::Each { .. } => true,
            Work::Nothing | Work::Change(_) => false,
        });
        error.hasura_path = Some(match (inserts, write.answer) {
            (false, _) => "$".into(),
            (true, WriteAnswer::Row(_)) => format!("$.selectionSet.{}.args.object", write.path).into(),
            (true, WriteAnswer::Response(_) | WriteAnswer::Responses(_)) => {
                format!("$.selectionSet.{}.args.objects", write.path).into()
            }
        });
    }
    error
}

fn read_only(accent: Accent) -> SourceError {
    let code = match accent {
        Accent::Spec => "READ_ONLY",
        Accent::Hasura => "not-supported",
    };
    let error = FieldError { code, message: "the database is read-only".into(), hasura_path: None };
    SourceError::Rejected { error, field: None }
}
