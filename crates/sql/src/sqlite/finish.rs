//! Rows to response bytes while they are stepped through: nothing is kept.
//!
//! With a [`Sink`], what is complete leaves in chunks once the answer is longer than what is held back.
//!
//! **Invariant:** bytes leave only between whole items of a list of the root, where no mark is open that could still
//! be cut back to without breaking the answer.
//!
//! Rows that share a related row share its bytes: what an object below one key became is copied for the next parent with
//! the same key ([`Seen`]).
//!
//! **Cost:** no allocation per row; recursion is as deep as the shape.

use super::cells::Cells;
use super::run::{Failure, Statements};
use super::sink::Sink;
use super::value::{infinity, read};
use crate::exec::answer::{Answer, CHUNK_BYTES, Names, Spans};
use crate::exec::bind::Bindings;
use crate::exec::write_errors::not_found;
use rusqlite::Statement;
use rusqlite::types::ValueRef;
use weir_engine::plan::shape::Shape;
use weir_engine::source::{Accent, Finished, PathError, Step};
use weir_engine::write::out::Out;
use weir_relational::catalog::facts::Cell;
use weir_relational::plan::write::{Work, Write, WriteAnswer};
use weir_relational::plan::{Level, Member, MemberKind, Run};

/// State of writing an answer.
pub(super) struct Finisher<'c, 'r, 's> {
    pub(super) statements: Statements<'c, 'r>,
    pub(super) answer: Answer<'r>,
    sink: Option<&'s mut Sink>,
    /// The member of the root at hand, and how many errors there were before it.
    root: (u32, usize),
    ends: Vec<u32>,
    /// Objects by their keys; empty until a row asks for one.
    seen: Vec<Seen>,
    /// Changes when bytes that were written are cut off or leave, or rows may have changed.
    epoch: u32,
    /// Result of a program for the current field.
    done: Option<super::write::Written>,
}

/// The bytes an object became, to be copied for the next row that refers to it.
#[derive(Clone, Copy)]
struct Seen {
    key: i64,
    level: u32,
    /// Of [`Finisher::epoch`]; zero is never.
    epoch: u32,
    start: u32,
    end: u32,
}

/// Number of remembered objects; a power of two.
const SEEN_MAX: usize = 128;

impl<'c, 'r, 's> Finisher<'c, 'r, 's> {
    pub(super) fn new(
        statements: Statements<'c, 'r>,
        shape: &'r Shape,
        sink: Option<&'s mut Sink>,
        capacity: usize,
    ) -> Self {
        let Bindings { schema, ids, .. } = statements.bindings;
        let answer = Answer::new(Names { schema, ids, shape }, Vec::with_capacity(capacity), Vec::new());
        let (ends, seen) = (Vec::new(), Vec::new());
        Self { statements, answer, sink, root: (0, 0), ends, seen, epoch: 1, done: None }
    }

    /// Writes all members of the piece. `None`: the answer has left through the sink.
    pub(super) fn finish(mut self) -> Result<Option<(Finished, Vec<PathError>)>, Failure> {
        let prepared = self.statements.prepared;
        let mut spans = Spans::new();
        let mut failed = false;
        for member in &prepared.plan.members[prepared.plan.root.range()] {
            self.root = (member.field, self.answer.errors.len());
            let mark = self.answer.out.len();
            if !self.member(member, None, &mut spans)? {
                failed = true;
                if self.has_flushed() {
                    return Err(Failure::Late);
                }
                self.cut(mark);
            }
            self.ends.push(self.answer.out.len() as u32);
        }
        for error in &mut self.answer.errors {
            error.path.reverse();
        }
        if let Some(sink) = self.sink.filter(|it| it.has_flushed()) {
            sink.end(self.answer.out.into_bytes(), self.answer.errors)?;
            return Ok(None);
        }
        let Answer { out, errors, .. } = self.answer;
        let finished = Finished { bytes: out.into_bytes(), ends: self.ends, failed, rest: None };
        Ok(Some((finished, errors)))
    }

    /// Takes back all after `mark`.
    fn cut(&mut self, mark: usize) {
        self.answer.out.truncate(mark);
        self.epoch += 1;
    }

    fn has_flushed(&self) -> bool {
        self.sink.as_ref().is_some_and(|it| it.has_flushed())
    }

    fn members(&mut self, members: Run, row: Option<Cells<'_>>) -> Result<bool, Failure> {
        let prepared = self.statements.prepared;
        let mut spans = Spans::new();
        for member in &prepared.plan.members[members.range()] {
            let ok = match (&member.kind, row) {
                (MemberKind::Leaf { column, cell }, Some(row)) => {
                    self.leaf(member, row.get(usize::from(*column)), *cell)
                }
                _ => self.member(member, row, &mut spans)?,
            };
            if !ok {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A member of the root, or one that is not in a column of its row.
    fn member(
        &mut self,
        member: &'r Member,
        row: Option<Cells<'_>>,
        spans: &mut Spans,
    ) -> Result<bool, Failure> {
        match &member.kind {
            MemberKind::Constant => {
                let of = self.answer.of(member);
                self.answer.constant(of);
                Ok(true)
            }
            _ => self.branch(member, row, spans),
        }
    }

    /// A member with something below.
    fn branch(
        &mut self,
        member: &'r Member,
        row: Option<Cells<'_>>,
        spans: &mut Spans,
    ) -> Result<bool, Failure> {
        let mut begun = self.answer.begin(member, spans)?;
        let ok = begun.is_copied || self.value(&member.kind, member, row)?;
        if !ok && member.nullable {
            if self.has_flushed() && self.root.0 == member.field {
                return Err(Failure::Late);
            }
            self.cut(begun.mark);
            self.answer.out.null();
        }
        if row.is_none() && self.root.0 == member.field {
            // The errors before a flush have left already.
            begun.before = self.root.1;
        }
        Ok(self.answer.end(member, &begun, ok, spans))
    }

    fn value(&mut self, kind: &MemberKind, member: &Member, row: Option<Cells<'_>>) -> Result<bool, Failure> {
        match kind {
            MemberKind::Inline(run) => {
                self.answer.out.open(b'{');
                let ok = self.members(*run, row)?;
                self.answer.out.close(b'}');
                Ok(ok)
            }
            MemberKind::Maybe { column, run } => match row {
                Some(row) if row.get(usize::from(*column)) != ValueRef::Null => self.inline(*run, row),
                _ => Ok(self.answer.missing(member)),
            },
            MemberKind::Shape { column, run } => match row.map(|row| row.get(usize::from(*column))) {
                Some(ValueRef::Text(text)) => {
                    Ok(self.answer.shape_of(&self.statements.prepared.plan, *run, text, member))
                }
                _ => Ok(self.answer.missing(member)),
            },
            MemberKind::One(level) => self.one(*level, member, row),
            MemberKind::Many(level) => self.many(*level, member, row),
            MemberKind::Values { level, cell } => self.values(*level, *cell, member, row),
            MemberKind::Text(text) => {
                self.answer.out.string(text);
                Ok(true)
            }
            MemberKind::Write(write) => self.write(*write, member),
            MemberKind::Affected => {
                let affected = if let Some(Cells::Done(written)) = row { written.affected } else { 0 };
                self.answer.out.int(affected);
                Ok(true)
            }
            MemberKind::Message => {
                let message = if let Some(Cells::Done(written)) = row { written.message } else { None };
                match message {
                    Some(message) => self.answer.out.string(message),
                    None => self.answer.out.null(),
                }
                Ok(true)
            }
            MemberKind::Returned(run) => self.returned(*run, member, row),
            MemberKind::Leaf { .. }
            | MemberKind::Items(_)
            | MemberKind::Ordinate(_)
            | MemberKind::Constant
            | MemberKind::Foreign => {
                self.answer.out.null();
                Ok(true)
            }
        }
    }

    /// Does what a root field of a mutation asks for, then answers.
    fn write(&mut self, at: u32, member: &Member) -> Result<bool, Failure> {
        let prepared = self.statements.prepared;
        let write = &prepared.plan.writes[at as usize];
        match (write.answer, write.works.first()) {
            (WriteAnswer::Responses(run), _) => {
                self.answer.out.open(b'[');
                for (index, work) in write.works.iter().enumerate() {
                    let before = self.answer.errors.len();
                    let (mark, done) = (self.answer.out.len(), self.work(write, work)?);
                    if !self.inline(run, Cells::Done(&done))? {
                        self.cut(mark);
                        self.answer.out.null();
                    }
                    self.answer.out.comma();
                    self.answer.step(before, Step::Index(index as u32));
                }
                self.answer.out.close(b']');
                Ok(true)
            }
            (WriteAnswer::Response(run), Some(work)) => {
                let done = self.work(write, work)?;
                self.inline(run, Cells::Done(&done))
            }
            (WriteAnswer::Row(run), Some(work)) => {
                let done = self.work(write, work)?;
                match (done.rows.first(), work, &write.missing) {
                    (Some(row), ..) => self.inline(run, Cells::Kept(row)),
                    (None, Work::Change(_), Some(words)) => {
                        let accent = self.statements.bindings.accent;
                        Err(Failure::Refused(not_found(words, accent), write.field))
                    }
                    (None, ..) => Ok(self.answer.missing(member)),
                }
            }
            // SQLite has no functions that give rows.
            (WriteAnswer::Rows(_), Some(_))
            | (WriteAnswer::Response(_) | WriteAnswer::Row(_) | WriteAnswer::Rows(_), None) => {
                Ok(self.answer.missing(member))
            }
        }
    }

    /// Writes one member of the root, whose program did `done`.
    pub(super) fn finish_program(
        mut self,
        member: &'r Member,
        done: super::write::Written,
    ) -> Result<(Vec<u8>, Vec<PathError>), Failure> {
        self.done = Some(done);
        self.member(member, None, &mut Spans::new())?;
        for error in &mut self.answer.errors {
            error.path.reverse();
        }
        Ok((self.answer.out.into_bytes(), self.answer.errors))
    }

    /// Changes rows, so what was read before says nothing of them.
    fn work(&mut self, write: &Write, work: &Work) -> Result<super::write::Written, Failure> {
        self.epoch += 1;
        match self.done.take() {
            Some(done) => Ok(done),
            None => self.statements.work(write, work),
        }
    }

    /// An object of one row.
    pub(super) fn inline(&mut self, run: Run, row: Cells<'_>) -> Result<bool, Failure> {
        self.answer.out.open(b'{');
        let ok = self.members(run, Some(row))?;
        self.answer.out.close(b'}');
        Ok(ok)
    }

    /// The rows that came back.
    fn returned(&mut self, run: Run, member: &Member, row: Option<Cells<'_>>) -> Result<bool, Failure> {
        let Some(Cells::Done(written)) = row else {
            self.answer.out.null();
            return Ok(true);
        };
        self.answer.out.open(b'[');
        for (index, row) in written.rows.iter().enumerate() {
            let before = self.answer.errors.len();
            let ok = self.inline(run, Cells::Kept(row))?;
            self.answer.out.comma();
            self.answer.step(before, Step::Index(index as u32));
            if !ok {
                return Ok(false);
            }
            self.answer.room(0, member)?;
        }
        self.answer.out.close(b']');
        Ok(true)
    }

    /// A related object, copied if an earlier row has it.
    fn one(&mut self, level: u32, member: &Member, row: Option<Cells<'_>>) -> Result<bool, Failure> {
        let Some(key) = row.and_then(|row| self.statements.only_key(level, row)) else {
            return self.asked(level, member, row);
        };
        let place = (key as usize ^ (level as usize) << 4) % SEEN_MAX;
        match self.seen.get(place) {
            Some(&seen) if (seen.key, seen.level, seen.epoch) == (key, level, self.epoch) => {
                let bytes = seen.start as usize..seen.end as usize;
                self.answer.room(bytes.len(), member)?;
                self.answer.out.again(bytes);
                return Ok(true);
            }
            Some(_) => {}
            None => self.seen.resize(SEEN_MAX, Seen { key: 0, level: 0, epoch: 0, start: 0, end: 0 }),
        }
        let (start, before) = (self.answer.out.len() as u32, self.answer.errors.len());
        let ok = self.asked(level, member, row)?;
        if ok && self.answer.errors.len() == before {
            let (end, epoch) = (self.answer.out.len() as u32, self.epoch);
            self.seen[place] = Seen { key, level, epoch, start, end };
        }
        Ok(ok)
    }

    /// A related object, read.
    fn asked(&mut self, level: u32, member: &Member, row: Option<Cells<'_>>) -> Result<bool, Failure> {
        let prepared = self.statements.prepared;
        let Some(mut statement) = self.statements.open(level, row)? else {
            return Ok(self.answer.missing(member));
        };
        let of = &prepared.plan.levels[level as usize];
        // Nothing may be written, and so sent, of one of several.
        if row.is_none() && of.choice.is_some() && are_several(&mut statement) {
            self.statements.close(level, statement);
            return Ok(self.answer.several(member));
        }
        let mut rows = statement.raw_query();
        let ok = match rows.next() {
            Ok(Some(row)) => self.object(of, member, Cells::Row(row))?,
            Ok(None) => self.answer.missing(member),
            Err(error) => return Err(self.statements.failure(error, level)),
        };
        drop(rows);
        self.statements.close(level, statement);
        Ok(ok)
    }

    fn many(&mut self, level: u32, member: &Member, row: Option<Cells<'_>>) -> Result<bool, Failure> {
        let of = &self.statements.prepared.plan.levels[level as usize];
        let at_root = row.is_none() && self.root.0 == member.field;
        self.answer.out.open(b'[');
        let Some(mut statement) = self.statements.open(level, row)? else {
            self.answer.out.close(b']');
            return Ok(true);
        };
        let mut rows = statement.raw_query();
        let mut index = 0;
        let ok = loop {
            let row = match rows.next() {
                Ok(Some(row)) => row,
                Ok(None) => break true,
                Err(error) => return Err(self.statements.failure(error, level)),
            };
            let (mark, before) = (self.answer.out.len(), self.answer.errors.len());
            let ok = self.object(of, member, Cells::Row(row))?;
            if !ok && member.null_items {
                self.cut(mark);
                self.answer.out.null();
            }
            self.answer.out.comma();
            self.answer.step(before, Step::Index(index));
            if !ok && !member.null_items {
                break false;
            }
            index += 1;
            if at_root && self.sink.is_some() {
                self.flush()?;
            }
            self.answer.room(0, member)?;
        };
        drop(rows);
        self.statements.close(level, statement);
        self.answer.out.close(b']');
        Ok(ok)
    }

    /// Writes a row of a level.
    #[inline]
    fn object(&mut self, of: &'r Level, member: &Member, row: Cells<'_>) -> Result<bool, Failure> {
        match &of.choice {
            None => self.inline(of.members, row),
            Some(choice) => self.chosen(choice, member, row),
        }
    }

    /// Writes the most common kinds of columns directly; [`Finisher::unusual`] writes the others.
    #[inline(always)]
    fn leaf(&mut self, member: &Member, value: ValueRef<'_>, cell: Cell) -> bool {
        let key = &self.answer.of(member).key;
        match (cell, value) {
            (Cell::Int, ValueRef::Integer(value)) if i32::try_from(value).is_ok() => {
                self.answer.out.member_int(key, value);
            }
            (Cell::BigInt | Cell::Numeric | Cell::Float, ValueRef::Integer(value)) => {
                self.answer.out.member_int(key, value);
            }
            (Cell::Float | Cell::Numeric, ValueRef::Real(value)) if value.is_finite() => {
                self.answer.out.member_float(key, value);
            }
            (Cell::Text, ValueRef::Text(text)) if text.is_ascii() => self.answer.out.member_text(key, text),
            _ => return self.unusual(member, value, cell),
        }
        true
    }

    #[inline(never)]
    fn unusual(&mut self, member: &Member, value: ValueRef<'_>, cell: Cell) -> bool {
        if self.statements.bindings.accent == Accent::Hasura
            && let Some(text) = infinity(cell, value)
        {
            return self.answer.leaf(member, cell, Ok(text));
        }
        self.answer.leaf(member, cell, read(cell, value))
    }

    /// Lets whole items of a root list go, all but the last comma, which the closing bracket may take.
    fn flush(&mut self) -> Result<(), Failure> {
        let Some(sink) = &mut self.sink else { return Ok(()) };
        let bytes_max = if sink.has_flushed() { CHUNK_BYTES } else { sink.hold_back_bytes };
        if self.answer.out.len() <= bytes_max {
            return Ok(());
        }
        let mut bytes = std::mem::take(&mut self.answer.out).into_bytes();
        bytes.pop();
        self.epoch += 1;
        self.answer.out = Out::new(Vec::with_capacity(CHUNK_BYTES + CHUNK_BYTES / 4));
        self.answer.out.comma();
        if sink.has_flushed() {
            return sink.send(bytes);
        }
        let mut errors = std::mem::take(&mut self.answer.errors);
        for (at, error) in errors.iter_mut().enumerate() {
            if at >= self.root.1 {
                error.path.push(Step::Field(self.root.0));
            }
            error.path.reverse();
        }
        self.root.1 = 0;
        sink.begin(bytes, errors)
    }
}

/// True if a statement with bound parameters finds more than one row.
fn are_several(statement: &mut Statement<'_>) -> bool {
    let mut rows = statement.raw_query();
    let mut is_next = || matches!(rows.next(), Ok(Some(_)));
    is_next() && is_next()
}
