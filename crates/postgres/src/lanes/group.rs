//! Mutations of one statement each that wait together: they go in one transaction and share its commit.
//!
//! When one fails, or waits for a lock or works for too long, the server undoes the whole group; each then goes alone, in a
//! connection of its own, so that every mutation is in or out by itself. Groups get smaller by half when that happens and
//! grow again, so that a client who keeps failing costs the others little.
//!
//! **Invariant:** nobody is answered before the commit was confirmed; who may have been committed is never told that he was
//! not, and never sent again.
//!
//! **Cost:** one sync, so one flush of the log, for up to [`GROUP_MAX`] mutations; their locks are held until it is through.

use crate::admission::bulkhead::{Bulkhead, Cause};
use crate::connect::dial::Connected;
use crate::connect::dial::Kind;
use crate::error::{DatabaseError, Error};
use crate::lanes::lane_queue::{Batch, GRACE, Landed, Request, Shared, tick};
use crate::lanes::read_batch::Fate;
use crate::protocol::connection::{Connection, End, Status};
use crate::protocol::rows::Rows;
use crate::protocol::statement::{Parameters, Statement};
use crate::protocol::transaction::CHECK_AT_ONCE;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use tokio::time::Sleep;

/// Maximum number of mutations per commit.
const GROUP_MAX: usize = 256;

/// A batch of mutations that share one transaction.
#[derive(Debug)]
pub(crate) struct Group {
    /// Not answered by the server, in the order in which they are written; `None` for a request that was told of its timeout.
    open: VecDeque<Option<Request>>,
    /// Parallel to `open`, once it is written: number of answers before its own that belong to settings.
    settings: VecDeque<u8>,
    /// Answered by the server, and not committed yet.
    done: Vec<(Option<Request>, Result<Rows, Error>)>,
    /// The reason why a committed mutation cannot be answered, for the one whose turn it is.
    unanswered: Option<Error>,
    /// The failure that undid all.
    failure: Option<Box<DatabaseError>>,
    /// The statement that waited for a lock for too long.
    locked: Option<Arc<Statement>>,
    is_sent: bool,
    requests_max: usize,
}

impl Default for Group {
    fn default() -> Self {
        let open = VecDeque::new();
        let settings = VecDeque::new();
        let done = Vec::new();
        let unanswered = None;
        let failure = None;
        let locked = None;
        let is_sent = false;
        Self { open, settings, done, unanswered, failure, locked, is_sent, requests_max: GROUP_MAX }
    }
}

impl Batch for Group {
    const KIND: Kind = Kind::Group;

    fn is_diverted(bulkhead: &Bulkhead, statement: &Statement) -> bool {
        statement.is_slow() || bulkhead.is_marked(&statement.tables, Cause::Change)
    }

    fn requests_max(&self) -> usize {
        self.requests_max
    }

    fn requests(&self) -> usize {
        self.open.len() + self.done.len()
    }

    fn joins(&self, _request: &Request) -> bool {
        false
    }

    fn add(&mut self, request: Request) {
        self.open.push_back(Some(request));
    }

    async fn run(
        mut self,
        shared: Arc<Shared>,
        (mut connection, key): Connected,
        mut timer: Pin<&mut Sleep>,
    ) -> Landed<Self> {
        if !connection.facts.is_pooled {
            match self.describe(&shared, &mut connection, timer.as_mut()).await {
                Fate::Ready => {}
                Fate::Open | Fate::Broken => {
                    self.fail(&Error::Undone);
                    return Landed { connection: None, batch: self, again: Vec::new() };
                }
            }
        }
        self.write(&mut connection);
        shared.statements.fetch_add(self.requests() as u64, Ordering::Relaxed);
        let last = Instant::now() + shared.dialer.settings.limits.statement_timeout + GRACE;
        let mut fate = Fate::Open;
        tick(timer.as_mut());
        while matches!(fate, Fate::Open) {
            tokio::select! {
                biased;
                end = connection.next_end() => {
                    if let Ok(End::TooLarge { .. }) = end {
                        connection.discard();
                    }
                    fate = self.hand_out(end);
                    if let Some(statement) = self.locked.take() {
                        shared.bulkhead.mark(&statement.tables, Cause::Change);
                    }
                }
                () = &mut timer => {
                    tick(timer.as_mut());
                    shared.expire(|| Error::Busy);
                    self.expire();
                    if Instant::now() > last {
                        fate = self.lose(&Error::unavailable("the server has stopped answering"));
                    }
                }
            }
        }
        self.is_sent = false;
        let connection = matches!(fate, Fate::Ready).then_some((connection, key));
        Landed { connection, batch: self, again: Vec::new() }
    }
}

impl Group {
    /// Lets the server describe statements that are new to the connection before one runs: the rows of one whose columns changed
    /// could not be given, and would be committed with the others. Where one is refused, each goes alone.
    async fn describe(
        &mut self,
        shared: &Shared,
        connection: &mut Connection,
        mut timer: Pin<&mut Sleep>,
    ) -> Fate {
        let mut is_asked = false;
        for request in self.open.iter_mut() {
            let Some(new) = request.take_if(|it| connection.runs_blindly(&it.statement)) else { continue };
            match connection.prepare(&new.statement) {
                Ok(()) => (is_asked, *request) = (true, Some(new)),
                Err(error) => new.answer(Err(error)),
            }
        }
        self.open.retain(Option::is_some);
        if !is_asked {
            return Fate::Ready;
        }
        connection.sync();
        let last = Instant::now() + shared.dialer.settings.limits.statement_timeout + GRACE;
        tick(timer.as_mut());
        loop {
            tokio::select! {
                biased;
                end = connection.next_end() => match end {
                    Ok(End::Ready(Status::Idle)) => return Fate::Ready,
                    Ok(End::Refused(error)) if &*error.severity == "ERROR" => self.fail(&Error::Undone),
                    Ok(_) | Err(_) => return Fate::Broken,
                },
                () = &mut timer => {
                    tick(timer.as_mut());
                    shared.expire(|| Error::Busy);
                    if Instant::now() > last {
                        return Fate::Broken;
                    }
                }
            }
        }
    }

    /// Appends all statements, each behind its settings, and the sync. One that cannot be written is answered at once.
    fn write(&mut self, connection: &mut Connection) {
        if connection.facts.is_pooled {
            // Poolers refuse the settings that keep one from holding up the others.
            self.fail(&Error::Undone);
        }
        self.settings.clear();
        let mut has_settings = false;
        let mut at = 0;
        while let Some(Some(request)) = self.open.get(at) {
            let written = write_settings(connection, request, !has_settings);
            has_settings |= request.settings.is_some();
            let pushed = match written {
                Ok(_) => connection.push(&request.statement, &request.parameters),
                Err(ref error) => Err(error.duplicate()),
            };
            match (pushed, written.unwrap_or(0)) {
                (Ok(()), answers) => {
                    self.settings.push_back(answers);
                    at += 1;
                }
                (Err(error), 0) => drop(self.open.remove(at).flatten().map(|it| it.answer(Err(error)))),
                (Err(error), answers) => {
                    // The last answer of its settings stands for its own.
                    self.settings.push_back(answers - 1);
                    if let Some(request) = self.open[at].take() {
                        request.answer(Err(error));
                    }
                    at += 1;
                }
            }
        }
        connection.sync();
        self.is_sent = true;
    }

    /// Gives an answer to the mutation whose turn it is.
    fn hand_out(&mut self, end: Result<End, Error>) -> Fate {
        match end {
            Ok(End::Complete(_)) if self.takes_setting() => Fate::Open,
            Ok(End::Complete(rows)) => match self.open.pop_front() {
                Some(request) => {
                    self.settings.pop_front();
                    self.done.push((request, self.unanswered.take().map_or(Ok(rows), Err)));
                    Fate::Open
                }
                None => Fate::Broken,
            },
            Ok(End::Refused(error)) if &*error.severity == "ERROR" => {
                self.unanswered = None;
                if &error.sqlstate == b"55P03" {
                    self.locked = self.open.front().and_then(|it| Some(Arc::clone(&it.as_ref()?.statement)));
                }
                self.failure = Some(error);
                Fate::Open
            }
            // The server closes the connection: before the last statement was through it did not commit.
            Ok(End::Refused(error)) if !self.open.is_empty() => {
                self.fail(&Error::Unavailable(error));
                Fate::Broken
            }
            Ok(End::Refused(error)) => self.lose(&Error::Unavailable(error)),
            Ok(End::TooLarge { bytes_max }) => {
                self.unanswered = Some(Error::Unanswered { bytes_max });
                Fate::Open
            }
            Ok(End::Ready(Status::Idle)) if self.failure.is_some() => self.undo(),
            Ok(End::Ready(Status::Idle)) if self.open.is_empty() => {
                self.confirm();
                Fate::Ready
            }
            Ok(End::Ready(_)) => {
                self.lose(&Error::Protocol("the server is ready before all is answered".into()))
            }
            Err(error) => self.lose(&error),
        }
    }

    /// True if the answer that came is one of settings: the mutation's own follows.
    fn takes_setting(&mut self) -> bool {
        match self.settings.front_mut() {
            None | Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
        }
    }

    /// Answers requests that timed out; whether they are committed is not known yet.
    fn expire(&mut self) {
        let now = Instant::now();
        // Requests keep their places, because answers come in order.
        let places = self.open.iter_mut().chain(self.done.iter_mut().map(|it| &mut it.0));
        places.filter_map(|it| it.take_if(|it| it.deadline <= now)).for_each(|request| {
            request.answer(Err(Error::Unconfirmed(Error::Timeout.into())));
        });
    }

    /// The transaction was committed.
    fn confirm(&mut self) {
        self.requests_max = (self.requests_max * 2).min(GROUP_MAX);
        for (request, rows) in self.done.drain(..) {
            if let Some(request) = request {
                request.answer(rows);
            }
        }
    }

    /// The server undid all. A mutation that was alone gets the error, unless it was for limits that only groups have.
    fn undo(&mut self) -> Fate {
        let Some(error) = self.failure.take() else { return Fate::Broken };
        if error.is_ambiguous() {
            self.fail(&Error::Unconfirmed(error));
            return Fate::Ready;
        }
        let is_alone = self.requests() == 1;
        self.requests_max = (self.requests() / 2).max(1);
        let is_slow = &error.sqlstate == b"57014";
        if is_slow && let Some(Some(request)) = self.open.front() {
            request.statement.ran(true);
        }
        let has_own_bounds = is_slow || &error.sqlstate == b"55P03";
        let error = Error::Database { error, statement: 0 };
        let fate = if error.is_forgotten() { Fate::Broken } else { Fate::Ready };
        if is_alone && !has_own_bounds {
            self.fail(&error)
        } else {
            self.fail(&Error::Undone)
        }
        fate
    }

    /// The connection broke, so it is unknown whether the group was committed.
    fn lose(&mut self, cause: &Error) -> Fate {
        match self.failure.take() {
            Some(error) if !error.is_ambiguous() => self.fail(&Error::Undone),
            Some(_) | None => self.fail(&Error::Unconfirmed(cause.to_string().into())),
        }
        Fate::Broken
    }

    fn fail(&mut self, error: &Error) {
        let all = self.done.drain(..).map(|it| it.0).chain(self.open.drain(..));
        all.flatten().for_each(|it| it.answer(Err(error.duplicate())));
    }
}

/// Appends the settings of `request`, and before those of the `first` that has some that constraints are checked with each statement: a
/// deferred trigger would read those of the last mutation. Gives the number of their answers.
fn write_settings(connection: &mut Connection, request: &Request, is_first: bool) -> Result<u8, Error> {
    let Some(settings) = &request.settings else { return Ok(0) };
    connection.push(&settings.statement, &settings.values)?;
    if is_first {
        connection.push(&CHECK_AT_ONCE, &Parameters::new())?;
    }
    Ok(1 + u8::from(is_first))
}

impl Drop for Group {
    /// Fails the requests of a group that is in flight when the runtime ends.
    fn drop(&mut self) {
        if self.is_sent {
            self.lose(&Error::unavailable("the runtime of the connection has ended"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot::{Receiver, channel};

    type Answer = Receiver<Result<Rows, Error>>;

    /// A group that was sent, and its waiting requests.
    fn sent<const N: usize>() -> (Group, [Answer; N]) {
        let mut group = Group::default();
        let answers = std::array::from_fn(|_| {
            let (reply, answer) = channel();
            let statement = Statement::new("C", [], [], [], None);
            let parameters = Parameters::new();
            let now = Instant::now();
            let deadline = now;
            let is_alone = false;
            let is_repeated = false;
            let since = now;
            let settings = None;
            group.add(Request {
                statement,
                parameters,
                settings,
                deadline,
                since,
                is_alone,
                is_repeated,
                reply,
            });
            answer
        });
        group.is_sent = true;
        (group, answers)
    }

    fn refused(severity: &str, sqlstate: [u8; 5]) -> Result<End, Error> {
        let severity = severity.into();
        Ok(End::Refused(Box::new(DatabaseError { severity, sqlstate, ..DatabaseError::default() })))
    }

    fn complete() -> Result<End, Error> {
        Ok(End::Complete(Rows::default()))
    }

    /// The answers of all requests.
    fn heard<const N: usize>(answers: &mut [Answer; N]) -> [&'static str; N] {
        std::array::from_fn(|at| match answers[at].try_recv() {
            Ok(Ok(_)) => "in",
            Ok(Err(Error::Undone)) => "undone",
            Ok(Err(Error::Unconfirmed(_))) => "unconfirmed",
            Ok(Err(Error::Unanswered { .. })) => "unanswered",
            Ok(Err(Error::Unavailable(_))) => "unavailable",
            Ok(Err(Error::Database { .. })) => "refused",
            Ok(Err(other)) => panic!("{other}"),
            Err(_) => "nothing",
        })
    }

    fn check<const N: usize>(ends: Vec<Result<End, Error>>, fate: Fate, expected: [&str; N]) {
        let (mut group, mut answers) = sent::<N>();
        let count = ends.len();
        for (at, end) in ends.into_iter().enumerate() {
            let expected = if at + 1 == count { fate } else { Fate::Open };
            assert_eq!(heard(&mut answers), ["nothing"; N]);
            assert_eq!(group.hand_out(end), expected);
        }
        assert_eq!(heard(&mut answers), expected);
    }

    #[test]
    fn all_are_answered_when_the_commit_is_confirmed() {
        check(vec![complete(), complete(), Ok(End::Ready(Status::Idle))], Fate::Ready, ["in"; 2]);
    }

    #[test]
    fn a_failure_undoes_all() {
        let ready = || Ok(End::Ready(Status::Idle));
        let unique = || refused("ERROR", *b"23505");
        check(vec![complete(), unique(), ready()], Fate::Ready, ["undone"; 3]);
        check(vec![complete(), complete(), unique(), ready()], Fate::Ready, ["undone"; 2]);
        let slow = || refused("ERROR", *b"57014");
        check(vec![complete(), slow(), ready()], Fate::Ready, ["undone"; 3]);
        check(vec![unique(), ready()], Fate::Ready, ["refused"]);
        let ambiguous = || refused("ERROR", *b"40003");
        check(vec![complete(), ambiguous(), ready()], Fate::Ready, ["unconfirmed"; 2]);
        check(vec![refused("ERROR", *b"55P03"), ready()], Fate::Ready, ["undone"]);
        check(vec![slow(), ready()], Fate::Ready, ["undone"]);
        check(vec![refused("ERROR", *b"26000"), ready()], Fate::Broken, ["undone"; 2]);
    }

    #[test]
    fn a_connection_that_breaks_leaves_no_false_hope() {
        let broken = || Err(Error::unavailable("broken"));
        let ended = || refused("FATAL", *b"57P01");
        check(vec![complete(), broken()], Fate::Broken, ["unconfirmed"; 2]);
        check(vec![complete(), ended()], Fate::Broken, ["unavailable"; 2]);
        check(vec![complete(), complete(), ended()], Fate::Broken, ["unconfirmed"; 2]);
        check(vec![complete(), refused("ERROR", *b"23505"), broken()], Fate::Broken, ["undone"; 2]);
    }

    #[test]
    fn an_answer_that_is_too_large_is_no_matter_of_its_neighbours() {
        let too_large = || Ok(End::TooLarge { bytes_max: 1 });
        let ready = || Ok(End::Ready(Status::Idle));
        let ends = vec![too_large(), complete(), complete(), ready()];
        check(ends, Fate::Ready, ["unanswered", "in"]);
        check(vec![too_large(), refused("ERROR", *b"57014"), ready()], Fate::Ready, ["undone"; 2]);
        check(vec![too_large(), Err(Error::unavailable("broken"))], Fate::Broken, ["unconfirmed"; 2]);
    }

    #[test]
    fn who_runs_out_of_time_under_way_is_not_told_that_nothing_happened() {
        let (mut group, mut answers) = sent::<2>();
        assert_eq!(group.hand_out(complete()), Fate::Open);
        group.expire();
        assert_eq!(heard(&mut answers), ["unconfirmed"; 2]);
        assert_eq!(group.hand_out(complete()), Fate::Open);
        assert_eq!(group.hand_out(Ok(End::Ready(Status::Idle))), Fate::Ready);
    }

    #[test]
    fn groups_shrink_when_they_fail_and_grow_again() {
        let mut sizes = Vec::new();
        let (mut group, _) = sent::<9>();
        for end in [refused("ERROR", *b"23505"), Ok(End::Ready(Status::Idle))] {
            group.hand_out(end);
        }
        sizes.push(group.requests_max());
        for _ in 0..7 {
            group.hand_out(Ok(End::Ready(Status::Idle)));
            sizes.push(group.requests_max());
        }
        assert_eq!(sizes, [4, 8, 16, 32, 64, 128, 256, 256]);
    }

    #[test]
    fn a_runtime_that_ends_leaves_no_false_hope() {
        let (group, mut answers) = sent::<1>();
        drop(group);
        assert_eq!(heard(&mut answers), ["unconfirmed"]);
    }
}
