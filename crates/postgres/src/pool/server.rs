//! The connections of one server: lanes for short reads, sessions for exclusive use.
//!
//! **Invariant:** at most `sessions_max` sessions are open at once; at most `waiting_max` callers wait for one, at most
//! `wait_max` long, or for their turn at the same rows or at tables that are locked.
//!
//! **Cost:** a thread keeps to its own lane, so that an answer crosses no thread, unless that lane is stuck.

use crate::address::{Limits, Settings};
use crate::admission::bulkhead::{Bulkhead, Cause, Pass, Patience};
use crate::admission::keyed_limiter::{KeyPermit, KeyedLimiter};
use crate::connect::dial::{Dialer, ReadVersion};
use crate::error::Error;
use crate::lanes::Lanes;
use crate::lanes::lane_queue::LaneCount;
use crate::places::Rested;
use crate::protocol::local_settings::LocalSettings;
use crate::protocol::rows::Rows;
use crate::protocol::statement::{Parameters, SHORT_MAX, Statement};
use crate::protocol::transaction::Transaction;
use crate::session::Session;
use crate::session::idle_sessions::{Purpose, Sessions, Waiting};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;
use tokio::sync::oneshot;
use weir_relational::catalog::TableId;

/// A lane lives in the runtime that asked it first. When that ends, those of others who wait ask again so often.
const RUNTIMES_MAX: usize = 8;
/// Maximum number of concurrent changes of the same rows: while one commits, the statements of the next are at the server
/// already.
const CHANGES_MAX: u32 = 8;

/// Lanes and sessions of one server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) lanes: Box<[Lanes]>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) bulkhead: Arc<Bulkhead>,
    limiter: Arc<KeyedLimiter>,
}

impl Server {
    /// Connects to nothing yet.
    pub(crate) fn new(settings: Settings) -> Self {
        Self::reading(settings, ReadVersion::Present)
    }

    /// A server whose reads use `reading`; connects to nothing yet.
    pub(crate) fn reading(settings: Settings, reading: ReadVersion) -> Self {
        let dialer = Arc::new(Dialer::new(settings, reading));
        let limits = dialer.settings.limits;
        let bulkhead = Bulkhead::new(limits.sessions_max);
        let lanes = |count| Lanes::new(Arc::clone(&dialer), Arc::clone(&bulkhead), count);
        let lanes = lane_counts(&limits).into_iter().map(lanes).collect();
        let sessions = Arc::new(Sessions::new(dialer));
        let rested: Weak<dyn Rested> = Arc::<Sessions>::downgrade(&sessions);
        sessions.dialer.places.lend_from(rested);
        Self { lanes, sessions, bulkhead, limiter: KeyedLimiter::new() }
    }

    /// Runs a read together with others, by the thread's own lane or by one that is not stuck; alone, if its statement is
    /// slow or waits for a lock, which may show while it waits.
    pub(crate) async fn read(
        &self,
        statement: &Arc<Statement>,
        parameters: Parameters,
        deadline: Instant,
    ) -> Result<Rows, Error> {
        for _ in 0..RUNTIMES_MAX {
            if let Some(cause) = self.bulkhead.diverts(statement) {
                return Box::pin(self.read_behind(cause, statement, &parameters, None, deadline)).await;
            }
            let lane = self.lane();
            let submitted = lane.submit(statement, parameters.clone(), None, deadline)?;
            if submitted.is_held_up {
                self.add_lane(lane);
            }
            match submitted.answer.await {
                Ok(Err(error)) if error.is_locked() => {
                    self.bulkhead.mark(&statement.tables, Cause::Read);
                    return Box::pin(self.read_behind(Cause::Read, statement, &parameters, None, deadline))
                        .await;
                }
                Ok(answer) => return answer,
                Err(_) => {}
            }
        }
        Box::pin(self.read_behind(Cause::Read, statement, &parameters, None, deadline)).await
    }

    /// The thread's own lane, or one that answers if that one is stuck or has no connection and gets none.
    fn lane(&self) -> &Lanes {
        let own = &self.lanes[thread_number() % self.lanes.len()];
        let is_usable = |it: &&Lanes| !it.is_shut_out() && !it.is_stuck();
        if is_usable(&own) {
            return own;
        }
        let others = || self.lanes.iter();
        others().find(is_usable).or_else(|| others().find(|it| !it.is_shut_out())).unwrap_or(own)
    }

    /// Opens another lane beside these, if there may be one.
    fn add_lane(&self, lanes: &Lanes) {
        let helpers = &self.sessions.dialer.helpers;
        match lanes.count() {
            LaneCount::Fixed(_) if helpers.is_pausing() => {}
            LaneCount::Fixed(_) => lanes.add_lane(None),
            LaneCount::FollowsLoad => {
                if let Some(permit) = self.sessions.lend_session() {
                    helpers.enter();
                    lanes.add_lane(Some(permit));
                }
            }
        }
    }

    /// Runs a read on a session, in a transaction that begins with `settings`.
    pub(crate) async fn read_alone(
        &self,
        statement: &Arc<Statement>,
        parameters: Parameters,
        settings: Option<&LocalSettings>,
        deadline: Instant,
    ) -> Result<Rows, Error> {
        self.read_behind(Cause::Read, statement, &parameters, settings, deadline).await
    }

    /// Runs a read on a session, behind the gate of `cause` if its tables are marked.
    async fn read_behind(
        &self,
        cause: Cause,
        statement: &Arc<Statement>,
        parameters: &Parameters,
        settings: Option<&LocalSettings>,
        deadline: Instant,
    ) -> Result<Rows, Error> {
        let mut gate = self.gate(cause, &statement.tables, deadline);
        loop {
            let patience = gate.enter().await?;
            let done = self.read_once(patience, statement, parameters, settings, deadline).await;
            if !gate.should_retry(done.as_ref().err()) {
                return done;
            }
        }
    }

    async fn read_once(
        &self,
        patience: Patience,
        statement: &Arc<Statement>,
        parameters: &Parameters,
        settings: Option<&LocalSettings>,
        deadline: Instant,
    ) -> Result<Rows, Error> {
        let mut session = self.session(Purpose::Read, patience, deadline).await?;
        session.push_alone(statement, parameters, settings);
        let start = Instant::now();
        let rows = session.flush(session.statement_end(deadline)).await?.pop().unwrap_or_default();
        // A patient statement may have waited for a lock, so its time says nothing.
        if patience == Patience::Bounded {
            statement.ran(start.elapsed() > SHORT_MAX);
        }
        Ok(rows)
    }

    /// Runs one changing statement on a session. `rows` identifies the rows it touches: few statements with the same value run
    /// at a time.
    pub(crate) async fn change(
        &self,
        statement: &Arc<Statement>,
        parameters: &Parameters,
        settings: Option<&LocalSettings>,
        rows: Option<u64>,
        deadline: Instant,
    ) -> Result<Rows, Error> {
        let _turn = match rows.map(|it| self.limiter.enter(it, CHANGES_MAX)) {
            Some(entered) => Some(self.turn(entered, deadline).await?),
            None => None,
        };
        let mut gate = self.gate(Cause::Change, &statement.tables, deadline);
        loop {
            let mut session = self.session(Purpose::Write, gate.enter().await?, deadline).await?;
            session.push_alone(statement, parameters, settings);
            let done = session.flush(session.statement_end(deadline)).await;
            drop(session);
            if !gate.should_retry(done.as_ref().err()) {
                return Ok(done?.pop().unwrap_or_default());
            }
        }
    }

    /// Waits as long as for a lock.
    async fn turn(
        &self,
        entered: Result<KeyPermit, oneshot::Receiver<KeyPermit>>,
        deadline: Instant,
    ) -> Result<KeyPermit, Error> {
        let comes = match entered {
            Ok(turn) => return Ok(turn),
            Err(comes) => comes,
        };
        let _waiting = self.waiting()?;
        match tokio::time::timeout_at(deadline.into(), comes).await {
            Ok(turn) => turn.map_err(Error::unavailable),
            Err(_) => Err(Error::Timeout),
        }
    }

    /// Waits for a turn at locked tables, and for one of the sessions that such requests may hold.
    async fn pass(
        &self,
        entered: Result<KeyPermit, oneshot::Receiver<KeyPermit>>,
        deadline: Instant,
    ) -> Result<Pass, Error> {
        let turn = self.turn(entered, deadline).await?;
        let _waiting = self.waiting()?;
        let held = Arc::clone(self.bulkhead.gate_permits()).acquire_owned();
        match tokio::time::timeout_at(deadline.into(), held).await {
            Ok(held) => Ok(Pass::new(turn, held.map_err(Error::unavailable)?)),
            Err(_) => Err(Error::Timeout),
        }
    }

    fn waiting(&self) -> Result<Waiting<'_>, Error> {
        self.sessions.enter_waiting()
    }

    /// Limits concurrent statements about `tables` on sessions, for all their attempts.
    pub(crate) fn gate<'s>(&'s self, cause: Cause, tables: &'s [TableId], deadline: Instant) -> Gate<'s> {
        Gate { server: self, cause, tables, deadline, patience: Patience::Bounded, pass: None }
    }

    /// Begins a read on a session, whose rows are taken part by part.
    pub(crate) async fn stream(
        &self,
        statement: &Arc<Statement>,
        parameters: &Parameters,
        settings: Option<&LocalSettings>,
        deadline: Instant,
    ) -> Result<Session, Error> {
        let mut gate = self.gate(Cause::Read, &statement.tables, deadline);
        loop {
            let mut session = self.session(Purpose::Read, gate.enter().await?, deadline).await?;
            let begun =
                session.stream(statement, parameters, settings, session.statement_end(deadline)).await;
            if !gate.should_retry(begun.as_ref().err()) {
                return begun.map(|()| session);
            }
        }
    }

    /// Begins several long reads in one snapshot on a session: `push` appends them, and their first answers are returned.
    pub(crate) async fn snapshot(
        &self,
        push: impl Fn(&mut Session),
        patience: Patience,
        settings: Option<&LocalSettings>,
        deadline: Instant,
    ) -> Result<(Session, Vec<Rows>), Error> {
        let mut session = self.session(Purpose::Read, patience, deadline).await?;
        session.begin(Transaction::Snapshot);
        settings.into_iter().for_each(|it| session.set_local(it));
        session.may_rest();
        push(&mut session);
        let rows = session.flush(session.statement_end(deadline)).await?;
        Ok((session, rows))
    }

    pub(crate) async fn session(
        &self,
        purpose: Purpose,
        patience: Patience,
        deadline: Instant,
    ) -> Result<Session, Error> {
        let sessions = &self.sessions;
        let permit = sessions.permit(purpose, deadline).await?;
        let rested = if sessions.dialer.places.has_line() { None } else { sessions.take_idle() };
        let wire = match rested {
            Some(wire) => wire,
            None => Box::pin(sessions.connect(deadline)).await?,
        };
        Ok(Session::new(wire, Arc::clone(sessions), permit, purpose, patience))
    }
}

/// Lets statements about a set of tables at sessions: at first with the server's bound on waits for locks, then without.
pub struct Gate<'s> {
    server: &'s Server,
    cause: Cause,
    tables: &'s [TableId],
    deadline: Instant,
    patience: Patience,
    pass: Option<Pass>,
}

impl Gate<'_> {
    /// Waits for leave to try.
    pub async fn enter(&mut self) -> Result<Patience, Error> {
        let Some(entered) = self.server.bulkhead.enter(self.tables, self.cause, self.patience) else {
            return Ok(self.patience);
        };
        self.pass = Some(Box::pin(self.server.pass(entered, self.deadline)).await?);
        Ok(self.patience)
    }

    /// Takes note of how the try ended; whether there is to be another.
    pub fn should_retry(&mut self, error: Option<&Error>) -> bool {
        self.pass = None;
        let is_locked = error.is_some_and(Error::is_locked);
        let cause = if self.cause == Cause::Slow { Cause::Read } else { self.cause };
        if error.is_none() {
            self.server.bulkhead.lift(self.tables, cause);
        }
        if !is_locked || self.patience == Patience::Whole {
            return false;
        }
        self.server.bulkhead.mark(self.tables, cause);
        (self.cause, self.patience) = (cause, Patience::Whole);
        true
    }
}

/// Numbers of lanes of each thread, as far as there are lanes.
fn lane_counts(limits: &Limits) -> Vec<LaneCount> {
    let threads = limits.threads.max(1);
    let Some(lanes) = limits.lanes else { return vec![LaneCount::FollowsLoad; threads] };
    let queues = lanes.clamp(1, threads);
    let share = |at| LaneCount::Fixed((lanes.max(1) + queues - 1 - at) / queues);
    (0..queues).map(share).collect()
}

/// Threads are numbered as they come.
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static NUMBER: usize = NEXT.fetch_add(1, Ordering::Relaxed));
    NUMBER.with(|it| *it)
}
