//! The connections of one database: those of its primary, those of the replicas or followers that reads may go to, and one that
//! mutations may share.
//!
//! Nothing is connected before it is needed, so that Weir starts while a database is down.

pub mod bound;
pub mod reads;
pub mod replica;
pub mod server;
pub mod write_route;

use crate::address::Settings;
use crate::admission::bulkhead::{Cause, Patience};
use crate::connect::dial::ReadVersion;
use crate::error::Error;
use crate::lanes::Lanes;
use crate::lanes::group::Group;
use crate::lanes::lane_queue::{Batch, LaneCount};
use crate::pool::bound::ConnectionBound;
use crate::pool::reads::Reads;
use crate::pool::replica::{ReadPreference, Replicas};
use crate::pool::server::{Gate, Server};
use crate::protocol::facts::Facts;
use crate::protocol::local_settings::LocalSettings;
use crate::protocol::rows::Rows;
use crate::protocol::statement::{Format, Parameters, Statement};
use crate::session::{Purpose, Session};
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
    /// The primary's servers, connected for follower reads.
    followers: Option<Server>,
    /// One, so that groups do not wait for each other's locks.
    groups: Option<Lanes<Group>>,
}

/// Counters of the primary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Batches that lanes sent.
    pub batches: u64,
    /// Statements in them, equal and merged ones as one.
    pub statements: u64,
    /// Lanes that are open, with those that are being connected.
    pub lanes: usize,
    /// Groups of mutations that were sent to share a commit.
    pub groups: u64,
    /// Sessions that wait for use.
    pub sessions_idle: usize,
}

impl Pool {
    /// Connects to nothing yet.
    pub fn new(settings: Settings) -> Arc<Self> {
        let primary = Arc::new(Server::new(settings.clone()));
        let replicas = Replicas::new(&settings, &primary);
        let groups = settings.batch_mutations.then(|| {
            Lanes::new(
                Arc::clone(&primary.sessions.dialer),
                Arc::clone(&primary.bulkhead),
                LaneCount::Fixed(1),
            )
        });
        let has_followers = !settings.follower_reads.is_empty();
        let followers = has_followers.then(|| Server::reading(settings, ReadVersion::Followers));
        Arc::new(Self { primary, replicas, followers, groups })
    }

    /// Connects to nothing yet, and knows what an earlier connection found out: which server lets one connection in at a time.
    pub fn with_facts(settings: Settings, facts: Option<Facts>) -> Arc<Self> {
        let pool = Self::new(settings);
        if let Some(facts) = facts {
            pool.primary.sessions.dialer.note_facts(facts);
        }
        pool
    }

    /// True if [`Self::change`] takes mutations.
    pub fn has_groups(&self) -> bool {
        self.groups.is_some() && self.facts().is_none_or(|it| !(it.is_pooled || it.is_single))
    }

    /// Runs one changing statement in its own transaction, which begins with `settings`. `rows` identifies the rows it touches, if they are known.
    ///
    /// # Errors
    /// Errors of [`Self::session`], and of the statement.
    pub async fn change_alone(
        &self,
        statement: &Arc<Statement>,
        parameters: &Parameters,
        settings: Option<&LocalSettings>,
        rows: Option<u64>,
        deadline: Instant,
    ) -> Result<Rows, Error> {
        self.primary.change(statement, parameters, settings, rows, deadline).await
    }

    /// Changes something by one statement, which shares its transaction with those of others that wait. `settings` hold until the
    /// next one's.
    ///
    /// # Errors
    /// [`Error::Undone`]: nothing happened, and the statement has to go alone. [`Error::Unconfirmed`] as for a session.
    pub async fn change(
        &self,
        statement: &Arc<Statement>,
        parameters: Parameters,
        settings: Option<&Arc<LocalSettings>>,
        deadline: Instant,
    ) -> Result<Rows, Error> {
        let is_diverted = Group::is_diverted(&self.primary.bulkhead, statement);
        let Some(groups) = self.groups.as_ref().filter(|_| !is_diverted) else {
            return Err(Error::Undone);
        };
        // A request without an answer was never sent; sent ones always get a result.
        groups.submit(statement, parameters, settings, deadline)?.answer.await.unwrap_or(Err(Error::Undone))
    }

    /// Reads on a server of this preference.
    pub fn reads(&self, preference: ReadPreference) -> Reads<'_> {
        Reads::new(&self.primary, self.copy(preference))
    }

    /// Runs one short read together with others, on a replica if there is a recent one.
    ///
    /// # Errors
    /// See [`Reads::read`].
    pub async fn read(
        &self,
        statement: &Arc<Statement>,
        parameters: Parameters,
        deadline: Instant,
    ) -> Result<Rows, Error> {
        self.reads(ReadPreference::Recent).read(statement, parameters, deadline).await
    }

    /// True if a read may be answered by more than the primary.
    pub const fn has_copies(&self) -> bool {
        self.replicas.is_some() || self.followers.is_some()
    }

    /// True if replicas are named.
    pub const fn has_replicas(&self) -> bool {
        self.replicas.is_some()
    }

    /// Position in the primary's log after all commits so far; `Ok(None)` without replicas, where reads do not use it.
    ///
    /// # Errors
    /// The primary does not answer.
    pub async fn position(&self, deadline: Instant) -> Result<Option<u64>, Error> {
        let Some(replicas) = &self.replicas else { return Ok(None) };
        let position = replicas.position(deadline).await?;
        position.map(Some).ok_or_else(|| Error::Protocol("the primary says not how far its log goes".into()))
    }

    /// Limits concurrent statements about `tables` at [`Self::session_with`] or for a snapshot.
    pub fn gate<'p>(&'p self, cause: Cause, tables: &'p [TableId], deadline: Instant) -> Gate<'p> {
        self.primary.gate(cause, tables, deadline)
    }

    /// Takes a session like [`Self::session`], for a mutation that waits for locks with `patience`.
    ///
    /// # Errors
    /// See [`Self::session`].
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
    pub fn facts(&self) -> Option<Facts> {
        self.primary.sessions.dialer.facts()
    }

    /// Address and settings of the database.
    pub fn settings(&self) -> &Settings {
        &self.primary.sessions.dialer.settings
    }

    /// Maximum number of connections that the pool opens.
    pub fn connection_bound(&self) -> ConnectionBound {
        ConnectionBound::new(&self.primary.sessions.dialer.settings)
    }

    /// Counters of the pool.
    pub fn counts(&self) -> Counts {
        let sent = self.primary.lanes.iter().map(Lanes::sent_counts);
        let sent = sent.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        let lanes = self.primary.lanes.iter().map(Lanes::lanes_open).sum();
        let sessions_idle = self.primary.sessions.idle_count();
        let groups = self.groups.as_ref().map_or(0, |it| it.sent_counts().0);
        Counts { batches: sent.0, statements: sent.1, lanes, groups, sessions_idle }
    }

    /// The server beside the primary that a read of this preference goes to.
    fn copy(&self, preference: ReadPreference) -> Option<&Server> {
        let replica = self.replicas.as_ref().and_then(|it| it.pick(preference));
        replica.or_else(|| self.followers.as_ref().filter(|_| preference == ReadPreference::Stale))
    }
}
