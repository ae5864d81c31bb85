//! Writes rows as response bytes while a driver walks them.
//!
//! A driver that streams has whole items of a root list sent once the answer is longer than what it holds back.
//!
//! **Invariant:** bytes leave only between whole items of a list of the root, where no mark is open that could still
//! be cut back to without breaking the answer.
//!
//! Rows that share a related row share its bytes where the driver knows their key: the object is copied for the next parent with
//! the same key ([`Seen`]).
//!
//! **Cost:** no allocation per row; recursion is as deep as the shape.

use super::answer::{Answer, CHUNK_BYTES, Names, Spans};
use super::row_code::write_code;
use super::row_source::{RowContext, RowSource, SourceRow, Walk, WorkResult};
use super::stream_batch::Batch;
use crate::exec::cell_value::{no_such_object, write_value};
use crate::exec::encoded;
use weir_engine::source::{Finished, PathError, Step};
use weir_engine::write::out::Out;
use weir_relational::catalog::facts::Cell;
use weir_relational::plan::write::WriteAnswer;
use weir_relational::plan::{Level, Member, MemberKind, Object, Plan, Run};

/// State of writing an answer.
pub(crate) struct ResponseWriter<'r, S> {
    pub(crate) source: S,
    plan: &'r Plan,
    answer: Answer<'r>,
    /// The current member of the root, and the number of errors before it.
    root: (u32, usize),
    /// Objects by their keys; empty until a row has one.
    seen: Vec<Seen>,
    /// Changes when bytes that were written are cut off or leave, or rows may have changed.
    epoch: u32,
    /// The last text that was made of a row, before it is encoded.
    code: Out,
    /// The batch of a stream that is written.
    pub(crate) batch: Batch,
}

/// The bytes an object became, to be copied for the next row that refers to it.
#[derive(Clone, Copy)]
struct Seen {
    key: i64,
    level: u32,
    /// Value of [`ResponseWriter::epoch`] when the bytes were written; zero is never.
    epoch: u32,
    start: u32,
    end: u32,
}

/// Number of remembered objects; a power of two.
const SEEN_MAX: usize = 128;

/// True if the value was written, false if its null propagates.
type Wrote<S> = Result<bool, <S as RowSource>::Error>;

impl<S> AsMut<S> for ResponseWriter<'_, S> {
    #[inline]
    fn as_mut(&mut self) -> &mut S {
        &mut self.source
    }
}

impl<'r, S: RowSource> ResponseWriter<'r, S> {
    /// `capacity`: bytes of the buffer.
    pub(crate) fn new(source: S, plan: &'r Plan, names: Names<'r>, capacity: usize) -> Self {
        Self::resume(source, plan, names, Vec::with_capacity(capacity), Vec::new())
    }

    /// Continues after `bytes` and `errors`.
    pub(crate) fn resume(
        source: S,
        plan: &'r Plan,
        names: Names<'r>,
        bytes: Vec<u8>,
        errors: Vec<PathError>,
    ) -> Self {
        let answer = Answer::new(names, bytes, errors);
        let code = Out::default();
        let batch = Batch::default();
        Self { source, plan, answer, root: (0, 0), seen: Vec::new(), epoch: 1, code, batch }
    }

    /// The answer so far.
    pub(crate) fn into_parts(self) -> (Vec<u8>, Vec<PathError>) {
        (self.answer.out.into_bytes(), self.answer.errors)
    }

    /// Writes all members of the plan node. If the source has sent a part, these are the last bytes and errors.
    pub(crate) fn finish(&mut self) -> Result<(Finished, Vec<PathError>), S::Error> {
        let root = self.plan.root;
        let mut spans = Spans::new();
        let mut ends = Vec::with_capacity(root.len as usize);
        let mut failed = false;
        for member in &self.plan.members[root.range()] {
            self.root = (member.field, self.answer.errors.len());
            let mark = self.answer.out.len();
            if !self.member(member, RowContext::Root, &mut spans)? {
                failed = true;
                self.source.check_unsent()?;
                self.truncate(mark);
                self.batch.clear();
            }
            ends.push(self.answer.out.len() as u32);
        }
        let mut errors = std::mem::take(&mut self.answer.errors);
        errors.iter_mut().for_each(|it| it.path.reverse());
        let bytes = std::mem::take(&mut self.answer.out).into_bytes();
        Ok((Finished { bytes, ends, failed, rest: None }, errors))
    }

    /// Writes one member of the root; its errors have their paths as they are read.
    pub(crate) fn root_member(&mut self, member: &'r Member) -> Wrote<S> {
        let before = self.answer.errors.len();
        self.root = (member.field, before);
        let done = self.member(member, RowContext::Root, &mut Spans::new())?;
        self.answer.errors[before..].iter_mut().for_each(|it| it.path.reverse());
        Ok(done)
    }

    /// Takes back all after `mark`.
    fn truncate(&mut self, mark: usize) {
        self.answer.out.truncate(mark);
        self.epoch += 1;
    }

    fn is_at_root(&self, member: &Member, at: RowContext<'_, S>) -> bool {
        matches!(at, RowContext::Root) && self.root.0 == member.field
    }

    #[inline]
    fn members(&mut self, members: Run, at: RowContext<'_, S>) -> Wrote<S> {
        let plan = self.plan;
        let members = &plan.members[members.range()];
        let RowContext::Row(row) = at else { return self.mixed_members(members, at) };
        match self.source.write_leaves(&mut self.answer, members, row) {
            Some(written) if written == members.len() => Ok(true),
            Some(written) => self.mixed_members(&members[written..], at),
            None => Ok(false),
        }
    }

    /// Writes members of which some are not cells of their row.
    fn mixed_members(&mut self, members: &'r [Member], at: RowContext<'_, S>) -> Wrote<S> {
        let mut rest = members;
        let mut spans = Spans::new();
        while let Some((member, behind)) = rest.split_first() {
            if !self.member(member, at, &mut spans)? {
                return Ok(false);
            }
            rest = behind;
            if let RowContext::Row(row) = at {
                let Some(written) = self.source.write_leaves(&mut self.answer, rest, row) else {
                    return Ok(false);
                };
                rest = &rest[written..];
            }
        }
        Ok(true)
    }

    /// A member of the root, or one that is not a cell of its row.
    fn member(&mut self, member: &'r Member, at: RowContext<'_, S>, spans: &mut Spans) -> Wrote<S> {
        match &member.kind {
            MemberKind::Constant => {
                let of = self.answer.of(member);
                self.answer.constant(of);
                Ok(true)
            }
            _ => self.branch(member, at, spans),
        }
    }

    /// A member with something below.
    fn branch(&mut self, member: &'r Member, at: RowContext<'_, S>, spans: &mut Spans) -> Wrote<S> {
        let mut begun = self.answer.begin(member, spans)?;
        let ok = begun.is_copied || self.value(member, at)?;
        let is_at_root = self.is_at_root(member, at);
        if !ok && member.nullable {
            if is_at_root {
                self.source.check_unsent()?;
            }
            self.truncate(begun.mark);
            self.answer.out.null();
        }
        if is_at_root {
            // Errors before the first part were sent with it.
            begun.before = self.root.1;
        }
        Ok(self.answer.end(member, &begun, ok, spans))
    }

    fn value(&mut self, member: &'r Member, at: RowContext<'_, S>) -> Wrote<S> {
        match (&member.kind, at) {
            (MemberKind::Inline(run), _) => self.object(*run, at),
            (MemberKind::Maybe { column, run }, RowContext::Row(row)) if !row.is_null(*column) => {
                self.object(*run, at)
            }
            (MemberKind::Shape { column, run }, RowContext::Row(row)) => match row.text(*column) {
                Some(text) => Ok(self.answer.shape_of(self.plan, *run, text, member)),
                None => Ok(self.answer.missing(member)),
            },
            (MemberKind::Maybe { .. } | MemberKind::Shape { .. }, _) => Ok(self.answer.missing(member)),
            (MemberKind::One(level), RowContext::Row(row)) => match self.source.only_key(*level, row) {
                Some(key) => self.write_shared_object(key, *level, member, at),
                None => self.write_one(*level, member, at),
            },
            (MemberKind::One(level), _) => self.write_one(*level, member, at),
            (MemberKind::Many(level), _) => self.many(*level, member, at),
            (MemberKind::Values { level, cell }, _) => self.values(*level, *cell, member, at),
            (MemberKind::Coded(code), RowContext::Row(row)) => self.write_coded_text(*code, member, row),
            (MemberKind::End { level, code, is_last }, _) => {
                self.end_of(*level, (*code, *is_last), member, at)
            }
            (MemberKind::Beyond { page, probes }, _) => {
                let is_there = self.has_any([*page, None], at)? && self.has_any(*probes, at)?;
                self.answer.out.bool(is_there);
                Ok(true)
            }
            (MemberKind::Write(write), _) => self.write(*write, member),
            (MemberKind::Returned(run), RowContext::Work(work)) => {
                self.write_returned_rows(*run, member, &work.rows)
            }
            (kind, _) => {
                match (kind, at) {
                    (MemberKind::Affected, RowContext::Work(work)) => self.answer.out.int(work.affected),
                    (MemberKind::Message, RowContext::Work(WorkResult { message: Some(message), .. })) => {
                        self.answer.out.string(message);
                    }
                    _ => self.answer.out.null(),
                }
                Ok(true)
            }
        }
    }

    /// Writes a text made of a row: a cursor or an identifier.
    fn write_coded_text(&mut self, code: u32, member: &'r Member, row: S::Row<'_>) -> Wrote<S> {
        let code = &self.plan.codes[code as usize];
        match write_code(&mut self.source, code, row, &mut self.code) {
            Ok(()) => {
                encoded::push(self.code.bytes(), &mut self.answer.out);
                Ok(true)
            }
            Err(fault) => {
                self.answer.fail(member, fault);
                Ok(false)
            }
        }
    }

    /// A text made of the first or last row of a level.
    fn end_of(
        &mut self,
        level: u32,
        (code, is_last): (u32, bool),
        member: &'r Member,
        at: RowContext<'_, S>,
    ) -> Wrote<S> {
        let mark = self.answer.out.len();
        let before = self.answer.errors.len();
        let mut wrote = None;
        S::each(self, level, at, |writer, row| {
            writer.answer.out.truncate(mark);
            writer.answer.errors.truncate(before);
            wrote = Some(writer.write_coded_text(code, member, row)?);
            Ok(if is_last { Walk::On } else { Walk::Stop })
        })?;
        if wrote.is_none() {
            self.answer.out.string("");
        }
        Ok(wrote.unwrap_or(true))
    }

    fn has_row(&mut self, level: u32, at: RowContext<'_, S>) -> Result<bool, S::Error> {
        let mut is_there = false;
        S::each(self, level, at, |_, _| {
            is_there = true;
            Ok(Walk::Stop)
        })?;
        Ok(is_there)
    }

    fn has_any(&mut self, levels: [Option<u32>; 2], at: RowContext<'_, S>) -> Result<bool, S::Error> {
        for level in levels.into_iter().flatten() {
            if self.has_row(level, at)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn object(&mut self, run: Run, at: RowContext<'_, S>) -> Wrote<S> {
        self.answer.out.open(b'{');
        let ok = self.members(run, at)?;
        self.answer.out.close(b'}');
        Ok(ok)
    }

    /// Writes the answer of a root field of a mutation.
    fn write(&mut self, at: u32, member: &'r Member) -> Wrote<S> {
        let write = &self.plan.writes[at as usize];
        match write.answer {
            WriteAnswer::Responses(run) => {
                self.answer.out.open(b'[');
                for index in 0..write.works.len() {
                    let mark = self.answer.out.len();
                    let before = self.answer.errors.len();
                    if !self.response(at, index, run)? {
                        self.truncate(mark);
                        self.answer.out.null();
                    }
                    self.answer.out.comma();
                    self.answer.step(before, Step::Index(index as u32));
                }
                self.answer.out.close(b']');
                Ok(true)
            }
            _ if write.works.is_empty() => Ok(self.answer.missing(member)),
            WriteAnswer::Response(run) => self.response(at, 0, run),
            WriteAnswer::Rows(run) => {
                let rows = self.run_work(at, 0)?;
                self.write_returned_rows(run, member, &rows)
            }
            WriteAnswer::Row(run) => {
                let rows = self.run_work(at, 0)?;
                let mut wrote = None;
                S::each_returned(self, &rows, |writer, row| {
                    wrote = Some(writer.object(run, RowContext::Row(row))?);
                    Ok(Walk::Stop)
                })?;
                Ok(wrote.unwrap_or_else(|| self.answer.missing(member)))
            }
        }
    }

    /// Writes the response object of a work. The work changes rows, so bytes of earlier rows may be outdated.
    fn response(&mut self, write: u32, work: usize, run: Run) -> Wrote<S> {
        self.epoch += 1;
        let work = self.source.run_work(write, work)?;
        self.object(run, RowContext::Work(&work))
    }

    fn run_work(&mut self, write: u32, work: usize) -> Result<S::Returned, S::Error> {
        self.epoch += 1;
        Ok(self.source.run_work(write, work)?.rows)
    }

    /// Writes the rows that a work returned.
    fn write_returned_rows(&mut self, run: Run, member: &'r Member, rows: &S::Returned) -> Wrote<S> {
        self.answer.out.open(b'[');
        let mut index = 0;
        let mut stands = true;
        S::each_returned(self, rows, |writer, row| {
            let before = writer.answer.errors.len();
            stands = writer.object(run, RowContext::Row(row))?;
            writer.answer.out.comma();
            writer.answer.step(before, Step::Index(index));
            index += 1;
            writer.answer.room(0, member)?;
            Ok(if stands { Walk::On } else { Walk::Stop })
        })?;
        self.answer.out.close(b']');
        Ok(stands)
    }

    /// Writes a related object, copying its bytes if an earlier row has it.
    fn write_shared_object(
        &mut self,
        key: i64,
        level: u32,
        member: &'r Member,
        at: RowContext<'_, S>,
    ) -> Wrote<S> {
        let place = (key as usize ^ (level as usize) << 4) % SEEN_MAX;
        match self.seen.get(place) {
            Some(&seen) if (seen.key, seen.level, seen.epoch) == (key, level, self.epoch) => {
                let bytes = seen.start as usize..seen.end as usize;
                self.answer.room(bytes.len(), member)?;
                self.answer.out.repeat_range(bytes);
                return Ok(true);
            }
            Some(_) => {}
            None => self.seen.resize(SEEN_MAX, Seen { key: 0, level: 0, epoch: 0, start: 0, end: 0 }),
        }
        let start = self.answer.out.len() as u32;
        let before = self.answer.errors.len();
        let ok = self.write_one(level, member, at)?;
        if ok && self.answer.errors.len() == before {
            let end = self.answer.out.len() as u32;
            let epoch = self.epoch;
            self.seen[place] = Seen { key, level, epoch, start, end };
        }
        Ok(ok)
    }

    /// A related object.
    fn write_one(&mut self, level: u32, member: &'r Member, at: RowContext<'_, S>) -> Wrote<S> {
        let of = &self.plan.levels[level as usize];
        // Types of the root may share a key; a row refers to one object.
        let next = match (&of.choice, at) {
            (Some(_), RowContext::Root) => Walk::On,
            (Some(_) | None, _) => Walk::Stop,
        };
        let mark = self.answer.out.len();
        let before = self.answer.errors.len();
        let mut wrote = None;
        let mut are_several = false;
        S::each(self, level, at, |writer, row| {
            are_several = wrote.is_some();
            if are_several {
                return Ok(Walk::Stop);
            }
            wrote = Some(writer.row(of, member, row)?);
            Ok(next)
        })?;
        if are_several {
            self.truncate(mark);
            self.answer.errors.truncate(before);
            return Ok(self.answer.several(member));
        }
        Ok(wrote.unwrap_or_else(|| self.answer.missing(member)))
    }

    fn many(&mut self, level: u32, member: &'r Member, at: RowContext<'_, S>) -> Wrote<S> {
        let of = &self.plan.levels[level as usize];
        let is_at_root = self.is_at_root(member, at);
        let is_stream = is_at_root && self.plan.stream.is_some();
        let mut index = 0;
        let mut stands = true;
        self.answer.out.open(b'[');
        S::each(self, level, at, |writer, row| {
            stands = writer.item(of, member, row, index)?;
            index += 1;
            if !stands {
                return Ok(Walk::Stop);
            }
            if is_at_root {
                writer.flush()?;
            }
            writer.answer.room(0, member)?;
            if !is_stream {
                return Ok(Walk::On);
            }
            let next = writer.count_row(member, row);
            stands = next.is_some();
            Ok(next.unwrap_or(Walk::Stop))
        })?;
        self.answer.out.close(b']');
        Ok(stands)
    }

    /// Notes the position of a row of a stream; `None`: it has none.
    fn count_row(&mut self, member: &'r Member, row: S::Row<'_>) -> Option<Walk> {
        let counted = self.batch.count(&mut self.source, self.plan, row);
        counted.map_err(|fault| self.answer.fail(member, fault)).ok()
    }

    /// Writes an item of the list of a level, with its comma.
    #[inline]
    pub(crate) fn item(
        &mut self,
        of: &'r Level,
        member: &'r Member,
        row: S::Row<'_>,
        index: u32,
    ) -> Wrote<S> {
        let mark = self.answer.out.len();
        let before = self.answer.errors.len();
        let ok = self.row(of, member, row)?;
        if !ok && member.null_items {
            self.truncate(mark);
            self.answer.out.null();
        }
        self.answer.out.comma();
        self.answer.step(before, Step::Index(index));
        Ok(ok || member.null_items)
    }

    /// Writes a row of a level.
    #[inline]
    fn row(&mut self, of: &'r Level, member: &'r Member, row: S::Row<'_>) -> Wrote<S> {
        match &of.choice {
            None => self.object(of.members, RowContext::Row(row)),
            Some(choice) => {
                let variant = row.text(choice.column).and_then(|it| choice.find(it));
                self.variant(variant.map(|it| it.object), member, row)
            }
        }
    }

    /// Writes a row of one of several types.
    fn variant(&mut self, object: Option<Object>, member: &'r Member, row: S::Row<'_>) -> Wrote<S> {
        let mut wrote = None;
        match object {
            Some(Object::Row(run)) => return self.object(run, RowContext::Row(row)),
            Some(Object::Level(level)) => {
                let members = self.plan.levels[level as usize].members;
                S::each(self, level, RowContext::Row(row), |writer, row| {
                    wrote = Some(writer.object(members, RowContext::Row(row))?);
                    Ok(Walk::Stop)
                })?;
            }
            None => {}
        }
        Ok(wrote.unwrap_or_else(|| {
            self.answer.fail(member, no_such_object());
            false
        }))
    }

    /// A list of values.
    fn values(&mut self, level: u32, cell: Cell, member: &'r Member, at: RowContext<'_, S>) -> Wrote<S> {
        let mut index = 0;
        let mut stands = true;
        self.answer.out.open(b'[');
        S::each(self, level, at, |writer, row| {
            let answer = &mut writer.answer;
            let value = writer.source.read(row, 0, cell);
            if let Err(fault) = value.map(|it| write_value(&mut answer.out, cell, &it)) {
                let before = answer.errors.len();
                answer.fail(member, fault);
                answer.step(before, Step::Index(index));
                stands = member.null_items;
                answer.out.null();
            }
            answer.out.comma();
            index += 1;
            answer.room(0, member)?;
            Ok(if stands { Walk::On } else { Walk::Stop })
        })?;
        self.answer.out.close(b']');
        Ok(stands)
    }

    /// Sends whole items of a root list, all but the last comma, which the closing bracket may take.
    #[inline]
    fn flush(&mut self) -> Result<(), S::Error> {
        if self.answer.out.len() <= self.source.hold_back_bytes() { Ok(()) } else { self.send() }
    }

    #[cold]
    fn send(&mut self) -> Result<(), S::Error> {
        let mut bytes = std::mem::take(&mut self.answer.out).into_bytes();
        bytes.pop();
        self.epoch += 1;
        self.answer.out = Out::new(Vec::with_capacity(CHUNK_BYTES + CHUNK_BYTES / 4));
        self.answer.out.comma();
        if self.source.check_unsent().is_err() {
            return self.source.send(bytes, Vec::new());
        }
        let mut errors = std::mem::take(&mut self.answer.errors);
        for (at, error) in errors.iter_mut().enumerate() {
            if at >= self.root.1 {
                error.path.push(Step::Field(self.root.0));
            }
            error.path.reverse();
        }
        self.root.1 = 0;
        self.source.send(bytes, errors)
    }
}
