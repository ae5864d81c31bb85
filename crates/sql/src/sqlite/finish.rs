//! Rows to response bytes while they are stepped through: nothing is kept.
//!
//! A member that fails answers `false`; the nearest nullable position cuts the buffer back and writes `null`. Paths are
//! kept backwards and only grown when there are errors. With a [`Sink`], what is complete leaves in chunks once the answer
//! is longer than what is held back.
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
use super::value::read;
use crate::catalog::facts::Cell;
use crate::relational::change::{Work, Write, WriteAnswer, not_found};
use crate::relational::{Level, Member, MemberKind, Run};
use crate::value::{Fault, Value};
use rusqlite::types::ValueRef;
use smallvec::SmallVec;
use weir_engine::plan::shape::{Shape, ShapeField};
use weir_engine::source::{FieldError, Finished, PathError, Step};
use weir_engine::write::out::Out;
use weir_engine::write::rows::ERRORS_MAX;

/// Further parts of a long answer have about this many bytes.
const CHUNK_BYTES: usize = 64 << 10;
/// What cannot leave before it is complete may grow to this many bytes.
pub(super) const PART_BYTES_MAX: usize = 64 << 20;

/// What is being finished.
pub(super) struct Finisher<'c, 'r, 's> {
    pub(super) statements: Statements<'c, 'r>,
    pub(super) shape: &'r Shape,
    pub(super) out: Out,
    /// Paths are backwards.
    pub(super) errors: Vec<PathError>,
    pub(super) sink: Option<&'s mut Sink>,
    /// The member of the root at hand, and how many errors there were before it.
    root: (u32, usize),
    ends: Vec<u32>,
    /// Objects by their keys; empty until a row asks for one.
    seen: Vec<Seen>,
    /// Changes when bytes that were written are cut off or leave, or rows may have changed.
    epoch: u32,
    /// What a program did for the field that is written.
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

/// How many objects are remembered; a power of two.
const SEEN_MAX: usize = 128;

/// A written member that a later one may copy: its bytes and its errors.
struct Written {
    field: u32,
    bytes: std::ops::Range<usize>,
    errors: std::ops::Range<usize>,
}

type Spans = SmallVec<[Written; 2]>;

impl<'c, 'r, 's> Finisher<'c, 'r, 's> {
    pub(super) fn new(
        statements: Statements<'c, 'r>,
        shape: &'r Shape,
        sink: Option<&'s mut Sink>,
        capacity: usize,
    ) -> Self {
        let out = Out::new(Vec::with_capacity(capacity));
        let (errors, ends, seen) = (Vec::new(), Vec::new(), Vec::new());
        Self { statements, shape, out, errors, sink, root: (0, 0), ends, seen, epoch: 1, done: None }
    }

    /// Writes all members of the piece. `None`: the answer has left through the sink.
    pub(super) fn finish(mut self) -> Result<Option<(Finished, Vec<PathError>)>, Failure> {
        let prepared = self.statements.prepared;
        let mut spans = Spans::new();
        let mut failed = false;
        for member in &prepared.plan.members[prepared.plan.root.range()] {
            self.root = (member.field, self.errors.len());
            let mark = self.out.len();
            if !self.member(member, None, &mut spans)? {
                failed = true;
                if self.has_flushed() {
                    return Err(Failure::Late);
                }
                self.cut(mark);
            }
            self.ends.push(self.out.len() as u32);
        }
        for error in &mut self.errors {
            error.path.reverse();
        }
        if let Some(sink) = self.sink.filter(|it| it.has_flushed()) {
            sink.end(self.out.into_bytes(), self.errors)?;
            return Ok(None);
        }
        let finished = Finished { bytes: self.out.into_bytes(), ends: self.ends, failed, rest: None };
        Ok(Some((finished, self.errors)))
    }

    /// Takes back all after `mark`.
    fn cut(&mut self, mark: usize) {
        self.out.truncate(mark);
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
        let of = &self.shape.fields[member.field as usize];
        match &member.kind {
            MemberKind::Constant => {
                if let weir_engine::plan::shape::Member::Constant { start, end } = of.member {
                    self.out.span(&self.shape.constants, start as usize, end as usize);
                }
                Ok(true)
            }
            _ => self.branch(member, of, row, spans),
        }
    }

    /// A member with something below.
    fn branch(
        &mut self,
        member: &'r Member,
        of: &'r ShapeField,
        row: Option<Cells<'_>>,
        spans: &mut Spans,
    ) -> Result<bool, Failure> {
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
            None => self.value(&member.kind, member, row)?,
        };
        if !ok && member.nullable {
            if self.has_flushed() && self.root.0 == member.field {
                return Err(Failure::Late);
            }
            self.cut(mark);
            self.out.null();
        }
        // The errors before a flush have left already.
        let is_root = row.is_none() && self.root.0 == member.field;
        let before = if is_root { self.root.1 } else { before };
        self.step(before, Step::Field(member.field));
        if member.copied && (ok || member.nullable) {
            let (bytes, errors) = (mark..self.out.len(), before..self.errors.len());
            spans.push(Written { field: member.field, bytes, errors });
        }
        self.out.comma();
        Ok(ok || member.nullable)
    }

    fn value(&mut self, kind: &MemberKind, member: &Member, row: Option<Cells<'_>>) -> Result<bool, Failure> {
        match kind {
            MemberKind::Inline(run) => {
                self.out.open(b'{');
                let ok = self.members(*run, row)?;
                self.out.close(b'}');
                Ok(ok)
            }
            MemberKind::Maybe { column, run } => match row {
                Some(row) if row.get(usize::from(*column)) != ValueRef::Null => self.inline(*run, row),
                _ => Ok(self.missing(member)),
            },
            MemberKind::One(level) => self.one(*level, member, row),
            MemberKind::Many(level) => self.many(*level, member, row),
            MemberKind::Values { level, cell } => self.values(*level, *cell, member, row),
            MemberKind::Text(text) => {
                self.out.string(text);
                Ok(true)
            }
            MemberKind::Write(write) => self.write(*write, member),
            MemberKind::Affected => {
                let affected = if let Some(Cells::Done(written)) = row { written.affected } else { 0 };
                self.out.int(affected);
                Ok(true)
            }
            MemberKind::Message => {
                let message = if let Some(Cells::Done(written)) = row { written.message } else { None };
                match message {
                    Some(message) => self.out.string(message),
                    None => self.out.null(),
                }
                Ok(true)
            }
            MemberKind::Returned(run) => self.returned(*run, member, row),
            MemberKind::Leaf { .. } | MemberKind::Constant | MemberKind::Foreign => {
                self.out.null();
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
                self.out.open(b'[');
                for (index, work) in write.works.iter().enumerate() {
                    let before = self.errors.len();
                    let (mark, done) = (self.out.len(), self.work(write, work)?);
                    if !self.inline(run, Cells::Done(&done))? {
                        self.cut(mark);
                        self.out.null();
                    }
                    self.out.comma();
                    self.step(before, Step::Index(index as u32));
                }
                self.out.close(b']');
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
                    (None, ..) => Ok(self.missing(member)),
                }
            }
            // SQLite has no functions that give rows.
            (WriteAnswer::Rows(_), Some(_))
            | (WriteAnswer::Response(_) | WriteAnswer::Row(_) | WriteAnswer::Rows(_), None) => {
                Ok(self.missing(member))
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
        for error in &mut self.errors {
            error.path.reverse();
        }
        Ok((self.out.into_bytes(), self.errors))
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
        self.out.open(b'{');
        let ok = self.members(run, Some(row))?;
        self.out.close(b'}');
        Ok(ok)
    }

    /// The rows that came back.
    fn returned(&mut self, run: Run, member: &Member, row: Option<Cells<'_>>) -> Result<bool, Failure> {
        let Some(Cells::Done(written)) = row else {
            self.out.null();
            return Ok(true);
        };
        self.out.open(b'[');
        for (index, row) in written.rows.iter().enumerate() {
            let before = self.errors.len();
            let ok = self.inline(run, Cells::Kept(row))?;
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

    /// A related object, copied if an earlier row has it.
    fn one(&mut self, level: u32, member: &Member, row: Option<Cells<'_>>) -> Result<bool, Failure> {
        let Some(key) = row.and_then(|row| self.statements.only_key(level, row)) else {
            return self.asked(level, member, row);
        };
        let place = (key as usize ^ (level as usize) << 4) % SEEN_MAX;
        match self.seen.get(place) {
            Some(&seen) if (seen.key, seen.level, seen.epoch) == (key, level, self.epoch) => {
                let bytes = seen.start as usize..seen.end as usize;
                self.room(bytes.len(), member)?;
                self.out.again(bytes);
                return Ok(true);
            }
            Some(_) => {}
            None => self.seen.resize(SEEN_MAX, Seen { key: 0, level: 0, epoch: 0, start: 0, end: 0 }),
        }
        let (start, before) = (self.out.len() as u32, self.errors.len());
        let ok = self.asked(level, member, row)?;
        if ok && self.errors.len() == before {
            let (end, epoch) = (self.out.len() as u32, self.epoch);
            self.seen[place] = Seen { key, level, epoch, start, end };
        }
        Ok(ok)
    }

    /// A related object, read.
    fn asked(&mut self, level: u32, member: &Member, row: Option<Cells<'_>>) -> Result<bool, Failure> {
        let prepared = self.statements.prepared;
        let Some(mut statement) = self.statements.open(level, row)? else {
            return Ok(self.missing(member));
        };
        let mut rows = statement.raw_query();
        let ok = match rows.next() {
            Ok(Some(row)) => self.object(&prepared.plan.levels[level as usize], member, Cells::Row(row))?,
            Ok(None) => self.missing(member),
            Err(error) => return Err(self.statements.failure(error, level)),
        };
        drop(rows);
        self.statements.close(level, statement);
        Ok(ok)
    }

    fn many(&mut self, level: u32, member: &Member, row: Option<Cells<'_>>) -> Result<bool, Failure> {
        let of = &self.statements.prepared.plan.levels[level as usize];
        let at_root = row.is_none() && self.root.0 == member.field;
        self.out.open(b'[');
        let Some(mut statement) = self.statements.open(level, row)? else {
            self.out.close(b']');
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
            let (mark, before) = (self.out.len(), self.errors.len());
            let ok = self.object(of, member, Cells::Row(row))?;
            if !ok && member.null_items {
                self.cut(mark);
                self.out.null();
            }
            self.out.comma();
            self.step(before, Step::Index(index));
            if !ok && !member.null_items {
                break false;
            }
            index += 1;
            if at_root && self.sink.is_some() {
                self.flush()?;
            }
            self.room(0, member)?;
        };
        drop(rows);
        self.statements.close(level, statement);
        self.out.close(b']');
        Ok(ok)
    }

    /// What a row of a level becomes.
    #[inline]
    fn object(&mut self, of: &'r Level, member: &Member, row: Cells<'_>) -> Result<bool, Failure> {
        match &of.choice {
            None => self.inline(of.members, row),
            Some(choice) => self.chosen(choice, member, row),
        }
    }

    /// What most columns hold is written as it is found; all else by [`Finisher::unusual`].
    #[inline(always)]
    fn leaf(&mut self, member: &Member, value: ValueRef<'_>, cell: Cell) -> bool {
        let key = &self.shape.fields[member.field as usize].key;
        match (cell, value) {
            (Cell::Int, ValueRef::Integer(value)) if i32::try_from(value).is_ok() => {
                self.out.member_int(key, value);
            }
            (Cell::BigInt | Cell::Numeric | Cell::Float, ValueRef::Integer(value)) => {
                self.out.member_int(key, value);
            }
            (Cell::Text, ValueRef::Text(text)) if text.is_ascii() => self.out.member_text(key, text),
            _ => return self.unusual(member, value, cell),
        }
        true
    }

    #[inline(never)]
    fn unusual(&mut self, member: &Member, value: ValueRef<'_>, cell: Cell) -> bool {
        let of = &self.shape.fields[member.field as usize];
        match read(cell, value) {
            Ok(Value::Int(value)) if cell == Cell::Id => {
                self.out.key(&of.key);
                crate::value::id(&mut self.out, value);
                self.out.comma();
            }
            Ok(Value::Int(value)) => self.out.member_int(&of.key, value),
            Ok(Value::Text(text)) => self.out.member_text(&of.key, &text),
            Ok(Value::Bool(value)) => self.out.member_bool(&of.key, value),
            Ok(Value::Float(value)) => return self.out.member_float(&of.key, value),
            Ok(Value::Json(json)) => {
                self.out.key(&of.key);
                self.out.raw(json);
                self.out.comma();
            }
            Ok(Value::Null) if member.nullable => self.out.member_null(&of.key),
            Ok(Value::Null) => {
                let before = self.errors.len();
                self.missing(member);
                self.step(before, Step::Field(member.field));
                return false;
            }
            Err(fault) => {
                let before = self.errors.len();
                self.fail(member, fault);
                self.step(before, Step::Field(member.field));
                if member.nullable {
                    self.out.member_null(&of.key);
                }
                return member.nullable;
            }
        }
        true
    }

    /// Null, or an error where null cannot be.
    fn missing(&mut self, member: &Member) -> bool {
        if member.nullable {
            self.out.null();
            return true;
        }
        let message = null_words(&self.statements.bindings, self.shape, member.field);
        self.fail(member, Fault { code: "NULL_FOR_NON_NULL", message: message.into() });
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

    /// Refuses to gather more than [`PART_BYTES_MAX`]: a few lines of nested text can ask for all memory there is.
    #[inline]
    pub(super) fn room(&self, more: usize, member: &Member) -> Result<(), Failure> {
        if self.out.len() + more <= PART_BYTES_MAX {
            return Ok(());
        }
        Err(too_long("one item of the answer is", member.field))
    }

    /// Lets whole items of a root list go, all but the last comma, which the closing bracket may take.
    fn flush(&mut self) -> Result<(), Failure> {
        let Some(sink) = &mut self.sink else { return Ok(()) };
        let bytes_max = if sink.has_flushed() { CHUNK_BYTES } else { sink.hold_back_bytes };
        if self.out.len() <= bytes_max {
            return Ok(());
        }
        let mut bytes = std::mem::take(&mut self.out).into_bytes();
        bytes.pop();
        self.epoch += 1;
        self.out = Out::new(Vec::with_capacity(CHUNK_BYTES + CHUNK_BYTES / 4));
        self.out.comma();
        if sink.has_flushed() {
            return sink.send(bytes);
        }
        let mut errors = std::mem::take(&mut self.errors);
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

/// What outgrew [`PART_BYTES_MAX`] while `field` was answered.
#[cold]
pub(super) fn too_long(what: &str, field: u32) -> Failure {
    let message = format!("{what} longer than {PART_BYTES_MAX} bytes; ask for less at a time");
    let fault = Fault { code: "LIMIT_RESPONSE", message: message.into() };
    Failure::Refused(Box::new(field_error(fault)), field)
}

pub(super) fn field_error(fault: Fault) -> FieldError {
    FieldError { code: fault.code, message: fault.message.into(), hasura_path: None }
}

/// graphql-js's words for a null where none can be.
pub(super) fn null_words(bindings: &crate::bind::Bindings<'_>, shape: &Shape, field: u32) -> String {
    let schema = bindings.schema;
    let field = schema.field(bindings.ids.field(shape.fields[field as usize].field));
    format!(
        "Cannot return null for non-nullable field {}.{}.",
        schema.type_name(field.parent),
        schema.str(field.name)
    )
}
