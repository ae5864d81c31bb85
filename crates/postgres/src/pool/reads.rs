//! Reads on the server that was chosen for them: the primary, a replica that follows it, or the nearest copy of a distributed
//! database.
//!
//! Reads with settings of a caller are transactions of their own: in a batch of reads others would see them.
//!
//! **Invariant:** no read fails because of a copy: what fails there in a way that the primary may not, is asked of the primary.

use crate::admission::bulkhead::Patience;
use crate::error::Error;
use crate::pool::server::Server;
use crate::protocol::local_settings::LocalSettings;
use crate::protocol::rows::Rows;
use crate::protocol::statement::{Parameters, Statement};
use crate::session::Session;
use std::sync::Arc;
use std::time::Instant;

/// The reads of one fetch, on the servers that were chosen for it.
#[derive(Clone, Copy, Debug)]
pub struct Reads<'p> {
    primary: &'p Server,
    /// The server that is asked first.
    copy: Option<&'p Server>,
    /// Settings that hold in each transaction.
    settings: Option<&'p LocalSettings>,
}

impl<'p> Reads<'p> {
    pub(crate) const fn new(primary: &'p Server, copy: Option<&'p Server>) -> Self {
        Self { primary, copy, settings: None }
    }

    /// The reads, each in a transaction that begins with `settings`.
    #[must_use]
    pub const fn with_settings(self, settings: Option<&'p LocalSettings>) -> Self {
        Self { settings, ..self }
    }

    /// Runs one short read together with others, or alone if it has settings.
    ///
    /// # Errors
    /// Errors of this statement. Other statements of the batch report their own.
    pub async fn read(
        self,
        statement: &Arc<Statement>,
        parameters: Parameters,
        deadline: Instant,
    ) -> Result<Rows, Error> {
        if self.settings.is_some() {
            return Box::pin(self.read_alone(statement, parameters, deadline)).await;
        }
        if let Some(copy) = self.copy {
            match Box::pin(copy.read(statement, parameters.clone(), deadline)).await {
                Err(error) if is_copys_own(&error) => {}
                other => return other,
            }
        }
        self.primary.read(statement, parameters, deadline).await
    }

    /// Runs one long read on a connection of its own.
    ///
    /// # Errors
    /// Errors of [`crate::Pool::session`], and of the statement.
    pub async fn read_alone(
        self,
        statement: &Arc<Statement>,
        parameters: Parameters,
        deadline: Instant,
    ) -> Result<Rows, Error> {
        if let Some(copy) = self.copy {
            match copy.read_alone(statement, parameters.clone(), self.settings, deadline).await {
                Err(error) if is_copys_own(&error) => {}
                other => return other,
            }
        }
        self.primary.read_alone(statement, parameters, self.settings, deadline).await
    }

    /// Begins a long read, whose rows are taken part by part.
    ///
    /// # Errors
    /// Errors of [`crate::Pool::session`], and of the statement if they occur before the first rows.
    pub async fn stream(
        self,
        statement: &Arc<Statement>,
        parameters: &Parameters,
        deadline: Instant,
    ) -> Result<Session, Error> {
        if let Some(copy) = self.copy {
            match copy.stream(statement, parameters, self.settings, deadline).await {
                Err(error) if is_copys_own(&error) => {}
                other => return other,
            }
        }
        self.primary.stream(statement, parameters, self.settings, deadline).await
    }

    /// Begins several long reads in one snapshot: `push` appends them, and their first answers are returned.
    ///
    /// # Errors
    /// Errors of [`crate::Pool::session`], and of the appended statements.
    pub async fn snapshot(
        self,
        push: impl Fn(&mut Session),
        patience: Patience,
        deadline: Instant,
    ) -> Result<(Session, Vec<Rows>), Error> {
        if let Some(copy) = self.copy {
            match copy.snapshot(&push, patience, self.settings, deadline).await {
                Err(error) if is_copys_own(&error) => {}
                other => return other,
            }
        }
        self.primary.snapshot(push, patience, self.settings, deadline).await
    }
}

/// True for failures of a replica only: it is gone, overloaded, cancelled the read to follow the primary, does not take such reads, or
/// lacks a new table.
fn is_copys_own(error: &Error) -> bool {
    let is_other_state = || {
        matches!(
            error.sqlstate().as_ref(),
            Some([b'0', b'A' | b'8', ..] | [b'2', b'5', ..] | [b'4', b'2', ..] | [b'X', ..])
        )
    };
    matches!(error, Error::Unavailable(_) | Error::Busy) || error.is_retryable() || is_other_state()
}
