//! The connections of one database: those of its primary, those of the replicas that reads may go to, and one that mutations
//! may share.
//!
//! Nothing is connected before it is needed, so that Weir starts while a database is down.

use crate::address::Settings;
use crate::bulkhead::{Cause, Patience};
use crate::connection::Facts;
use crate::error::Error;
use crate::group::Group;
use crate::pipelined_connection::{Batch, PipelinedConnection};
use crate::replica::Replicas;
use crate::rows::Rows;
use crate::server::{Gate, Server};
use crate::session::{Purpose, Session};
use crate::statement::{Format, Parameters, Statement};
use std::sync::{Arc, LazyLock};
use std::time::Instant;
use weir_relational::catalog::TableId;

static ONE: LazyLock<Arc<Statement>> =
    LazyLock::new(|| Statement::new("SELECT 1", [], [Format::Binary], [23], None));

/// A database's connections.
#[derive(Debug)]
pub struct Pool {
    primary: Arc<Server>,
    replicas: Option<Arc<Replicas>>,
    /// One, so that groups do not wait for each other's locks.
    groups: Option<PipelinedConnection<Group>>,
}

/// Counters of the primary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Batches that lanes sent.
    pub batches: u64,
    /// Statements in them, equal and merged ones as one.
    pub statements: u64,
    /// Groups of mutations that were sent to share a commit.
    pub groups: u64,
    /// Sessions that wait for use.
    pub sessions_idle: usize,
}

impl Pool {
    /// Connects to nothing yet.
    #[must_use]
    pub fn new(settings: Settings) -> Arc<Self> {
        let primary = Arc::new(Server::new(settings.clone()));
        let replicas = Replicas::new(&settings, &primary);
        let groups = settings.batch_mutations.then(|| {
            PipelinedConnection::new(Arc::clone(&primary.sessions.dialer), Arc::clone(&primary.bulkhead))
        });
        Arc::new(Self { primary, replicas, groups })
    }

    /// True if [`Self::change`] takes mutations.
    pub fn has_groups(&self) -> bool {
        self.groups.is_some() && self.facts().is_none_or(|it| !it.is_pooled)
    }

    /// Changes something by one statement, a transaction of its own. `rows` stands for what it touches, if that is known.
    ///
    /// # Errors
    /// As [`Self::session`], and those of the statement.
    pub async fn change_alone(
        &self,
        statement: &Arc<Statement>,
        parameters: &Parameters,
        rows: Option<u64>,
        deadline: Instant,
    ) -> Result<Rows, Error> {
        self.primary.change(statement, parameters, rows, deadline).await
    }

    /// Changes something by one statement, which shares its transaction with those of others that wait.
    ///
    /// # Errors
    /// [`Error::Undone`]: nothing happened, and the statement has to go alone. [`Error::Unconfirmed`] as for a session.
    pub async fn change(
        &self,
        statement: &Arc<Statement>,
        parameters: Parameters,
        deadline: Instant,
    ) -> Result<Rows, Error> {
        let is_diverted = Group::is_diverted(&self.primary.bulkhead, statement);
        let Some(groups) = self.groups.as_ref().filter(|_| !is_diverted) else {
            return Err(Error::Undone);
        };
        // A request without an answer was never sent; sent ones always get a result.
        groups.submit(statement, parameters, deadline)?.await.unwrap_or(Err(Error::Undone))
    }

    /// Runs one short read together with others, on a replica if there is a recent one.
    ///
    /// # Errors
    /// Of this statement alone: those of its neighbours are theirs.
    pub async fn read(
        &self,
        statement: &Arc<Statement>,
        parameters: Parameters,
        deadline: Instant,
    ) -> Result<Rows, Error> {
        if let Some(replica) = self.replica() {
            match Box::pin(replica.read(statement, parameters.clone(), deadline)).await {
                Err(error) if is_replicas_own(&error) => {}
                other => return other,
            }
        }
        self.primary.read(statement, parameters, deadline).await
    }

    /// Runs one long read on a connection of its own, on a replica if there is a recent one.
    ///
    /// # Errors
    /// As [`Self::session`], and those of the statement.
    pub async fn read_alone(
        &self,
        statement: &Arc<Statement>,
        parameters: Parameters,
        deadline: Instant,
    ) -> Result<Rows, Error> {
        if let Some(replica) = self.replica() {
            match replica.read_alone(statement, parameters.clone(), deadline).await {
                Err(error) if is_replicas_own(&error) => {}
                other => return other,
            }
        }
        self.primary.read_alone(statement, parameters, deadline).await
    }

    /// Begins a long read, whose rows are taken part by part, on a replica if there is a recent one.
    ///
    /// # Errors
    /// As [`Self::session`], and those of the statement as far as they show before the first rows.
    pub async fn stream(
        &self,
        statement: &Arc<Statement>,
        parameters: &Parameters,
        deadline: Instant,
    ) -> Result<Session, Error> {
        if let Some(replica) = self.replica() {
            match replica.stream(statement, parameters, deadline).await {
                Err(error) if is_replicas_own(&error) => {}
                other => return other,
            }
        }
        self.primary.stream(statement, parameters, deadline).await
    }

    /// Begins several long reads of one state, on a replica if there is a recent one: what `push` appends, and the answers to
    /// it.
    ///
    /// # Errors
    /// As [`Self::session`], and those of what was appended.
    pub async fn snapshot(
        &self,
        push: impl Fn(&mut Session),
        patience: Patience,
        deadline: Instant,
    ) -> Result<(Session, Vec<Rows>), Error> {
        if let Some(replica) = self.replica() {
            match replica.snapshot(&push, patience, deadline).await {
                Err(error) if is_replicas_own(&error) => {}
                other => return other,
            }
        }
        self.primary.snapshot(push, patience, deadline).await
    }

    /// Limits concurrent statements about `tables` at [`Self::session_with`] or [`Self::snapshot`].
    pub fn gate<'p>(&'p self, cause: Cause, tables: &'p [TableId], deadline: Instant) -> Gate<'p> {
        self.primary.gate(cause, tables, deadline)
    }

    /// As [`Self::session`], for a mutation that waits for locks with `patience`.
    ///
    /// # Errors
    /// As there.
    pub async fn session_with(&self, patience: Patience, deadline: Instant) -> Result<Session, Error> {
        self.primary.session(Purpose::Write, patience, deadline).await
    }

    /// A connection to the primary for the caller alone; it comes back when it is dropped.
    ///
    /// # Errors
    /// [`Error::Busy`] if too many wait or it takes too long, [`Error::Unavailable`] if there is no server.
    pub async fn session(&self, purpose: Purpose, deadline: Instant) -> Result<Session, Error> {
        self.primary.session(purpose, Patience::Bounded, deadline).await
    }

    /// Checks that the database answers.
    ///
    /// # Errors
    /// The database is not reachable.
    pub async fn ready(&self, deadline: Instant) -> Result<(), Error> {
        self.read(&ONE, Parameters::new(), deadline).await.map(drop)
    }

    /// Facts of the newest connection; `None` before the first.
    #[must_use]
    pub fn facts(&self) -> Option<Facts> {
        self.primary.sessions.dialer.facts()
    }

    /// Its counters.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let sent = self.primary.lanes.iter().map(PipelinedConnection::sent);
        let sent = sent.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        let sessions_idle = self.primary.sessions.idle_count();
        let groups = self.groups.as_ref().map_or(0, |it| it.sent().0);
        Counts { batches: sent.0, statements: sent.1, groups, sessions_idle }
    }

    fn replica(&self) -> Option<&Server> {
        self.replicas.as_ref().and_then(Replicas::recent)
    }
}

/// True for failures of a replica only: it is gone, overloaded, or ended the read to follow the primary.
fn is_replicas_own(error: &Error) -> bool {
    matches!(error, Error::Unavailable(_) | Error::Busy) || error.is_retryable()
}
