//! Errors of the database in the words for the callers of a fetch.

use super::{shards, source_error};
use crate::postgres::driver::{PostgresFetch, PostgresState};
use weir_engine::source::SourceError;
use weir_postgres::error::{DatabaseError, Error};
use weir_relational::plan::Plan;

impl PostgresFetch {
    /// The error of the whole piece.
    pub(crate) fn failure(&self, error: Error, plan: &Plan) -> SourceError {
        self.source_error(error, self.first_field(), Some(plan))
    }

    /// Rewrites `error` as a database of one node would report it.
    pub(crate) fn on_one_node(&self, error: Error, plan: Option<&Plan>, field: u32) -> Error {
        if self.state.driver.dialect.flavour.abilities().hides_shards {
            error
        } else {
            shards::on_one_node(error, plan.map(|it| (it, field)), self.state.frontend.relations())
        }
    }

    pub(crate) fn source_error(&self, error: Error, field: u32, plan: Option<&Plan>) -> SourceError {
        let protocol = self.ask.protocol;
        if !self.state.driver.dialect.flavour.abilities().hides_shards {
            let relations = self.state.frontend.relations();
            if let Some(refusal) = shards::refusal(&error, plan, relations, protocol, field) {
                return refusal;
            }
        }
        let error = self.on_one_node(error, plan, field);
        let is_told = |error: &DatabaseError| self.state.may_name(error, &self.ask.facts);
        source_error(error, protocol, Some(field), &is_told)
    }
}

impl PostgresState {
    /// True if callers with these facts may see the names in `error`.
    fn may_name(&self, error: &DatabaseError, facts: &[u64]) -> bool {
        let found = self.frontend.relations().catalog.find(&error.schema, &error.table);
        let column = (!error.column.is_empty()).then_some(&*error.column);
        found.is_some_and(|it| self.frontend.is_exposed(it, column, facts))
    }
}
