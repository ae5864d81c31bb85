//! By which way the statements of a mutation go: over a connection of their own, or one in company.

use super::error::Error;
use super::pool::Pool;
use super::rows::Rows;
use super::session::Session;
use super::statement::{Parameters, Statement};
use std::sync::Arc;
use std::time::Instant;

/// See the module's words.
pub(super) enum Way<'s> {
    /// A session: any number of statements, in a transaction if it is begun.
    Own(&'s mut Session),
    /// One statement, in a transaction that it shares with those of others.
    Shared {
        /// Where the others are.
        pool: &'s Pool,
        /// What is to be sent.
        pushed: Option<(Arc<Statement>, Parameters)>,
    },
}

impl Way<'_> {
    /// Appends a statement.
    pub(super) fn push(&mut self, statement: &Arc<Statement>, parameters: &Parameters) {
        match self {
            Self::Own(session) => session.push(statement, parameters),
            Self::Shared { pushed, .. } => *pushed = Some((Arc::clone(statement), parameters.clone())),
        }
    }

    /// Sends what was appended and gives the rows of each statement.
    ///
    /// # Errors
    /// As [`Session::flush`] and [`Pool::change`].
    pub(super) async fn flush(&mut self, deadline: Instant) -> Result<Vec<Rows>, Error> {
        match self {
            Self::Own(session) => session.flush(deadline).await,
            Self::Shared { pool, pushed } => match pushed.take() {
                Some((statement, parameters)) => {
                    Ok(vec![pool.change(&statement, parameters, deadline).await?])
                }
                None => Ok(Vec::new()),
            },
        }
    }
}
