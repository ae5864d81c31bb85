//! Rows to typed columns, for pieces with children in other sources and for pieces that are such children.
//!
//! **Invariant:** every column of a table that is not left empty has the table's number of rows; rows that are null or
//! failed hold a filler of the right kind.

use super::answer::{Names, PART_BYTES_MAX, TooLong};
use super::item_batches::{ItemBatches, RowsPart};
use super::row_code::write_code;
use super::row_source::{RowContext, RowSource, SourceRow, Walk};
use super::shapes::{NoShape, push_whole};
use super::stream_batch::Batch;
use super::typed_columns::{Faults, fill, fill_column, fill_variant, push_value, table};
use crate::exec::cell_value::{CellValue, Fault};
use crate::exec::encoded;
use weir_engine::rows::{CellError, Column, Data, Rows, Table, Texts, Variants};
use weir_engine::write::out::Out;
use weir_relational::catalog::facts::Cell;
use weir_relational::plan::{Choice, Hidden, Level, Member, MemberKind, Object, Plan, Run};

/// State of collecting rows.
pub(crate) struct RowCollector<'r, S> {
    pub(super) source: S,
    pub(super) plan: &'r Plan,
    names: Names<'r>,
    faults: Faults,
    /// Estimated memory of the collected values, in bytes.
    bytes: usize,
    /// The batch of a stream that is collected.
    pub(crate) batch: Batch,
}

impl<S> AsMut<S> for RowCollector<'_, S> {
    #[inline]
    fn as_mut(&mut self) -> &mut S {
        &mut self.source
    }
}

impl<'r, S: RowSource> RowCollector<'r, S> {
    pub(crate) fn new(source: S, plan: &'r Plan, names: Names<'r>) -> Self {
        Self { source, plan, names, faults: Faults::default(), bytes: 0, batch: Batch::default() }
    }

    /// Continues after an earlier collector: its memory in bytes, and its failures.
    pub(crate) fn resume(source: S, plan: &'r Plan, names: Names<'r>, so_far: (usize, Faults)) -> Self {
        let (bytes, faults) = so_far;
        Self { source, plan, names, faults, bytes, batch: Batch::default() }
    }

    /// Memory of the collected values in bytes, and failures.
    pub(crate) fn into_parts(self) -> (usize, Faults) {
        (self.bytes, self.faults)
    }

    /// Collects one row at the root, or one for each of `parents` parents.
    pub(crate) fn collect(&mut self, parents: Option<usize>) -> Result<Rows, S::Error> {
        let root = self.plan.root;
        let mut table = table(self.plan, root, &[]);
        match parents {
            None => self.push(root, &[], RowContext::Root, &mut table)?,
            Some(parents) => {
                for parent in 0..parents {
                    self.source.set_parent(parent);
                    self.push(root, &[], RowContext::Root, &mut table)?;
                }
            }
        }
        Ok(table)
    }

    /// The row of the root. Of its last member, a list, `first_items` items are sent with the others, and the rest in batches. `None`: all was
    /// sent.
    pub(crate) fn collect_in_batches(&mut self, first_items: u32) -> Result<Option<Rows>, S::Error> {
        let plan = self.plan;
        let members = &plan.members[plan.root.range()];
        let list = members.last().and_then(|it| match it.kind {
            MemberKind::Many(level) => Some((it, level)),
            _ => None,
        });
        let Some((member, level)) = list else { return self.collect(None).map(Some) };
        let mut table = table(plan, plan.root, &[]);
        let at = members.len() - 1;
        let of = &plan.levels[level as usize];
        for at in 0..at {
            self.push_root_member(at, &mut table)?;
        }
        table.rows = 1;
        let mut batches = ItemBatches::of(&table.columns[at], Some(first_items));
        let walked = S::each(self, level, RowContext::Root, |collector, row| {
            collector.push_item(of, member, row, &mut batches)?;
            collector.send_ready(&mut batches, &mut table)?;
            Ok(Walk::On)
        });
        if let Err(error) = walked {
            // The items before it are sound.
            batches.end_batch(&mut self.bytes);
            self.send_ready(&mut batches, &mut table)?;
            return Err(error);
        }
        match batches.end(&mut table, at, self.bytes) {
            None => Ok(Some(table)),
            Some(batch) => self.source.send_rows(RowsPart::Items(batch)).map(|()| None),
        }
    }

    /// Appends member number `at` of the root to its only row.
    pub(crate) fn push_root_member(&mut self, at: usize, table: &mut Table) -> Result<(), S::Error> {
        let plan = self.plan;
        let member = &plan.members[plan.root.range()][at];
        match member.same_as {
            None => self.push_member(member, RowContext::Root, &mut table.columns[at], 0),
            Some(_) => Ok(()),
        }
    }

    /// Appends the item of a row to the list `member`, whose level is `of`.
    #[inline]
    pub(crate) fn push_item(
        &mut self,
        of: &'r Level,
        member: &Member,
        row: S::Row<'_>,
        batches: &mut ItemBatches,
    ) -> Result<(), S::Error> {
        let items = batches.begin_item(&mut self.bytes);
        self.push_object(of, row, items)?;
        self.room(member)?;
        batches.end_item(&mut self.bytes);
        Ok(())
    }

    #[inline]
    fn send_ready(&mut self, batches: &mut ItemBatches, table: &mut Table) -> Result<(), S::Error> {
        while let Some(part) = batches.next(table) {
            self.source.send_rows(part)?;
        }
        Ok(())
    }

    /// Appends the object of a row of a level.
    fn push_object(&mut self, of: &'r Level, row: S::Row<'_>, data: &mut Data) -> Result<(), S::Error> {
        match (&of.choice, data) {
            (None, Data::Object(table)) => self.push(of.members, &of.hidden, RowContext::Row(row), table),
            (Some(choice), Data::Abstract(variants)) => self.push_variant(of, choice, row, variants),
            _ => Ok(()),
        }
    }

    fn push_variant(
        &mut self,
        of: &'r Level,
        choice: &'r Choice,
        row: S::Row<'_>,
        variants: &mut Variants,
    ) -> Result<(), S::Error> {
        let variant = row.text(choice.column).and_then(|it| choice.find(it));
        let table =
            variant.and_then(|of| Some((of, variants.tables.iter_mut().find(|it| it.0.0 == of.on.0)?)));
        let Some((variant, (on, table))) = table else {
            fill_variant(variants);
            return Ok(());
        };
        variants.types.push(*on);
        variants.places.push(table.rows);
        let (run, hidden) = variant.object.parts(of, self.plan);
        let Object::Level(level) = variant.object else {
            return self.push(run, hidden, RowContext::Row(row), table);
        };
        let mut is_there = false;
        S::each(self, level, RowContext::Row(row), |collector, row| {
            is_there = true;
            collector.push(run, hidden, RowContext::Row(row), table)?;
            Ok(Walk::Stop)
        })?;
        if !is_there {
            fill(table);
        }
        Ok(())
    }

    /// Appends a row to `table`.
    pub(super) fn push(
        &mut self,
        members: Run,
        hidden: &[Hidden],
        at: RowContext<'_, S>,
        table: &mut Table,
    ) -> Result<(), S::Error> {
        let plan = self.plan;
        let place = table.rows as usize;
        for (member, column) in plan.members[members.range()].iter().zip(&mut table.columns) {
            if member.same_as.is_none() {
                self.push_member(member, at, column, place)?;
            }
        }
        if let RowContext::Row(row) = at {
            for (hidden, column) in hidden.iter().zip(&mut table.hidden) {
                self.push_hidden(row, hidden.column, hidden.cell, column);
            }
        }
        table.rows += 1;
        Ok(())
    }

    fn push_member(
        &mut self,
        member: &'r Member,
        at: RowContext<'_, S>,
        column: &mut Column,
        place: usize,
    ) -> Result<(), S::Error> {
        match (&member.kind, &mut column.data, at) {
            (MemberKind::Leaf { column: from, cell }, _, RowContext::Row(row)) => {
                self.push_leaf(row, *from, *cell, column, place);
            }
            (MemberKind::Coded(_) | MemberKind::End { .. } | MemberKind::Beyond { .. }, _, _) => {
                self.push_of_page(&member.kind, at, column, place)?;
            }
            (MemberKind::Inline(run), Data::Object(table), _) => self.push(*run, &[], at, table)?,
            (MemberKind::Maybe { column: from, run }, Data::Object(table), RowContext::Row(row))
                if !row.is_null(*from) =>
            {
                self.push(*run, &[], at, table)?;
            }
            (MemberKind::Shape { column: from, run }, Data::Object(table), RowContext::Row(row))
                if !row.is_null(*from) =>
            {
                let text = row.text(*from).unwrap_or_default();
                if push_whole(self.plan, *run, text, table).is_err() {
                    fill(table);
                    column.nulls.set(place);
                    self.faults.put(column, place, NoShape::fault());
                }
            }
            (MemberKind::Maybe { .. } | MemberKind::Shape { .. }, Data::Object(table), _) => {
                fill(table);
                self.push_null(member, column, place);
            }
            (MemberKind::One(level), _, _) => self.push_one(*level, member, at, column, place)?,
            (MemberKind::Many(level), Data::List { offsets, items }, _) => {
                let fault = self.push_many(*level, member, at, &mut items.data)?;
                offsets.push(items.len() as u32);
                if let Some(fault) = fault {
                    self.faults.put(column, place, fault);
                }
            }
            (MemberKind::Values { level, cell }, Data::List { offsets, items }, _) => {
                S::each(self, *level, at, |collector, row| {
                    collector.push_hidden(row, 0, *cell, items);
                    Ok(Walk::On)
                })?;
                offsets.push(items.len() as u32);
            }
            (MemberKind::Write(write), _, _) => self.push_write(*write, member, column, place)?,
            (_, _, RowContext::Work(work)) => self.push_of_work(work, member, column, place)?,
            _ => {}
        }
        Ok(())
    }

    /// Appends the rows of a list; the fault of a stream's row whose position cannot be read.
    fn push_many(
        &mut self,
        level: u32,
        member: &'r Member,
        at: RowContext<'_, S>,
        items: &mut Data,
    ) -> Result<Option<Fault>, S::Error> {
        let of = &self.plan.levels[level as usize];
        let is_stream = self.plan.stream.is_some() && matches!(at, RowContext::Root);
        let mut fault = None;
        S::each(self, level, at, |collector, row| {
            collector.push_object(of, row, items)?;
            collector.room(member)?;
            if !is_stream {
                return Ok(Walk::On);
            }
            let next = collector.batch.count(&mut collector.source, collector.plan, row);
            Ok(next.unwrap_or_else(|it| {
                fault = Some(it);
                Walk::Stop
            }))
        })?;
        if fault.is_some() {
            self.batch.clear();
        }
        Ok(fault)
    }

    fn push_leaf(&mut self, row: S::Row<'_>, from: u16, cell: Cell, column: &mut Column, place: usize) {
        match self.source.read(row, from, cell) {
            Ok(value) => {
                self.bytes += size(&value);
                push_value(column, place, value);
            }
            Err(fault) => {
                push_value(column, place, CellValue::Null);
                self.faults.put(column, place, fault);
            }
        }
    }

    /// Appends a text made of a row, or a fact of a page.
    fn push_of_page(
        &mut self,
        kind: &MemberKind,
        at: RowContext<'_, S>,
        column: &mut Column,
        place: usize,
    ) -> Result<(), S::Error> {
        match (kind, at) {
            (MemberKind::Coded(code), RowContext::Row(row)) => self.push_code(*code, row, column, place),
            (MemberKind::End { level, code, is_last }, _) => {
                self.push_end(*level, (*code, *is_last), at, column, place)?;
            }
            (MemberKind::Beyond { page, probes }, _) => {
                let mut is_beyond = false;
                for level in probes.iter().flatten() {
                    is_beyond = is_beyond || self.has_row(*level, at)?;
                }
                let is_there = match page {
                    Some(page) if is_beyond => self.has_row(*page, at)?,
                    Some(_) | None => false,
                };
                push_value(column, place, CellValue::Bool(is_there));
            }
            _ => {}
        }
        Ok(())
    }

    /// Appends a text made of a row.
    fn push_code(&mut self, code: u32, row: S::Row<'_>, column: &mut Column, place: usize) {
        let mut json = Out::default();
        let mut text = Out::default();
        let made = write_code(&mut self.source, &self.plan.codes[code as usize], row, &mut json);
        encoded::push(json.bytes(), &mut text);
        let text = text.into_bytes();
        match made {
            // Without its quotes.
            Ok(()) => push_value(column, place, CellValue::Text(text[1..text.len() - 1].into())),
            Err(fault) => {
                push_value(column, place, CellValue::Null);
                self.faults.put(column, place, fault);
            }
        }
    }

    /// Appends a text made of the first or last row of a level; an empty one without rows.
    fn push_end(
        &mut self,
        level: u32,
        (code, is_last): (u32, bool),
        at: RowContext<'_, S>,
        column: &mut Column,
        place: usize,
    ) -> Result<(), S::Error> {
        let mut end = Column { data: Data::Text(Texts::default()), ..Column::default() };
        S::each(self, level, at, |collector, row| {
            end = Column { data: Data::Text(Texts::default()), ..Column::default() };
            collector.push_code(code, row, &mut end, 0);
            Ok(if is_last { Walk::On } else { Walk::Stop })
        })?;
        let text = if let Data::Text(texts) = &end.data { texts.find(0).unwrap_or_default() } else { b"" };
        push_value(column, place, CellValue::Text(text.into()));
        for error in end.errors {
            column.nulls.set(place);
            column.errors.push(CellError { row: place as u32, ..error });
        }
        Ok(())
    }

    fn has_row(&mut self, level: u32, at: RowContext<'_, S>) -> Result<bool, S::Error> {
        let mut is_there = false;
        S::each(self, level, at, |_, _| {
            is_there = true;
            Ok(Walk::Stop)
        })?;
        Ok(is_there)
    }

    /// Appends a cell that is null where it cannot be read.
    fn push_hidden(&mut self, row: S::Row<'_>, from: u16, cell: Cell, column: &mut Column) {
        let value = self.source.read(row, from, cell).unwrap_or(CellValue::Null);
        self.bytes += size(&value);
        push_value(column, column.len(), value);
    }

    fn push_one(
        &mut self,
        level: u32,
        member: &'r Member,
        at: RowContext<'_, S>,
        column: &mut Column,
        place: usize,
    ) -> Result<(), S::Error> {
        let of = &self.plan.levels[level as usize];
        let mut count = 0;
        S::each(self, level, at, |collector, row| {
            count += 1;
            if count > 1 {
                return Ok(Walk::Stop);
            }
            collector.push_object(of, row, &mut column.data)?;
            collector.room(member)?;
            Ok(if of.choice.is_some() { Walk::On } else { Walk::Stop })
        })?;
        match count {
            0 => {
                fill_column(column);
                self.push_null(member, column, place);
            }
            1 => {}
            _ => {
                column.nulls.set(place);
                self.faults.put(column, place, Fault::several());
            }
        }
        Ok(())
    }

    pub(super) fn push_null(&mut self, member: &Member, column: &mut Column, place: usize) {
        column.nulls.set(place);
        if !member.nullable {
            self.faults.put(column, place, self.names.null_fault(member.field));
        }
    }

    /// Refuses to collect more than [`PART_BYTES_MAX`], as a finished answer does.
    pub(super) fn room(&mut self, member: &Member) -> Result<(), TooLong> {
        self.bytes += size_of::<u64>();
        if self.bytes <= PART_BYTES_MAX {
            return Ok(());
        }
        Err(TooLong { what: "the rows other sources are joined to are", field: member.field })
    }
}

/// Estimates the memory of a value in its column, in bytes.
fn size(value: &CellValue<'_>) -> usize {
    match value {
        CellValue::Text(text) => size_of::<u32>() + text.len(),
        CellValue::Json(json) => size_of::<u32>() + json.len(),
        CellValue::Null | CellValue::Bool(_) | CellValue::Int(_) | CellValue::Float(_) => size_of::<u64>(),
    }
}
