//! A connection that one caller has for itself: mutations, snapshots, long reads.
//!
//! Statements are appended and sent together, so that a whole transaction can be one round trip. A session that is dropped
//! while the server works is cleaned in the background: the server is asked to stop, what comes is thrown away, the
//! transaction is rolled back; then it is used again.
//!
//! **Invariant:** a session goes back only when no transaction is open and nothing is under way. A write that may have
//! happened is never reported as one that did not, nor one that is not committed as done.

pub(crate) mod idle_sessions;
pub(crate) mod session_wire;

pub use idle_sessions::{Purpose, Sessions};

use crate::admission::bulkhead::Patience;
use crate::admission::permit::Permit;
use crate::error::{DatabaseError, Error};
use crate::protocol::connection::{End, Status};
use crate::protocol::local_settings::LocalSettings;
use crate::protocol::rows::Rows;
use crate::protocol::statement::{Parameters, Statement};
use crate::protocol::transaction::{self, Isolation, Transaction};
use crate::session::session_wire::Wire;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Timeout for a server to stop a cancelled statement.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// Messages that were appended, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Begin,
    /// A statement without rows.
    Control,
    Statement,
    /// The release of the savepoint, which commits at CockroachDB.
    Release,
    Commit,
}

/// A connection of one's own.
#[derive(Debug)]
pub struct Session {
    /// `None` once it broke.
    wire: Option<Wire>,
    sessions: Arc<Sessions>,
    permit: Option<Permit>,
    purpose: Purpose,
    patience: Patience,
    /// Messages that the server has not answered.
    steps: VecDeque<Step>,
    /// Error of a message that could not be appended.
    refused: Option<Error>,
    /// True if the transaction can restart at its savepoint.
    has_savepoint: bool,
    /// True if the savepoint was released: a failure after it does not say that nothing happened.
    is_released: bool,
    rows: Vec<Rows>,
    failure: Option<Error>,
    /// True if the pending messages may end a transaction with changes.
    may_commit: bool,
    /// True if the pending messages are a transaction to its end.
    must_end: bool,
    /// True if the commit is appended only when the columns of all statements were looked at.
    holds_commit: bool,
    /// The reason why a committed transaction cannot be answered in full.
    unanswered: Option<Error>,
}

impl Session {
    pub(crate) fn new(
        wire: Wire,
        sessions: Arc<Sessions>,
        permit: Permit,
        purpose: Purpose,
        patience: Patience,
    ) -> Self {
        Self {
            wire: Some(wire),
            sessions,
            permit: Some(permit),
            purpose,
            patience,
            steps: VecDeque::new(),
            refused: None,
            has_savepoint: false,
            is_released: false,
            rows: Vec::new(),
            failure: None,
            may_commit: false,
            must_end: false,
            holds_commit: false,
            unanswered: None,
        }
    }

    /// The set of sessions that this one returns to.
    pub fn owner(&self) -> &Arc<Sessions> {
        &self.sessions
    }

    /// Deadline of the answers to what is sent next: one statement timeout from now, at the latest `deadline`.
    pub fn statement_end(&self, deadline: Instant) -> Instant {
        deadline.min(Instant::now() + self.sessions.dialer.settings.limits.statement_timeout)
    }

    /// Appends the beginning of a transaction.
    pub fn begin(&mut self, mode: Transaction) {
        (self.has_savepoint, self.is_released) = (false, false);
        self.append(Step::Begin, transaction::begin(mode), &Parameters::new());
        if self.patience == Patience::Whole {
            self.wait_for_locks();
        }
    }

    /// Appends settings that hold until the end of the transaction.
    pub fn set_local(&mut self, settings: &LocalSettings) {
        self.append(Step::Control, &settings.statement, &settings.values);
    }

    /// Appends the savepoint at which [`Self::restart`] begins again.
    pub fn savepoint(&mut self) {
        self.has_savepoint = true;
        self.append(Step::Control, &transaction::SAVEPOINT, &Parameters::new());
    }

    /// Undoes a transaction that failed up to its savepoint: `false` if it has none, or nothing is left of it. What comes next is
    /// done in the same transaction.
    pub async fn restart(&mut self, deadline: Instant) -> bool {
        let is_failed = self.wire.as_ref().is_some_and(|it| !it.is_busy && it.status == Status::Failed);
        if !self.has_savepoint || !is_failed {
            return false;
        }
        self.append(Step::Control, &transaction::RESTART, &Parameters::new());
        (self.may_commit, self.unanswered) = (false, None);
        match self.answers_to_sent(deadline).await {
            Ok(_) => true,
            Err(error) => {
                tracing::info!(%error, "a transaction could not return to its savepoint");
                false
            }
        }
    }

    /// Appends a setting: later statements of the transaction wait for locks without a limit.
    pub fn wait_for_locks(&mut self) {
        self.append(Step::Control, &transaction::PATIENT, &Parameters::new());
    }

    /// Appends that the transaction changes shards one after the other, over one connection to each node, so that it sees its own
    /// changes there. A setting of Citus.
    pub fn change_in_sequence(&mut self) {
        self.append(Step::Control, &transaction::IN_SEQUENCE, &Parameters::new());
    }

    /// Appends a statement as its own transaction, which begins with `settings`.
    pub(crate) fn push_alone(
        &mut self,
        statement: &Arc<Statement>,
        parameters: &Parameters,
        settings: Option<&LocalSettings>,
    ) {
        let is_write = self.purpose == Purpose::Write;
        let is_blind = is_write && self.wire.as_ref().is_some_and(|it| it.connection.runs_blindly(statement));
        match self.patience {
            Patience::Bounded if !is_blind => {
                // Up to the next sync all is one transaction.
                settings.into_iter().for_each(|it| self.set_local(it));
                self.push(statement, parameters);
                self.must_end = true;
            }
            Patience::Bounded => {
                // In the isolation that the statement has alone.
                self.append(Step::Begin, &transaction::BEGIN, &Parameters::new());
                settings.into_iter().for_each(|it| self.set_local(it));
                self.push(statement, parameters);
                self.commit();
            }
            Patience::Whole => {
                self.begin(Transaction::ReadWrite(Isolation::ReadCommitted));
                settings.into_iter().for_each(|it| self.set_local(it));
                self.push(statement, parameters);
                self.commit();
            }
        }
    }

    /// Appends a statement.
    pub fn push(&mut self, statement: &Arc<Statement>, parameters: &Parameters) {
        self.append(Step::Statement, statement, parameters);
    }

    /// Appends a setting: the transaction may stay idle as long as a slow reader needs.
    pub(crate) fn may_rest(&mut self) {
        self.append(Step::Control, &transaction::MAY_REST, &Parameters::new());
    }

    /// Appends a statement whose rows are fetched, while the transaction lasts, from the portal with this number.
    pub fn open(&mut self, portal: u32, statement: &Arc<Statement>, parameters: &Parameters) {
        if let Some(wire) = &mut self.wire
            && let Err(error) = wire.connection.open(portal, statement, parameters)
        {
            self.refused = Some(error);
        }
    }

    /// Appends a request for the next rows of a portal: at most `rows_max`.
    pub fn fetch(&mut self, portal: u32, rows_max: u32) {
        if let Some(wire) = &mut self.wire {
            wire.connection.fetch(portal, rows_max);
            self.steps.push_back(Step::Statement);
        }
    }

    /// Appends the end of the transaction. It is sent apart if a written row may come back in columns of other types than planned,
    /// as such a row cannot be given and is not to be committed.
    pub fn commit(&mut self) {
        let is_write = self.purpose == Purpose::Write;
        self.holds_commit =
            is_write && self.wire.as_ref().is_some_and(|it| it.connection.has_unchecked_columns());
        if !self.holds_commit {
            self.append_commit();
        }
        self.must_end = true;
    }

    fn append_commit(&mut self) {
        if self.has_savepoint {
            self.append(Step::Release, &transaction::RELEASE, &Parameters::new());
        }
        self.append(Step::Commit, &transaction::COMMIT, &Parameters::new());
    }

    fn append(&mut self, step: Step, statement: &Arc<Statement>, parameters: &Parameters) {
        if let Some(wire) = &mut self.wire {
            match wire.connection.push(statement, parameters) {
                Ok(()) => self.steps.push_back(step),
                Err(error) => self.refused = Some(error),
            }
        }
    }

    /// Sends the appended messages and returns the rows of each statement.
    ///
    /// # Errors
    /// The error of the first failing statement, with its place; nothing after it was done. `statement` is the number of statements
    /// if the commit failed. After the deadline the statement is cancelled: [`Error::Timeout`] means that nothing happened.
    pub async fn flush(&mut self, deadline: Instant) -> Result<Vec<Rows>, Error> {
        self.send()?;
        self.answers(deadline).await
    }

    /// Sends what was appended, as far as it goes without waiting: the server works while the caller does other things.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn send(&mut self) -> Result<(), Error> {
        if let Some(error) = self.refused.take() {
            // Messages appended before it must not be sent.
            self.wire = self.wire.take().filter(Wire::is_clean);
            self.steps.clear();
            return Err(error);
        }
        (self.may_commit, self.unanswered) = (self.may_commit(), None);
        let Some(wire) = &mut self.wire else { return Err(broken_connection_error()) };
        if wire.status == Status::Failed {
            self.wire = None;
            return Err(Error::Protocol("a statement follows one that failed".into()));
        }
        wire.sync();
        wire.connection.send();
        self.rows = Vec::with_capacity(self.steps.len());
        Ok(())
    }

    /// Sends the messages appended to a failed transaction, and takes the answers.
    async fn answers_to_sent(&mut self, deadline: Instant) -> Result<Vec<Rows>, Error> {
        if let Some(error) = self.refused.take() {
            return Err(error);
        }
        let wire = self.wire.as_mut().ok_or_else(broken_connection_error)?;
        wire.sync();
        wire.connection.send();
        self.rows = Vec::new();
        self.answers(deadline).await
    }

    /// The rows of each statement that was sent.
    ///
    /// # Errors
    /// See [`Self::flush`].
    pub async fn answers(&mut self, deadline: Instant) -> Result<Vec<Rows>, Error> {
        let done = match tokio::time::timeout_at(deadline.into(), self.read_until_ready()).await {
            Ok(done) => done,
            Err(_) => Box::pin(self.stop()).await,
        };
        let holds_commit = std::mem::take(&mut self.holds_commit);
        let done = match done {
            Ok(()) if holds_commit && self.failure.is_none() => {
                self.append_commit();
                self.send_commit(deadline).await
            }
            done => done,
        };
        let must_end = std::mem::take(&mut self.must_end);
        let done = match done {
            Ok(()) if must_end && self.is_left_open() => self.commit_left_open(deadline).await,
            done => done,
        };
        match done {
            Ok(()) => match self.failure.take() {
                None => match self.unanswered.take() {
                    None => Ok(std::mem::take(&mut self.rows)),
                    Some(error) => Err(error),
                },
                Some(error) => Err(self.discard_wire_if_forgotten(error)),
            },
            Err(error) => Err(self.broke(error, self.may_commit)),
        }
    }

    /// True if the server says that a transaction is open behind one that was done to its end, as some poolers do.
    fn is_left_open(&self) -> bool {
        let is_open = self.wire.as_ref().is_some_and(|it| it.status == Status::InTransaction);
        is_open && self.purpose == Purpose::Write && self.failure.is_none()
    }

    /// Commits a transaction that was left open: its answers count only then. A server that has none open only warns.
    async fn commit_left_open(&mut self, deadline: Instant) -> Result<(), Error> {
        self.append(Step::Commit, &transaction::COMMIT, &Parameters::new());
        self.send_commit(deadline).await?;
        // A connection in an unknown state is not used again.
        self.wire = self.wire.take().filter(|it| it.status == Status::Idle);
        Ok(())
    }

    /// Sends the commit that was appended, and waits for it.
    async fn send_commit(&mut self, deadline: Instant) -> Result<(), Error> {
        self.may_commit = true;
        let wire = self.wire.as_mut().ok_or_else(broken_connection_error)?;
        wire.sync();
        wire.connection.send();
        let done = tokio::time::timeout_at(deadline.into(), self.read_until_ready()).await;
        done.unwrap_or(Err(Error::Timeout))
    }

    /// True if the appended messages may end a transaction with changes.
    fn may_commit(&self) -> bool {
        let is_open = self.wire.as_ref().is_some_and(|it| it.status == Status::InTransaction);
        let begins = self.steps.contains(&Step::Begin);
        self.purpose == Purpose::Write && (self.steps.contains(&Step::Commit) || !(is_open || begins))
    }

    /// Reads until the server is ready.
    async fn read_until_ready(&mut self) -> Result<(), Error> {
        while self.wire.as_ref().is_some_and(|it| it.is_busy) {
            let Some(wire) = &mut self.wire else { break };
            match wire.next_end().await? {
                End::Complete(rows) => {
                    let step = self.steps.pop_front();
                    self.is_released |= step == Some(Step::Release);
                    if step == Some(Step::Statement) {
                        self.rows.push(rows);
                    }
                }
                // The result of the commit follows it.
                End::TooLarge { bytes_max } if self.may_commit || self.holds_commit => {
                    wire.connection.discard();
                    self.unanswered = Some(Error::Unanswered { bytes_max });
                }
                End::TooLarge { bytes_max } => return Err(Error::AnswerTooLarge { bytes_max }),
                End::Refused(error) if &*error.severity != "ERROR" => return Err(self.shutdown_error(error)),
                End::Refused(error) => {
                    self.failure = Some(self.blame(error));
                    self.steps.clear();
                }
                End::Ready(_) => {}
            }
        }
        Ok(())
    }

    /// The failure of the first step that is not answered.
    fn blame(&self, error: Box<DatabaseError>) -> Error {
        if self.is_released {
            return Error::Unconfirmed(error);
        }
        Error::Database { error, statement: u32::try_from(self.rows.len()).unwrap_or(u32::MAX) }
    }

    /// The server closes the connection. Before a statement was done it cannot have been committed.
    fn shutdown_error(&self, error: Box<DatabaseError>) -> Error {
        match self.steps.front() {
            Some(Step::Begin | Step::Control | Step::Statement) => Error::Database { error, statement: 0 },
            Some(Step::Release | Step::Commit) | None => Error::Unavailable(error),
        }
    }

    /// Cancels the statement after the deadline, and reads its outcome.
    async fn stop(&mut self) -> Result<(), Error> {
        let Some(wire) = &self.wire else { return Err(broken_connection_error()) };
        if !wire.can_stop() {
            return Err(Error::Timeout);
        }
        let dialer = Arc::clone(&self.sessions.dialer);
        let key = wire.key.clone();
        let stopped = async { dialer.stop(&key, self.read_until_ready()).await.map_err(Error::unavailable)? };
        tokio::time::timeout(STOP_TIMEOUT, stopped).await.unwrap_or(Err(Error::Timeout))?;
        if self.failure.as_ref().and_then(Error::sqlstate).as_ref() == Some(b"57014") {
            self.failure = Some(Error::Timeout);
        }
        Ok(())
    }

    /// Drops the connection if the server's session is not the one we believe; otherwise it can be reused.
    fn discard_wire_if_forgotten(&mut self, error: Error) -> Error {
        if error.is_forgotten() {
            self.wire = None;
        }
        error
    }

    /// Gives up a broken connection, and returns the error by what is known of the statements.
    fn broke(&mut self, error: Error, may_commit: bool) -> Error {
        self.wire = None;
        match error {
            // Shut out before anything was done; see `shut_out`.
            Error::Database { error, .. } if &*error.severity != "ERROR" => Error::Unavailable(error),
            other if !may_commit => other,
            Error::Unavailable(cause) => Error::Unconfirmed(cause),
            other => Error::Unconfirmed(other.to_string().into()),
        }
    }

    /// Sends the appended messages and one more statement, whose rows are taken part by part.
    ///
    /// # Errors
    /// Errors of [`Self::flush`], if they occur before the first rows.
    pub async fn stream(
        &mut self,
        statement: &Arc<Statement>,
        parameters: &Parameters,
        settings: Option<&LocalSettings>,
        deadline: Instant,
    ) -> Result<(), Error> {
        self.push_alone(statement, parameters, settings);
        if let Some(error) = self.refused.take() {
            self.wire = self.wire.take().filter(Wire::is_clean);
            self.steps.clear();
            return Err(error);
        }
        self.wire.as_mut().ok_or_else(broken_connection_error)?.sync();
        self.rows = Vec::new();
        match tokio::time::timeout_at(deadline.into(), self.read_part()).await {
            Ok(Ok(first)) => self.rows.extend(first),
            Ok(Err(error)) => return Err(error),
            Err(_) => {
                if let Err(error) = self.stop().await {
                    tracing::info!(%error, "a read could not be stopped in time");
                    self.wire = None;
                }
                self.failure = None;
                return Err(Error::Timeout);
            }
        }
        Ok(())
    }

    /// The next rows, whole ones, some 64 KiB; `None` after the last. The server waits while they are not taken.
    ///
    /// # Errors
    /// Errors after the first rows.
    pub async fn part(&mut self) -> Result<Option<Rows>, Error> {
        if let Some(first) = self.rows.pop() {
            return Ok(Some(first));
        }
        let limit = self.sessions.dialer.settings.limits.stream_timeout;
        match tokio::time::timeout(limit, self.read_part()).await {
            Ok(part) => part,
            Err(_) => Err(self.broke(Error::Timeout, false)),
        }
    }

    async fn read_part(&mut self) -> Result<Option<Rows>, Error> {
        loop {
            let Some(wire) = &mut self.wire else { return Err(broken_connection_error()) };
            if !wire.is_busy {
                return match self.failure.take() {
                    None => Ok(None),
                    Some(error) => Err(self.discard_wire_if_forgotten(error)),
                };
            }
            let (rows, end) = match wire.connection.next_part().await {
                Ok(part) => part,
                Err(error) => return Err(self.broke(error, false)),
            };
            let rows = match end {
                None => rows,
                Some(End::Complete(rows)) => {
                    let step = self.steps.pop_front();
                    if step == Some(Step::Statement) { rows } else { Rows::default() }
                }
                Some(End::Refused(error)) if &*error.severity != "ERROR" => {
                    return Err(self.broke(Error::Unavailable(error), false));
                }
                Some(End::Refused(error)) => {
                    self.failure = Some(self.blame(error));
                    self.steps.clear();
                    Rows::default()
                }
                Some(end @ (End::TooLarge { .. } | End::Ready(_))) => {
                    wire.note(&end);
                    Rows::default()
                }
            };
            if rows.bytes_len() > 0 {
                return Ok(Some(rows));
            }
        }
    }

    /// Gives the transaction up and waits until it is undone.
    pub async fn rollback(mut self) {
        let Some(mut wire) = self.wire.take() else { return };
        if wire.connection.is_unsent() {
            return;
        }
        if matches!(tokio::time::timeout(STOP_TIMEOUT, wire.clean()).await, Ok(Ok(()))) {
            self.wire = Some(wire);
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let Some(mut wire) = self.wire.take() else { return };
        if wire.is_clean() {
            return self.sessions.put_back(wire);
        }
        let cannot_stop = wire.is_busy && !wire.can_stop();
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if cannot_stop || (wire.connection.is_unsent() && !wire.is_busy) {
            return;
        }
        let sessions = Arc::clone(&self.sessions);
        let permit = self.permit.take();
        runtime.spawn(async move {
            let cleaned = async {
                if wire.is_busy {
                    let key = wire.key.clone();
                    sessions.dialer.stop(&key, wire.drain()).await.map_err(Error::unavailable)??;
                }
                wire.clean().await?;
                // An extra round trip: after it the cancel request has certainly been handled.
                wire.sync();
                wire.drain().await
            };
            if matches!(tokio::time::timeout(2 * STOP_TIMEOUT, cleaned).await, Ok(Ok(()))) {
                sessions.put_back(wire);
            }
            drop(permit);
        });
    }
}

fn broken_connection_error() -> Error {
    Error::unavailable("the session's connection broke before")
}
