//! Batches of reads: coalescing of equal reads, and distribution of the answers.
//!
//! Equal statements with equal values are sent once; one-row statements that differ in values alone go as one merged
//! statement. An error makes the server pass over the rest of its batch; those statements, being reads, go again with the
//! next. So do those behind one that takes long and leaves the lane with its connection: see [`super::in_flight_batch`].
//!
//! **Invariant:** answers come in the order in which units were written; a unit is answered once, or put by to go again.

use crate::admission::bulkhead::{Bulkhead, Cause};
use crate::error::Error;
use crate::lanes::lane_queue::Request;
use crate::protocol::array_literal::quote;
use crate::protocol::connection::{Connection, End, Status};
use crate::protocol::rows::{Columns, Rows};
use crate::protocol::statement::{Buffer, Format, Parameters, Statement};
use smallvec::{SmallVec, smallvec};
use std::collections::VecDeque;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum number of reads in a batch.
pub(crate) const BATCH_MAX: usize = 256;

/// Requests with exactly the same read.
type Askers = SmallVec<[Request; 1]>;

/// A batch, before and while it is under way.
#[derive(Debug, Default)]
pub(crate) struct ReadBatch {
    /// In the order in which they are written; the first is the one whose answer comes next.
    units: VecDeque<Unit>,
    requests: usize,
    /// Requests to repeat.
    again: Vec<Request>,
    /// An error came: the server skips the rest of the batch.
    is_cut: bool,
    /// Something was answered since the last tick.
    has_moved: bool,
}

/// A statement that is sent once.
#[derive(Debug)]
struct Unit {
    hash: u64,
    statement: Arc<Statement>,
    /// A single list of askers, or with `is_merged` one list per ordinal.
    askers: SmallVec<[Askers; 1]>,
    is_merged: bool,
    /// True if the answer was awaited from one tick to the next.
    is_slow: bool,
}

/// State of the batch's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// More answers come.
    Open,
    /// All is through; the connection can be used again.
    Ready,
    /// The connection cannot be used again.
    Broken,
}

impl ReadBatch {
    /// Number of requests.
    pub(crate) fn request_count(&self) -> usize {
        self.requests
    }

    /// True if `request` would share the statement of another.
    pub(crate) fn can_share(&self, request: &Request) -> bool {
        let merges = request.statement.merged.is_some() && !request.is_alone;
        self.units.iter().any(|it| {
            let first = || it.askers.first().and_then(|it| it.first());
            it.statement.id == request.statement.id
                && ((merges && it.can_merge())
                    || first().is_some_and(|it| it.parameters == request.parameters))
        })
    }

    /// Adds a request, to its equal if there is one.
    pub(crate) fn push(&mut self, request: Request) {
        self.requests += 1;
        let mut hasher = foldhash::fast::FixedState::default().build_hasher();
        request.statement.id.hash(&mut hasher);
        request.parameters.as_bytes().hash(&mut hasher);
        let hash = hasher.finish();
        let equal = self.units.iter_mut().find(|it| {
            let first = || it.askers.first().and_then(|it| it.first());
            let is_equal = |other: &Request| {
                other.statement.id == request.statement.id && other.parameters == request.parameters
            };
            it.hash == hash && first().is_some_and(is_equal)
        });
        match equal {
            Some(unit) => unit.askers[0].push(request),
            None => {
                let statement = Arc::clone(&request.statement);
                let askers = smallvec![smallvec![request]];
                self.units.push_back(Unit { hash, statement, askers, is_merged: false, is_slow: false });
            }
        }
    }

    /// Number of statements to send.
    pub(crate) fn statements(&self) -> usize {
        self.units.len()
    }

    /// The statements as they are sent.
    pub(crate) fn statements_sent(&self) -> impl Iterator<Item = &Arc<Statement>> {
        self.units.iter().map(Unit::statement_sent)
    }

    /// Joins units of one statement that can be merged.
    pub(crate) fn merge(&mut self) {
        if self.units.iter().filter(|it| it.can_merge()).nth(1).is_none() {
            return;
        }
        let mut merged: VecDeque<Unit> = VecDeque::with_capacity(self.units.len());
        for mut unit in self.units.drain(..) {
            let same = |it: &&mut Unit| it.can_merge() && it.statement.id == unit.statement.id;
            match merged.iter_mut().find(same) {
                Some(first) if unit.can_merge() => first.askers.append(&mut unit.askers),
                _ => merged.push_back(unit),
            }
        }
        for unit in merged.iter_mut().filter(|it| it.askers.len() > 1) {
            unit.is_merged = true;
        }
        self.units = merged;
    }

    /// Appends all statements and the sync. A unit that cannot be written is answered at once.
    ///
    /// PostgreSQL holds answers back until the sync or until they fill its buffer. So before a unit that may take long it is told to send
    /// those of the units before: these would wait for it, and the first of them would pass for the slow one.
    pub(crate) fn write(&mut self, connection: &mut Connection) {
        let mut at = 0;
        while let Some(unit) = self.units.get(at) {
            if at > 0 && unit.may_take_long() {
                connection.ask_for_answers();
            }
            match unit.write(connection) {
                Ok(()) => at += 1,
                Err(error) => drop(self.units.remove(at).map(|it| it.refuse(&error))),
            }
        }
        connection.sync();
    }

    /// Gives an answer to the unit whose turn it is.
    pub(crate) fn hand_out(&mut self, end: Result<End, Error>) -> Fate {
        self.has_moved = true;
        match end {
            Ok(End::Complete(rows)) => match self.units.pop_front() {
                Some(unit) => {
                    if !unit.is_slow {
                        unit.statement.ran(false);
                    }
                    unit.answer(rows);
                    Fate::Open
                }
                None => Fate::Broken,
            },
            Ok(End::Refused(error)) if &*error.severity == "ERROR" => {
                let error = Error::Database { error, statement: 0 };
                let fate = if error.is_forgotten() { Fate::Broken } else { Fate::Open };
                self.is_cut = true;
                self.refuse_first(error);
                fate
            }
            // The server says why it closes the connection.
            Ok(End::Refused(error)) => {
                let is_shutdown = &error.sqlstate == b"57P01";
                self.give_up(&Error::Unavailable(error), is_shutdown);
                Fate::Broken
            }
            Ok(End::TooLarge { bytes_max }) => {
                self.refuse_first(Error::AnswerTooLarge { bytes_max });
                self.is_cut = true;
                Fate::Broken
            }
            Ok(End::Ready(Status::Idle)) if self.is_cut || self.units.is_empty() => Fate::Ready,
            Ok(End::Ready(_)) => {
                self.give_up(&Error::Protocol("the server is ready before all is answered".into()), false);
                Fate::Broken
            }
            Err(error @ Error::Database { .. }) => {
                self.refuse_first(error);
                Fate::Broken
            }
            Err(error) => {
                self.give_up(&error, false);
                Fate::Broken
            }
        }
    }

    /// The first unit failed. Of a merged one only one asker may be to blame: all go again, alone. They all know of a lock.
    fn refuse_first(&mut self, error: Error) {
        let Some(unit) = self.units.pop_front() else { return };
        if !unit.is_merged || error.is_locked() {
            return unit.refuse(&error);
        }
        for mut request in unit.askers.into_iter().flatten() {
            request.is_alone = true;
            self.again.push(request);
        }
    }

    /// Nothing more will be answered. With `may_repeat` those who were not repeated yet go again.
    fn give_up(&mut self, error: &Error, may_repeat: bool) {
        for mut request in self.units.drain(..).flat_map(|it| it.askers.into_iter().flatten()) {
            if may_repeat && !request.is_repeated {
                request.is_repeated = true;
                self.again.push(request);
            } else {
                request.answer(Err(error.duplicate()));
            }
        }
    }

    /// Runs at each tick: answers requests that timed out, or waited `wait_max` for others, and discards their later answers. Marks
    /// the first unit's tables if it is slow.
    pub(crate) fn expire(&mut self, wait_max: Duration, bulkhead: &Bulkhead) {
        let has_moved = std::mem::take(&mut self.has_moved);
        if let Some(first) = self.units.front_mut()
            && !(has_moved || first.is_slow || self.is_cut)
        {
            first.is_slow = true;
            first.statement.ran(true);
        }
        if let Some(slow) = self.units.front().filter(|it| it.is_slow) {
            bulkhead.mark(&slow.statement.tables, Cause::Slow);
        }
        let now = Instant::now();
        for (at, unit) in self.units.iter_mut().enumerate() {
            let is_overdue = |it: &Request| at > 0 && it.since + wait_max <= now;
            for askers in &mut unit.askers {
                let is_over = |it: &Request| it.deadline <= now || is_overdue(it);
                let (over, rest): (Askers, Askers) = std::mem::take(askers).into_iter().partition(is_over);
                *askers = rest;
                for request in over {
                    let error = if request.deadline <= now { Error::Timeout } else { Error::Busy };
                    request.answer(Err(error));
                }
            }
        }
    }

    /// True if the next answer takes long.
    pub(crate) fn is_slow(&self) -> bool {
        !self.is_cut && self.units.front().is_some_and(|it| it.is_slow)
    }

    /// True if no request waits for it any more.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.units.iter().flat_map(|it| it.askers.iter().flatten()).all(|it| it.reply.is_closed())
    }

    /// Splits off the unit whose answer comes next, as a batch of its own; the others count as not sent.
    pub(crate) fn part_first(&mut self) -> Self {
        Self { units: self.units.pop_front().into_iter().collect(), ..Self::default() }
    }

    /// Requests to repeat, in order. The batch is empty then, its memory kept.
    pub(crate) fn take_rest(&mut self) -> Vec<Request> {
        let mut rest = std::mem::take(&mut self.again);
        rest.extend(self.units.drain(..).flat_map(|it| it.askers.into_iter().flatten()));
        rest.retain(|it| !it.reply.is_closed());
        (self.requests, self.is_cut, self.has_moved) = (0, false, false);
        rest
    }
}

impl Unit {
    fn can_merge(&self) -> bool {
        let is_alone = self.askers.iter().flatten().any(|it| it.is_alone);
        self.statement.merged.is_some() && !is_alone
    }

    fn statement_sent(&self) -> &Arc<Statement> {
        match &self.statement.merged {
            Some(merged) if self.is_merged => merged,
            _ => &self.statement,
        }
    }

    /// True unless it took little time whenever it ran alone, and when it ran last.
    fn may_take_long(&self) -> bool {
        !self.statement.is_short() || !self.statement_sent().alone.is_little()
    }

    fn write(&self, connection: &mut Connection) -> Result<(), Error> {
        match &self.statement.merged {
            Some(merged) if self.is_merged => {
                let members: SmallVec<[Columns<'_>; 64]> = self
                    .askers
                    .iter()
                    .filter_map(|it| it.first().map(|it| Columns::new(it.parameters.as_bytes())))
                    .collect();
                connection.push(merged, &arrays(members, self.statement.parameters.len()))
            }
            _ => match self.askers.iter().flatten().next() {
                Some(request) => connection.push(&self.statement, &request.parameters),
                None => Ok(()),
            },
        }
    }

    fn answer(self, rows: Rows) {
        match &self.statement.merged {
            Some(merged) if self.is_merged => {
                let is_binary = merged.formats.first() == Some(&Format::Binary);
                let parts = rows.split_merged(self.askers.len(), is_binary);
                for (askers, rows) in self.askers.into_iter().zip(parts) {
                    askers.into_iter().for_each(|it| it.answer(Ok(rows.clone())));
                }
            }
            _ => {
                self.askers.into_iter().flatten().for_each(|it| it.answer(Ok(rows.clone())));
            }
        }
    }

    fn refuse(self, error: &Error) {
        self.askers.into_iter().flatten().for_each(|it| it.answer(Err(error.duplicate())));
    }
}

/// Array literals of the members' values: the first of all, the second of all, ….
fn arrays(mut members: SmallVec<[Columns<'_>; 64]>, count: usize) -> Parameters {
    let mut parameters = Parameters::new();
    for _ in 0..count {
        parameters.push_with(|out| {
            out.push(b'{');
            for (at, member) in members.iter_mut().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                element(out, member.next().flatten());
            }
            out.push(b'}');
        });
    }
    parameters
}

/// Writes an array element, quoted unless it is a number. Source: the manual of PostgreSQL, "Array Input and Output Syntax".
fn element(out: &mut Buffer, value: Option<&[u8]>) {
    let Some(value) = value else { return out.extend_from_slice(b"NULL") };
    let is_number = |it: &u8| it.is_ascii_digit() || *it == b'-' || *it == b'.';
    if !value.is_empty() && value.iter().all(is_number) {
        return out.extend_from_slice(value);
    }
    quote(value, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    fn statement(merges: bool) -> Arc<Statement> {
        let merged = merges.then(|| Statement::new("M", [1007], [Format::Binary], [], None));
        Statement::new("S", [23], [Format::Binary], [], merged)
    }

    fn add(
        batch: &mut ReadBatch,
        statement: &Arc<Statement>,
        value: &str,
    ) -> oneshot::Receiver<Result<Rows, Error>> {
        let (reply, answer) = oneshot::channel();
        let mut parameters = Parameters::new();
        parameters.push(value.as_bytes());
        let now = Instant::now();
        let statement = Arc::clone(statement);
        let deadline = now;
        let is_alone = false;
        let is_repeated = false;
        batch.push(Request {
            statement,
            parameters,
            settings: None,
            deadline,
            since: now,
            is_alone,
            is_repeated,
            reply,
        });
        answer
    }

    /// The askers of each unit: those of one value stand together, ordinals are parted.
    fn shape(batch: &ReadBatch) -> String {
        let unit = |it: &Unit| {
            let counts: Vec<String> = it.askers.iter().map(|it| it.len().to_string()).collect();
            format!("{}{}", if it.is_merged { "m" } else { "" }, counts.join("+"))
        };
        batch.units.iter().map(unit).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn equal_statements_go_once_and_those_that_differ_in_values_are_merged() {
        let plain = statement(false);
        let merging = statement(true);
        let mut batch = ReadBatch::default();
        let answers = [
            add(&mut batch, &plain, "1"),
            add(&mut batch, &merging, "1"),
            add(&mut batch, &plain, "1"),
            add(&mut batch, &plain, "2"),
            add(&mut batch, &merging, "2"),
            add(&mut batch, &merging, "1"),
        ];
        batch.merge();
        assert_eq!(shape(&batch), "2 m2+1 1");
        assert_eq!((batch.request_count(), answers.len()), (6, 6));
    }

    #[test]
    fn one_value_alone_is_not_merged() {
        let merging = statement(true);
        let mut batch = ReadBatch::default();
        let answers = [add(&mut batch, &merging, "1"), add(&mut batch, &merging, "1")];
        batch.merge();
        assert_eq!((shape(&batch).as_str(), answers.len()), ("2", 2));
    }

    #[test]
    fn an_error_answers_its_asker_and_sends_the_rest_again() {
        let plain = statement(false);
        let mut batch = ReadBatch::default();
        let mut answers = ["1", "2", "3"].map(|value| add(&mut batch, &plain, value));
        assert_eq!(batch.hand_out(Ok(End::Complete(Rows::default()))), Fate::Open);
        let error = Box::new(crate::error::DatabaseError { severity: "ERROR".into(), ..Default::default() });
        assert_eq!(batch.hand_out(Ok(End::Refused(error))), Fate::Open);
        assert_eq!(batch.hand_out(Ok(End::Ready(Status::Idle))), Fate::Ready);
        assert!(answers[0].try_recv().unwrap().is_ok());
        assert!(matches!(answers[1].try_recv(), Ok(Err(Error::Database { .. }))));
        assert_eq!(batch.take_rest().len(), 1);
    }

    #[test]
    fn of_a_merged_statement_that_fails_each_goes_again_alone() {
        let merging = statement(true);
        let mut batch = ReadBatch::default();
        let answers = ["1", "2"].map(|value| add(&mut batch, &merging, value));
        batch.merge();
        let error = Box::new(crate::error::DatabaseError { severity: "ERROR".into(), ..Default::default() });
        assert_eq!(batch.hand_out(Ok(End::Refused(error))), Fate::Open);
        let rest = batch.take_rest();
        assert_eq!((rest.len(), answers.len()), (2, 2));
        let mut batch = ReadBatch::default();
        rest.into_iter().for_each(|it| batch.push(it));
        batch.merge();
        assert_eq!(shape(&batch), "1 1");
    }

    #[test]
    fn members_of_arrays_are_quoted_unless_they_are_numbers() {
        let values = [Some("1"), Some("-2.5"), Some("a\"b\\c"), Some(""), Some("NULL"), None];
        let members: Vec<Parameters> = values
            .iter()
            .map(|value| {
                let mut parameters = Parameters::new();
                match value {
                    Some(value) => parameters.push(value.as_bytes()),
                    None => parameters.push_null(),
                }
                parameters
            })
            .collect();
        let columns = members.iter().map(|it| Columns::new(it.as_bytes())).collect();
        let arrays = arrays(columns, 1);
        let array = arrays.iter().next().flatten().unwrap();
        assert_eq!(array, br#"{1,-2.5,"a\"b\\c","","NULL",NULL}"#);
    }
}
