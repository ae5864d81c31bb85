//! Rows to typed columns, for pieces with children in other sources and for pieces that are such children.
//!
//! **Invariant:** every column of a table that is not left empty has the table's number of rows; rows that are null or
//! failed hold a filler of the right kind.

use super::cursor::Cursor;
use super::finish::{At, Task, field_error, null_fault, place, rows};
use super::found::{Found, Walk};
use super::too_long::{ANSWER_BYTES_MAX, TooLong};
use crate::columns::{fill, fill_column, fill_variant, leaf_data, list_of, push_value};
use crate::relational::{Hidden, Level, Member, MemberKind, Object, Run};
use crate::value::{Fault, Value};
use weir_engine::rows::{CellError, Column, Data, Rows, Table, Texts, Variants};
use weir_engine::write::rows::ERRORS_MAX;

/// What is being gathered.
pub(super) struct Gatherer<'r> {
    task: Task<'r>,
    errors: usize,
    bytes: usize,
    scratch: Vec<u8>,
    /// Below the root of the graph: which of the given parents is answered.
    parent: Option<usize>,
}

impl<'r> Gatherer<'r> {
    pub(super) const fn new(task: Task<'r>) -> Self {
        Self { task, errors: 0, bytes: 0, scratch: Vec::new(), parent: None }
    }

    /// One row at the root, or one for each of `parents` parents.
    pub(super) fn gather(mut self, found: &Found<'r>, parents: Option<usize>) -> Result<Rows, TooLong> {
        let root = self.task.prepared.plan.root;
        let mut table = self.table(root, &[]);
        match parents {
            None => self.push(root, &[], At::Root(found), &mut table)?,
            Some(parents) => {
                for parent in 0..parents {
                    self.parent = Some(parent);
                    self.push(root, &[], At::Root(found), &mut table)?;
                }
            }
        }
        Ok(table)
    }

    /// An empty table for the rows of a set.
    fn table(&self, members: Run, hidden: &[Hidden]) -> Table {
        let plan = &self.task.prepared.plan;
        let columns = plan.members[members.range()].iter().map(|member| {
            let data = if member.same_as.is_none() { self.data(&member.kind) } else { Data::Empty };
            Column { data, ..Column::default() }
        });
        let hidden = hidden.iter().map(|it| Column { data: leaf_data(it.cell), ..Column::default() });
        Table { rows: 0, columns: columns.collect(), hidden: hidden.collect() }
    }

    fn data(&self, kind: &MemberKind) -> Data {
        let levels = &self.task.prepared.plan.levels;
        match kind {
            MemberKind::Leaf { cell, .. } => leaf_data(*cell),
            MemberKind::Text(_) => Data::Text(Texts::default()),
            MemberKind::Constant
            | MemberKind::Foreign
            | MemberKind::Write(_)
            | MemberKind::Affected
            | MemberKind::Message
            | MemberKind::Returned(_) => Data::Empty,
            MemberKind::Inline(run) | MemberKind::Maybe { run, .. } => {
                Data::Object(Box::new(self.table(*run, &[])))
            }
            MemberKind::One(level) => self.objects(&levels[*level as usize]),
            MemberKind::Many(level) => list_of(self.objects(&levels[*level as usize])),
            MemberKind::Values { cell, .. } => list_of(leaf_data(*cell)),
        }
    }

    /// No objects yet of what the rows of a level become.
    fn objects(&self, of: &Level) -> Data {
        let Some(choice) = &of.choice else {
            return Data::Object(Box::new(self.table(of.members, &of.hidden)));
        };
        let tables = choice.variants.iter().map(|it| {
            let (run, hidden) = it.object.parts(of, &self.task.prepared.plan);
            (it.on, self.table(run, hidden))
        });
        Data::Abstract(Box::new(Variants { tables: tables.collect(), ..Variants::default() }))
    }

    /// Appends what a row of a level becomes.
    fn push_object(&mut self, level: u32, at: At<'_, 'r>, data: &mut Data) -> Result<(), TooLong> {
        let plan = &self.task.prepared.plan;
        let of = &plan.levels[level as usize];
        let (choice, variants) = match (&of.choice, data) {
            (None, Data::Object(table)) => return self.push(of.members, &of.hidden, at, table),
            (Some(choice), Data::Abstract(variants)) => (choice, variants),
            _ => return Ok(()),
        };
        let At::Row(row, found, arm) = at else { return Ok(()) };
        let column = found.asked.arms[arm].columns[usize::from(choice.column)];
        let variant = row.column(usize::from(column)).and_then(|it| choice.find(it));
        let table = variant.and_then(|of| Some((of, variants.tables.iter_mut().find(|it| it.0 == of.on)?)));
        let Some((variant, (_, table))) = table else {
            fill_variant(variants);
            return Ok(());
        };
        variants.types.push(variant.on);
        variants.places.push(table.rows);
        let (run, hidden) = variant.object.parts(of, plan);
        let Object::Level(level) = variant.object else { return self.push(run, hidden, at, table) };
        let below = place(level, at);
        let first =
            below.and_then(|(found, arm)| Some((self.walk(level, found, arm, at).next()?, found, arm)));
        match first {
            Some((row, found, arm)) => self.push(run, hidden, At::Row(&Cursor::new(row), found, arm), table),
            None => {
                fill(table);
                Ok(())
            }
        }
    }

    /// Appends a row to `table`.
    fn push(
        &mut self,
        members: Run,
        hidden: &[Hidden],
        at: At<'_, 'r>,
        table: &mut Table,
    ) -> Result<(), TooLong> {
        let plan = &self.task.prepared.plan;
        let row = table.rows as usize;
        for (member, column) in plan.members[members.range()].iter().zip(&mut table.columns) {
            if member.same_as.is_none() {
                self.push_member(member, at, column, row)?;
            }
        }
        for (hidden, column) in hidden.iter().zip(&mut table.hidden) {
            self.push_leaf(hidden.column, at, column, row, None);
        }
        table.rows += 1;
        Ok(())
    }

    fn push_leaf(
        &mut self,
        from: u16,
        at: At<'_, 'r>,
        column: &mut Column,
        row: usize,
        member: Option<&Member>,
    ) {
        let At::Row(cursor, found, arm) = at else { return };
        let place = usize::from(found.asked.arms[arm].columns[usize::from(from)]);
        let mut scratch = std::mem::take(&mut self.scratch);
        let value = match cursor.column(place) {
            Some(bytes) => {
                self.bytes += bytes.len();
                found.asked.decoders[place].read(bytes, &mut scratch)
            }
            None => Ok(Value::Null),
        };
        match value {
            Ok(value) => push_value(column, row, value),
            Err(fault) => {
                push_value(column, row, Value::Null);
                if member.is_some() {
                    self.fail(column, row, fault);
                }
            }
        }
        self.scratch = scratch;
    }

    fn push_member(
        &mut self,
        member: &'r Member,
        at: At<'_, 'r>,
        column: &mut Column,
        row: usize,
    ) -> Result<(), TooLong> {
        match (&member.kind, &mut column.data) {
            (MemberKind::Leaf { column: from, .. }, _) => {
                self.push_leaf(*from, at, column, row, Some(member));
            }
            (MemberKind::Text(text), Data::Text(texts)) => texts.push(text.as_bytes()),
            (MemberKind::Inline(run), Data::Object(table)) => self.push(*run, &[], at, table)?,
            (MemberKind::Maybe { column: from, run }, Data::Object(table)) => match at {
                At::Row(cursor, found, arm) if is_there(cursor, found, arm, *from) => {
                    self.push(*run, &[], at, table)?;
                }
                _ => {
                    fill(table);
                    self.nothing(member, column, row);
                }
            },
            (MemberKind::One(level), _) => {
                let row_of = |(found, arm)| Some((self.walk(*level, found, arm, at).next()?, found, arm));
                match place(*level, at).and_then(row_of) {
                    Some((first, found, arm)) => {
                        let first = Cursor::new(first);
                        self.push_object(*level, At::Row(&first, found, arm), &mut column.data)?;
                    }
                    None => {
                        fill_column(column);
                        self.nothing(member, column, row);
                    }
                }
            }
            (MemberKind::Many(level), Data::List { offsets, items }) => {
                if let Some((found, arm)) = place(*level, at) {
                    for item in self.walk(*level, found, arm, at) {
                        let item = Cursor::new(item);
                        self.push_object(*level, At::Row(&item, found, arm), &mut items.data)?;
                        if self.bytes > ANSWER_BYTES_MAX {
                            return Err(TooLong { field: member.field });
                        }
                    }
                }
                offsets.push(items.len() as u32);
            }
            (MemberKind::Values { level, .. }, Data::List { offsets, items }) => {
                if let Some((found, arm)) = place(*level, at) {
                    for item in self.walk(*level, found, arm, at) {
                        let (item, place) = (Cursor::new(item), items.len());
                        self.push_leaf(0, At::Row(&item, found, arm), items, place, None);
                    }
                }
                offsets.push(items.len() as u32);
            }
            _ => {}
        }
        Ok(())
    }

    fn walk<'c>(&self, level: u32, found: &'c Found<'r>, arm: usize, at: At<'_, 'r>) -> Walk<'c, 'r> {
        match (at, self.parent) {
            (At::Root(_), Some(parent)) => found.of_parent(arm, parent),
            _ => rows(self.task, level, found, arm, at),
        }
    }

    fn nothing(&mut self, member: &Member, column: &mut Column, row: usize) {
        column.nulls.set(row);
        if !member.nullable {
            self.fail(column, row, null_fault(self.task, member.field));
        }
    }

    #[cold]
    fn fail(&mut self, column: &mut Column, row: usize, fault: Fault) {
        self.errors += 1;
        if self.errors <= ERRORS_MAX {
            column.errors.push(CellError { row: row as u32, error: field_error(fault) });
        }
    }
}

fn is_there(row: &Cursor<'_>, found: &Found<'_>, arm: usize, column: u16) -> bool {
    row.column(usize::from(found.asked.arms[arm].columns[usize::from(column)])).is_some()
}
