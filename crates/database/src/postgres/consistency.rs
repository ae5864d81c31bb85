//! The servers that a request's reads go to, and the positions of its changes in the log.
//!
//! **Invariant:** what is read within a mutation is read from the primary.
//!
//! **Cost:** nothing where no replicas are named and the flavour has no reads of followers.

use super::driver::{PostgresDriver, PostgresFetch};
use crate::exec::driver::PlannedFetch;
use crate::exec::output::answer::{UNANSWERED, UNCONFIRMED};
use std::time::{Duration, Instant};
use weir_engine::consistency::{Consistency, Position};
use weir_engine::source::{FetchInput, SourceError};
use weir_postgres::pool::Pool;
use weir_postgres::reads::Reads;
use weir_postgres::replica::ReadPreference;

/// Time for the position after a change whose request has none left.
const POSITION_TIMEOUT: Duration = Duration::from_secs(1);

impl PostgresFetch {
    /// The reads of this request.
    pub(super) fn reads(&self, input: &FetchInput<'_>) -> Reads<'_> {
        let pool: &Pool = &self.state.driver.pool;
        let preference = if pool.has_copies() { self.preference(input) } else { ReadPreference::Primary };
        pool.reads(preference)
    }

    fn preference(&self, input: &FetchInput<'_>) -> ReadPreference {
        if self.in_mutation {
            return ReadPreference::Primary;
        }
        let position = || input.headers.positions().and_then(|it| it.position_of(&self.state.driver.name));
        match input.headers.consistency() {
            Consistency::Strong => ReadPreference::Primary,
            Consistency::Eventual => ReadPreference::Stale,
            Consistency::Bounded => match position() {
                None => ReadPreference::Recent,
                Some(Position::At(position)) => ReadPreference::Since(position),
                Some(Position::Unknown) => ReadPreference::Primary,
            },
        }
    }
}

impl PostgresDriver {
    /// Notes where the log is after a change, which ended with `done`. A change that may have happened has no known position.
    pub(super) async fn note_position<T>(&self, run: &PlannedFetch<'_, Self>, done: &Result<T, SourceError>) {
        let Some(positions) = run.input.headers.positions() else { return };
        let noted = match done {
            Err(error) if !may_have_happened(error) => return,
            Err(_) => self.pool.has_replicas().then_some(Position::Unknown),
            Ok(_) => {
                let deadline = run.input.deadline.max(Instant::now() + POSITION_TIMEOUT);
                match self.pool.position(deadline).await {
                    Ok(position) => position.map(Position::At),
                    Err(error) => {
                        tracing::warn!(%error, "the position of a change in the log is not known");
                        Some(Position::Unknown)
                    }
                }
            }
        };
        if let Some(position) = noted {
            positions.note(&self.name, position);
        }
    }
}

/// True if the change may have been committed all the same.
fn may_have_happened(error: &SourceError) -> bool {
    matches!(error.code(), UNCONFIRMED | UNANSWERED | "INTERNAL")
}
