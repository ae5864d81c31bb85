//! Rows to response bytes.
//!
//! A member that fails answers `false`; the nearest nullable position cuts the buffer back and writes `null`. Paths are
//! kept backwards and only grown when there are errors.
//!
//! **Invariant:** what is written depends on rows already read: nothing is asked while writing.
//!
//! **Cost:** no allocation per row; recursion is as deep as the shape.

use super::cursor::Cursor;
use super::decode::Decoder;
use super::found::{Found, Key, Walk};
use super::prepared::Prepared;
use super::rows::Row;
use super::too_long::{ANSWER_BYTES_MAX, TooLong};
use super::write::{Done, WorkDone};
use crate::catalog::facts::Cell;
use crate::relational::change::WriteAnswer;
use crate::relational::program::Shown;
use crate::relational::{Member, MemberKind, Run};
use crate::value::{Fault, Value};
use smallvec::SmallVec;
use weir_engine::plan::shape::{Shape, ShapeField};
use weir_engine::source::{FieldError, Finished, Ids, PathError, Step};
use weir_engine::write::out::Out;
use weir_engine::write::rows::ERRORS_MAX;
use weir_language::schema::Schema;

/// What does not change while an answer is written.
#[derive(Clone, Copy)]
pub(super) struct Task<'r> {
    pub(super) prepared: &'r Prepared,
    pub(super) schema: &'r Schema,
    pub(super) ids: &'r Ids,
    pub(super) shape: &'r Shape,
}

/// See the module's words.
pub(super) struct Finisher<'r> {
    pub(super) task: Task<'r>,
    pub(super) out: Out,
    /// Paths are backwards.
    pub(super) errors: Vec<PathError>,
    pub(super) scratch: Vec<u8>,
}

/// Where members get their values.
#[derive(Clone, Copy)]
pub(super) enum At<'c, 'r> {
    /// The root of a query.
    Root(&'c Found<'r>),
    /// The root of a mutation.
    Changes(&'r [Done<'r>], &'c [Option<Found<'r>>]),
    /// What a program shows, and the answers to that.
    Program(&'c Shown, Option<&'c Found<'r>>),
    /// What a field of a mutation did.
    Did(&'r WorkDone<'r>, Option<&'c Found<'r>>),
    /// A row of an arm.
    Row(&'c Cursor<'r>, &'c Found<'r>, usize),
    /// A row that a change returned: with its decoders, the answers below it and its number there.
    Returned(&'c Cursor<'r>, &'r [Decoder], Option<&'c Found<'r>>, usize),
}

/// A written member that a later one may copy: its bytes and its errors.
struct Written {
    field: u32,
    bytes: std::ops::Range<usize>,
    errors: std::ops::Range<usize>,
}

type Spans = SmallVec<[Written; 2]>;

/// Whether what was to be written could be, or its null has to bubble.
pub(super) type Wrote = Result<bool, TooLong>;

impl<'r> Finisher<'r> {
    pub(super) fn new(task: Task<'r>, capacity: usize) -> Self {
        let out = Out::new(Vec::with_capacity(capacity));
        Self { task, out, errors: Vec::new(), scratch: Vec::new() }
    }

    /// Goes on writing where another has left off.
    pub(super) fn from_parts(task: Task<'r>, bytes: Vec<u8>, errors: Vec<PathError>) -> Self {
        Self { task, out: Out::new(bytes), errors, scratch: Vec::new() }
    }

    /// What is written so far.
    pub(super) fn into_parts(self) -> (Vec<u8>, Vec<PathError>) {
        (self.out.into_bytes(), self.errors)
    }

    /// One member of the root; errors keep their paths as they are read.
    pub(super) fn root_member(&mut self, member: &'r Member, at: At<'_, 'r>) -> Wrote {
        let before = self.errors.len();
        let done = self.member(member, at, &mut Spans::new())?;
        for error in &mut self.errors[before..] {
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
            let mark = self.out.len();
            if !self.member(member, at, &mut spans)? {
                failed = true;
                self.out.truncate(mark);
            }
            ends.push(self.out.len() as u32);
        }
        for error in &mut self.errors {
            error.path.reverse();
        }
        Ok((Finished { bytes: self.out.into_bytes(), ends, failed, rest: None }, self.errors))
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
        let shape = self.task.shape;
        let of = &shape.fields[member.field as usize];
        match (&member.kind, at) {
            (MemberKind::Leaf { column, cell }, At::Row(row, found, arm)) => {
                let column = usize::from(found.asked.arms[arm].columns[usize::from(*column)]);
                Ok(self.leaf(member, of, *cell, row.column(column), &found.asked.decoders[column]))
            }
            (MemberKind::Leaf { column, cell }, At::Returned(row, decoders, ..)) => {
                let column = usize::from(*column);
                Ok(self.leaf(member, of, *cell, row.column(column), &decoders[column]))
            }
            (MemberKind::Constant, _) => {
                if let weir_engine::plan::shape::Member::Constant { start, end } = of.member {
                    self.out.span(&shape.constants, start as usize, end as usize);
                }
                Ok(true)
            }
            _ => self.branch(member, of, at, spans),
        }
    }

    /// A member with something below.
    fn branch(&mut self, member: &'r Member, of: &ShapeField, at: At<'_, 'r>, spans: &mut Spans) -> Wrote {
        self.out.key(&of.key);
        let (mark, before) = (self.out.len(), self.errors.len());
        let earlier = member.same_as.and_then(|it| spans.iter().find(|span| span.field == it));
        let ok = match earlier {
            Some(written) => {
                self.room(written.bytes.len(), member)?;
                self.out.again(written.bytes.clone());
                for at in written.errors.clone() {
                    let mut error = self.errors[at].clone();
                    error.path.pop();
                    self.errors.push(error);
                }
                true
            }
            None => self.value(member, at)?,
        };
        if !ok && member.nullable {
            self.out.truncate(mark);
            self.out.null();
        }
        self.step(before, Step::Field(member.field));
        if member.copied && (ok || member.nullable) {
            let (bytes, errors) = (mark..self.out.len(), before..self.errors.len());
            spans.push(Written { field: member.field, bytes, errors });
        }
        self.out.comma();
        Ok(ok || member.nullable)
    }

    fn value(&mut self, member: &'r Member, at: At<'_, 'r>) -> Wrote {
        match (&member.kind, at) {
            (MemberKind::Inline(run), _) => self.object(*run, at),
            (MemberKind::Maybe { column, run }, At::Row(..)) => self.maybe(*column, *run, member, at),
            (MemberKind::One(level), _) => self.one(*level, member, at),
            (MemberKind::Many(level), _) => self.many(*level, member, at),
            (MemberKind::Values { level, cell }, _) => self.values(*level, *cell, member, at),
            (MemberKind::Text(text), _) => {
                self.out.string(text);
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
                        Ok(self.missing(member))
                    }
                }
            }
            (MemberKind::Message, At::Program(shown, _)) => {
                match shown.message {
                    Some(message) => self.out.string(message),
                    None => self.out.null(),
                }
                Ok(true)
            }
            (
                MemberKind::Affected,
                At::Program(Shown { affected, .. }, _) | At::Did(WorkDone { affected, .. }, _),
            ) => {
                self.out.int(*affected);
                Ok(true)
            }
            (MemberKind::Returned(run), At::Did(work, found)) => self.returned(*run, member, work, found),
            (
                MemberKind::Leaf { .. }
                | MemberKind::Maybe { .. }
                | MemberKind::Constant
                | MemberKind::Foreign
                | MemberKind::Write(_)
                | MemberKind::Affected
                | MemberKind::Message
                | MemberKind::Returned(_),
                _,
            ) => {
                self.out.null();
                Ok(true)
            }
        }
    }

    pub(super) fn object(&mut self, run: Run, at: At<'_, 'r>) -> Wrote {
        self.out.open(b'{');
        let ok = self.members(run, at)?;
        self.out.close(b'}');
        Ok(ok)
    }

    /// What a root field of a mutation did.
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
                self.out.open(b'[');
                for (index, work) in done.works.iter().enumerate() {
                    let (mark, before) = (self.out.len(), self.errors.len());
                    if !self.object(run, At::Did(work, found))? {
                        self.out.truncate(mark);
                        self.out.null();
                    }
                    self.out.comma();
                    self.step(before, Step::Index(index as u32));
                }
                self.out.close(b']');
                Ok(true)
            }
            (WriteAnswer::Response(run), Some(work)) => self.object(run, At::Did(work, found)),
            (WriteAnswer::Row(run), Some(work)) => match work.rows().next() {
                Some((row, decoders)) => {
                    let row = Cursor::new(row);
                    self.object(run, At::Returned(&row, decoders, found, work.first))
                }
                None => Ok(self.missing(member)),
            },
            (WriteAnswer::Rows(run), Some(work)) => self.returned(run, member, work, found),
            (WriteAnswer::Response(_) | WriteAnswer::Row(_) | WriteAnswer::Rows(_), None) => {
                Ok(self.missing(member))
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
        self.out.open(b'[');
        for (index, (row, decoders)) in work.rows().enumerate() {
            let before = self.errors.len();
            let row = Cursor::new(row);
            let ok = self.object(run, At::Returned(&row, decoders, found, work.first + index))?;
            self.out.comma();
            self.step(before, Step::Index(index as u32));
            if !ok {
                return Ok(false);
            }
            self.room(0, member)?;
        }
        self.out.close(b']');
        Ok(true)
    }

    fn one(&mut self, level: u32, member: &'r Member, at: At<'_, 'r>) -> Wrote {
        let Some((found, arm)) = place(level, at) else { return Ok(self.missing(member)) };
        let first = rows(self.task, level, found, arm, at).next();
        match first {
            Some(row) => {
                let row = Cursor::new(row);
                self.row(level, member, &row, found, arm)
            }
            None => Ok(self.missing(member)),
        }
    }

    fn many(&mut self, level: u32, member: &'r Member, at: At<'_, 'r>) -> Wrote {
        self.out.open(b'[');
        if let Some((found, arm)) = place(level, at) {
            for (index, row) in rows(self.task, level, found, arm, at).enumerate() {
                if !self.item(level, member, row, found, arm, index as u32)? {
                    return Ok(false);
                }
                self.room(0, member)?;
            }
        }
        self.out.close(b']');
        Ok(true)
    }

    /// One item of a list, with its comma.
    pub(super) fn item(
        &mut self,
        level: u32,
        member: &'r Member,
        row: Row<'r>,
        found: &Found<'r>,
        arm: usize,
        index: u32,
    ) -> Wrote {
        let (mark, before) = (self.out.len(), self.errors.len());
        let row = Cursor::new(row);
        let ok = self.row(level, member, &row, found, arm)?;
        if !ok && member.null_items {
            self.out.truncate(mark);
            self.out.null();
        }
        self.out.comma();
        self.step(before, Step::Index(index));
        Ok(ok || member.null_items)
    }

    #[inline]
    fn leaf(
        &mut self,
        member: &Member,
        of: &ShapeField,
        cell: Cell,
        bytes: Option<&[u8]>,
        decoder: &Decoder,
    ) -> bool {
        let value = match bytes {
            Some(bytes) => decoder.read(bytes, &mut self.scratch),
            None => Ok(Value::Null),
        };
        match value {
            Ok(Value::Int(value)) if cell == Cell::Int && i32::try_from(value).is_err() => {
                let message = format!("Int cannot represent non 32-bit signed integer value: {value}");
                self.fault(member, of, Fault { code: "INT_RANGE", message: message.into() })
            }
            Ok(Value::Int(value)) if cell == Cell::Id => {
                self.out.key(&of.key);
                crate::value::id(&mut self.out, value);
                self.out.comma();
                true
            }
            Ok(Value::Int(value)) => {
                self.out.member_int(&of.key, value);
                true
            }
            Ok(Value::Text(text)) => {
                self.out.member_text(&of.key, &text);
                true
            }
            Ok(Value::Bool(value)) => {
                self.out.member_bool(&of.key, value);
                true
            }
            Ok(Value::Float(value)) => self.out.member_float(&of.key, value),
            Ok(Value::Json(json)) => {
                self.out.key(&of.key);
                self.out.raw(json);
                self.out.comma();
                true
            }
            Ok(Value::Null) if member.nullable => {
                self.out.member_null(&of.key);
                true
            }
            Ok(Value::Null) => {
                let before = self.errors.len();
                self.missing(member);
                self.step(before, Step::Field(member.field));
                false
            }
            Err(fault) => self.fault(member, of, fault),
        }
    }

    #[cold]
    fn fault(&mut self, member: &Member, of: &ShapeField, fault: Fault) -> bool {
        let before = self.errors.len();
        self.fail(member, fault);
        self.step(before, Step::Field(member.field));
        if member.nullable {
            self.out.member_null(&of.key);
        }
        member.nullable
    }

    /// Null, or an error where null cannot be.
    pub(super) fn missing(&mut self, member: &Member) -> bool {
        if member.nullable {
            self.out.null();
            return true;
        }
        self.fail(member, null_fault(self.task, member.field));
        false
    }

    #[cold]
    pub(super) fn fail(&mut self, member: &Member, fault: Fault) {
        if self.errors.len() < ERRORS_MAX {
            let error = field_error(fault);
            self.errors.push(PathError { error, path: Vec::new(), field: member.field });
        }
    }

    pub(super) fn step(&mut self, before: usize, step: Step) {
        for error in self.errors.get_mut(before..).unwrap_or_default() {
            error.path.push(step);
        }
    }

    /// Refuses to gather more than [`ANSWER_BYTES_MAX`].
    #[inline]
    pub(super) fn room(&self, more: usize, member: &Member) -> Result<(), TooLong> {
        match self.out.len() + more <= ANSWER_BYTES_MAX {
            true => Ok(()),
            false => Err(TooLong { field: member.field }),
        }
    }
}

/// The answer that holds the rows of `level` for what stands at `at`.
pub(super) fn place<'c, 'r>(level: u32, at: At<'c, 'r>) -> Option<(&'c Found<'r>, usize)> {
    let found = match at {
        At::Root(found) | At::Row(_, found, _) => Some(found),
        At::Returned(_, _, found, _) | At::Did(_, found) | At::Program(_, found) => found,
        At::Changes(..) => None,
    }?;
    Some((found, found.asked.arm(level)?))
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

pub(super) fn field_error(fault: Fault) -> FieldError {
    FieldError { code: fault.code, message: fault.message.into(), hasura_path: None }
}

/// graphql-js's words for a null where none can be.
pub(super) fn null_fault(task: Task<'_>, field: u32) -> Fault {
    let of = task.schema.field(task.ids.field(task.shape.fields[field as usize].field));
    let message = format!(
        "Cannot return null for non-nullable field {}.{}.",
        task.schema.type_name(of.parent),
        task.schema.str(of.name)
    );
    Fault { code: "NULL_FOR_NON_NULL", message: message.into() }
}
