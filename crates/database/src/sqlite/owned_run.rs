//! What a run on another thread owns.

use super::driver::SqliteDriver;
use super::prepared::SqlitePlan;
use crate::exec::bindings::Bindings;
use crate::exec::driver::{PlannedFetch, RelationalFetch};
use crate::frontend::form::Form;
use std::sync::Arc;
use std::time::Instant;
use weir_engine::caller::Claims;
use weir_engine::plan::output_plan::OutputPlan;
use weir_engine::rows::Column;
use weir_engine::source::StreamRead;
use weir_language::value::Variables;

/// The owned inputs of a run on another thread.
pub(super) struct OwnedRun {
    pub(super) fetch: Arc<RelationalFetch<SqliteDriver>>,
    pub(super) prepared: Arc<SqlitePlan>,
    form: Form,
    claims: Arc<Claims>,
    output: Arc<OutputPlan>,
    variables: Arc<Variables>,
    pub(super) parent_keys: Option<Vec<Column>>,
    /// Objects that were looked up.
    shown: Vec<i64>,
    pub(super) stream: Option<Arc<StreamRead>>,
    pub(super) deadline: Instant,
}

impl OwnedRun {
    pub(super) fn of(run: &PlannedFetch<'_, SqliteDriver>, shown: Vec<i64>) -> Self {
        let input = &run.input;
        Self {
            fetch: Arc::clone(run.fetch),
            prepared: Arc::clone(&run.prepared),
            form: run.form.clone(),
            claims: Arc::clone(input.caller.claims()),
            output: Arc::clone(input.output),
            variables: Arc::clone(input.variables),
            parent_keys: input.parent_keys.map(<[Column]>::to_vec),
            shown,
            stream: input.stream.cloned(),
            deadline: input.deadline,
        }
    }

    pub(super) fn bindings(&self) -> Bindings<'_> {
        let keys = self.parent_keys.as_deref().unwrap_or_default();
        let bindings = self.fetch.bindings(&self.output, &self.variables, &self.form, keys, &self.claims);
        Bindings { shown: &self.shown, stream: self.stream.as_ref(), ..bindings }
    }
}
