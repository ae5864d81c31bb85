//! Rows to response bytes.
//!
//! **Invariant:** what is written depends on rows already read: nothing is asked while writing.
//!
//! **Cost:** no allocation per row; recursion is as deep as the shape.

use super::cursor::Cursor;
use super::decode::Decoder;
use super::found::{Found, Key, Walk};
use super::objects::shape_text;
use super::prepared::Prepared;
use super::write::{Done, WorkDone};
use crate::exec::answer::{Answer, Names, Spans, TooLong};
use crate::exec::program::Shown;
use crate::exec::value::{Fault, Value};
use weir_engine::source::{Finished, PathError, Step};
use weir_relational::catalog::facts::Cell;
use weir_relational::plan::write::WriteAnswer;
use weir_relational::plan::{Member, MemberKind, Run};

/// Constants of an answer being written.
#[derive(Clone, Copy)]
pub(super) struct Task<'r> {
    pub(super) prepared: &'r Prepared,
    pub(super) names: Names<'r>,
}

/// See the module's words.
pub(super) struct Finisher<'r> {
    pub(super) task: Task<'r>,
    pub(super) answer: Answer<'r>,
    pub(super) scratch: Vec<u8>,
}

/// Source of the members' values.
#[derive(Clone, Copy)]
pub(super) enum At<'c, 'r> {
    /// The root of a query.
    Root(&'c Found<'r>),
    /// The root of a mutation.
    Changes(&'r [Done<'r>], &'c [Option<Found<'r>>]),
    /// Objects that a program shows, and the rows read for them.
    Program(&'c Shown, Option<&'c Found<'r>>),
    /// Result of a field of a mutation.
    Did(&'r WorkDone<'r>, Option<&'c Found<'r>>),
    /// A row of an arm.
    Row(&'c Cursor<'r>, &'c Found<'r>, usize),
    /// A row that a change returned: with its decoders, the answers below it and its number there.
    Returned(&'c Cursor<'r>, &'r [Decoder], Option<&'c Found<'r>>, usize),
}

/// True if the value was written, false if its null propagates.
pub(super) type Wrote = Result<bool, TooLong>;

impl<'r> Finisher<'r> {
    pub(super) fn new(task: Task<'r>, capacity: usize) -> Self {
        Self::from_parts(task, Vec::with_capacity(capacity), Vec::new())
    }

    /// Goes on writing where another has left off.
    pub(super) fn from_parts(task: Task<'r>, bytes: Vec<u8>, errors: Vec<PathError>) -> Self {
        Self { task, answer: Answer::new(task.names, bytes, errors), scratch: Vec::new() }
    }

    /// The answer so far.
    pub(super) fn into_parts(self) -> (Vec<u8>, Vec<PathError>) {
        (self.answer.out.into_bytes(), self.answer.errors)
    }

    /// One member of the root; errors keep their paths as they are read.
    pub(super) fn root_member(&mut self, member: &'r Member, at: At<'_, 'r>) -> Wrote {
        let before = self.answer.errors.len();
        let done = self.member(member, at, &mut Spans::new())?;
        for error in &mut self.answer.errors[before..] {
            error.path.reverse();
        }
        Ok(done)
    }

    /// Writes all members of the piece.
    pub(super) fn finish(mut self, at: At<'_, 'r>) -> Result<(Finished, Vec<PathError>), TooLong> {
        let plan = &self.task.prepared.plan;
        let mut spans = Spans::new();
        let mut ends = Vec::with_capacity(plan.root.len as usize);
        let mut failed = false;
        for member in &plan.members[plan.root.range()] {
            let mark = self.answer.out.len();
            if !self.member(member, at, &mut spans)? {
                failed = true;
                self.answer.out.truncate(mark);
            }
            ends.push(self.answer.out.len() as u32);
        }
        for error in &mut self.answer.errors {
            error.path.reverse();
        }
        let Answer { out, errors, .. } = self.answer;
        Ok((Finished { bytes: out.into_bytes(), ends, failed, rest: None }, errors))
    }

    fn members(&mut self, members: Run, at: At<'_, 'r>) -> Wrote {
        let plan = &self.task.prepared.plan;
        let mut spans = Spans::new();
        for member in &plan.members[members.range()] {
            if !self.member(member, at, &mut spans)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    #[inline]
    fn member(&mut self, member: &'r Member, at: At<'_, 'r>, spans: &mut Spans) -> Wrote {
        match (&member.kind, at) {
            (MemberKind::Leaf { column, cell }, At::Row(row, found, arm)) => {
                let column = usize::from(found.asked.arms[arm].columns[usize::from(*column)]);
                Ok(self.leaf(member, *cell, row.column(column), &found.asked.decoders[column]))
            }
            (MemberKind::Leaf { column, cell }, At::Returned(row, decoders, ..)) => {
                let column = usize::from(*column);
                Ok(self.leaf(member, *cell, row.column(column), &decoders[column]))
            }
            (MemberKind::Constant, _) => {
                let of = self.answer.of(member);
                self.answer.constant(of);
                Ok(true)
            }
            _ => self.branch(member, at, spans),
        }
    }

    /// A member with something below.
    fn branch(&mut self, member: &'r Member, at: At<'_, 'r>, spans: &mut Spans) -> Wrote {
        let begun = self.answer.begin(member, spans)?;
        let ok = begun.is_copied || self.value(member, at)?;
        if !ok && member.nullable {
            self.answer.out.truncate(begun.mark);
            self.answer.out.null();
        }
        Ok(self.answer.end(member, &begun, ok, spans))
    }

    fn value(&mut self, member: &'r Member, at: At<'_, 'r>) -> Wrote {
        match (&member.kind, at) {
            (MemberKind::Inline(run), _) => self.object(*run, at),
            (MemberKind::Maybe { column, run }, At::Row(..)) => self.maybe(*column, *run, member, at),
            (MemberKind::Shape { column, run }, _) => match shape_text(at, *column) {
                Some(text) => Ok(self.answer.shape_of(&self.task.prepared.plan, *run, text, member)),
                None => Ok(self.answer.missing(member)),
            },
            (MemberKind::One(level), _) => self.one(*level, member, at),
            (MemberKind::Many(level), _) => self.many(*level, member, at),
            (MemberKind::Values { level, cell }, _) => self.values(*level, *cell, member, at),
            (MemberKind::Text(text), _) => {
                self.answer.out.string(text);
                Ok(true)
            }
            (MemberKind::Write(write), At::Changes(done, found)) => {
                let write = *write as usize;
                self.write(write, member, &done[write], found[write].as_ref())
            }
            (MemberKind::Write(write), At::Program(..)) => {
                match self.task.prepared.plan.writes[*write as usize].answer {
                    WriteAnswer::Response(run) => self.object(run, at),
                    WriteAnswer::Row(_) | WriteAnswer::Rows(_) | WriteAnswer::Responses(_) => {
                        Ok(self.answer.missing(member))
                    }
                }
            }
            (MemberKind::Message, At::Program(shown, _)) => {
                match shown.message {
                    Some(message) => self.answer.out.string(message),
                    None => self.answer.out.null(),
                }
                Ok(true)
            }
            (
                MemberKind::Affected,
                At::Program(Shown { affected, .. }, _) | At::Did(WorkDone { affected, .. }, _),
            ) => {
                self.answer.out.int(*affected);
                Ok(true)
            }
            (MemberKind::Returned(run), At::Did(work, found)) => self.returned(*run, member, work, found),
            (
                MemberKind::Leaf { .. }
                | MemberKind::Maybe { .. }
                | MemberKind::Items(_)
                | MemberKind::Ordinate(_)
                | MemberKind::Constant
                | MemberKind::Foreign
                | MemberKind::Write(_)
                | MemberKind::Affected
                | MemberKind::Message
                | MemberKind::Returned(_),
                _,
            ) => {
                self.answer.out.null();
                Ok(true)
            }
        }
    }

    pub(super) fn object(&mut self, run: Run, at: At<'_, 'r>) -> Wrote {
        self.answer.out.open(b'{');
        let ok = self.members(run, at)?;
        self.answer.out.close(b'}');
        Ok(ok)
    }

    /// Writes the result of a root field of a mutation.
    fn write(
        &mut self,
        write: usize,
        member: &'r Member,
        done: &'r Done<'r>,
        found: Option<&Found<'r>>,
    ) -> Wrote {
        let prepared = self.task.prepared;
        match (prepared.plan.writes[write].answer, done.works.first()) {
            (WriteAnswer::Responses(run), _) => {
                self.answer.out.open(b'[');
                for (index, work) in done.works.iter().enumerate() {
                    let (mark, before) = (self.answer.out.len(), self.answer.errors.len());
                    if !self.object(run, At::Did(work, found))? {
                        self.answer.out.truncate(mark);
                        self.answer.out.null();
                    }
                    self.answer.out.comma();
                    self.answer.step(before, Step::Index(index as u32));
                }
                self.answer.out.close(b']');
                Ok(true)
            }
            (WriteAnswer::Response(run), Some(work)) => self.object(run, At::Did(work, found)),
            (WriteAnswer::Row(run), Some(work)) => match work.rows().next() {
                Some((row, decoders)) => {
                    let row = Cursor::new(row);
                    self.object(run, At::Returned(&row, decoders, found, work.first))
                }
                None => Ok(self.answer.missing(member)),
            },
            (WriteAnswer::Rows(run), Some(work)) => self.returned(run, member, work, found),
            (WriteAnswer::Response(_) | WriteAnswer::Row(_) | WriteAnswer::Rows(_), None) => {
                Ok(self.answer.missing(member))
            }
        }
    }

    /// The rows that came back.
    fn returned(
        &mut self,
        run: Run,
        member: &Member,
        work: &'r WorkDone<'r>,
        found: Option<&Found<'r>>,
    ) -> Wrote {
        self.answer.out.open(b'[');
        for (index, (row, decoders)) in work.rows().enumerate() {
            let before = self.answer.errors.len();
            let row = Cursor::new(row);
            let ok = self.object(run, At::Returned(&row, decoders, found, work.first + index))?;
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

    fn one(&mut self, level: u32, member: &'r Member, at: At<'_, 'r>) -> Wrote {
        let Some((found, arm)) = place(level, at) else { return Ok(self.answer.missing(member)) };
        let mut rows = rows(self.task, level, found, arm, at);
        match (rows.next(), rows.next()) {
            (Some(_), Some(_)) if self.task.prepared.plan.levels[level as usize].choice.is_some() => {
                Ok(self.answer.several(member))
            }
            (Some(row), _) => {
                let row = Cursor::new(row);
                self.row(level, member, &row, found, arm)
            }
            (None, _) => Ok(self.answer.missing(member)),
        }
    }

    fn many(&mut self, level: u32, member: &'r Member, at: At<'_, 'r>) -> Wrote {
        self.answer.out.open(b'[');
        if let Some((found, arm)) = place(level, at) {
            for (index, row) in rows(self.task, level, found, arm, at).enumerate() {
                if !self.item(level, member, &Cursor::new(row), found, arm, index as u32)? {
                    return Ok(false);
                }
                self.answer.room(0, member)?;
            }
        }
        self.answer.out.close(b']');
        Ok(true)
    }

    /// One item of a list, with its comma.
    pub(super) fn item(
        &mut self,
        level: u32,
        member: &'r Member,
        row: &Cursor<'r>,
        found: &Found<'r>,
        arm: usize,
        index: u32,
    ) -> Wrote {
        let (mark, before) = (self.answer.out.len(), self.answer.errors.len());
        let ok = self.row(level, member, row, found, arm)?;
        if !ok && member.null_items {
            self.answer.out.truncate(mark);
            self.answer.out.null();
        }
        self.answer.out.comma();
        self.answer.step(before, Step::Index(index));
        Ok(ok || member.null_items)
    }

    #[inline]
    fn leaf(&mut self, member: &Member, cell: Cell, bytes: Option<&[u8]>, decoder: &Decoder) -> bool {
        let value = match bytes {
            Some(bytes) => decoder.read(bytes, &mut self.scratch),
            None => Ok(Value::Null),
        };
        match value {
            Ok(Value::Int(value)) if cell == Cell::Int && i32::try_from(value).is_err() => {
                self.answer.faulty(member, beyond_int(value))
            }
            value => self.answer.leaf(member, cell, value),
        }
    }
}

#[cold]
fn beyond_int(value: i64) -> Fault {
    let message = format!("Int cannot represent non 32-bit signed integer value: {value}");
    Fault { code: "INT_RANGE", message: message.into() }
}

/// The answer that holds the rows of `level` for what stands at `at`.
pub(super) fn place<'c, 'r>(level: u32, at: At<'c, 'r>) -> Option<(&'c Found<'r>, usize)> {
    let found = match at {
        At::Root(found) | At::Row(_, found, _) => Some(found),
        At::Returned(_, _, found, _) | At::Did(_, found) | At::Program(_, found) => found,
        At::Changes(..) => None,
    }?;
    found.place(level)
}

/// Those rows.
pub(super) fn rows<'c, 'r>(
    task: Task<'r>,
    level: u32,
    found: &'c Found<'r>,
    arm: usize,
    at: At<'_, 'r>,
) -> Walk<'c, 'r> {
    match at {
        At::Root(_) | At::Program(..) => found.all(arm),
        At::Returned(_, _, _, number) => found.of_parent(arm, number),
        At::Changes(..) | At::Did(..) => Walk::None,
        At::Row(row, own, _) if own.asked.arm(level).is_none() => found.of_parent(arm, row.number),
        At::Row(row, _, parent) => {
            let parent = &found.asked.arms[parent];
            let nest = &task.prepared.plan.levels[level as usize].query.nest;
            let key = nest.iter().map(|&(_, column)| {
                let column = parent.columns[usize::from(column)];
                row.column(usize::from(column))
            });
            found.below(arm, &key.collect::<Key<'_>>())
        }
    }
}
