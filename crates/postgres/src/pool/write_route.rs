//! Chooses how a mutation is sent: several statements on a session of their own, one alone, or one in a group commit.

use crate::error::Error;
use crate::pool::Pool;
use crate::protocol::local_settings::LocalSettings;
use crate::protocol::rows::Rows;
use crate::protocol::statement::{Parameters, Statement};
use crate::session::Session;
use std::sync::Arc;
use std::time::Instant;

/// The way in which a mutation is sent.
pub enum WriteRoute<'s> {
    /// Any number of statements, in a transaction that is begun and committed.
    Session(&'s mut Session),
    /// A single statement, in its own implicit transaction.
    Single {
        /// The pool that sends it.
        pool: &'s Pool,
        /// Statements to send.
        pushed: Option<Pushed>,
        /// Settings that hold while it runs.
        settings: Option<Arc<LocalSettings>>,
        /// True if it shares its transaction with others.
        is_shared: bool,
    },
}

/// A statement, its values, and the number that identifies the rows it touches.
pub(crate) type Pushed = (Arc<Statement>, Parameters, Option<u64>);

impl WriteRoute<'_> {
    /// Appends a statement; `rows` stands for the rows it touches, if that is known.
    pub fn push(&mut self, statement: &Arc<Statement>, parameters: &Parameters, rows: Option<u64>) {
        match self {
            Self::Session(session) => session.push(statement, parameters),
            Self::Single { pushed, .. } => *pushed = Some((Arc::clone(statement), parameters.clone(), rows)),
        }
    }

    /// Sends the appended statements and returns the rows of each.
    ///
    /// # Errors
    /// See [`Session::flush`], [`Pool::change`] and [`Pool::change_alone`].
    pub async fn flush(&mut self, deadline: Instant) -> Result<Vec<Rows>, Error> {
        match self {
            Self::Session(session) => session.flush(deadline).await,
            Self::Single { pool, pushed, settings, is_shared } => {
                let Some((statement, parameters, rows)) = pushed.take() else { return Ok(Vec::new()) };
                let answer = if *is_shared {
                    pool.change(&statement, parameters, settings.as_ref(), deadline).await?
                } else {
                    pool.change_alone(&statement, &parameters, settings.as_deref(), rows, deadline).await?
                };
                Ok(vec![answer])
            }
        }
    }
}
