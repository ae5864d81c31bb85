//! Rows to typed columns, for pieces with children in other sources and for pieces that are such children.
//!
//! **Invariant:** every column of a table that is not left empty has the table's number of rows; rows that are null or
//! failed hold a filler of the right kind.

use super::cells::Cells;
use super::finish::{PART_BYTES_MAX, field_error, null_words, too_long};
use super::run::{Failure, Statements};
use super::value::read;
use crate::catalog::facts::Cell;
use crate::columns::{fill, fill_column, fill_variant, leaf_data, list_of, push_value};
use crate::relational::{Choice, Hidden, Level, Member, MemberKind, Object, Run};
use crate::value::{Fault, Value};
use rusqlite::types::ValueRef;
use weir_engine::plan::shape::Shape;
use weir_engine::rows::{CellError, Column, Data, Rows, Table, Texts, Variants};
use weir_engine::write::rows::ERRORS_MAX;

/// What is being gathered.
pub(super) struct Gatherer<'c, 'r> {
    statements: Statements<'c, 'r>,
    shape: &'r Shape,
    errors: usize,
    /// About how much memory what is gathered takes.
    bytes: usize,
}

impl<'c, 'r> Gatherer<'c, 'r> {
    pub(super) const fn new(statements: Statements<'c, 'r>, shape: &'r Shape) -> Self {
        Self { statements, shape, errors: 0, bytes: 0 }
    }

    /// One row at the root, or one for each of `keys` parent keys.
    pub(super) fn gather(mut self, keys: Option<usize>) -> Result<Rows, Failure> {
        let root = self.statements.prepared.plan.root;
        let mut table = self.table(root, &[]);
        match keys {
            None => self.push(root, &[], None, &mut table)?,
            Some(keys) => {
                for key in 0..keys {
                    self.statements.answer(key);
                    self.push(root, &[], None, &mut table)?;
                }
            }
        }
        Ok(table)
    }

    /// An empty table for the rows of a set.
    fn table(&self, members: Run, hidden: &[Hidden]) -> Table {
        let plan = &self.statements.prepared.plan;
        let columns = plan.members[members.range()].iter().map(|member| {
            let data = if member.same_as.is_none() { self.data(&member.kind) } else { Data::Empty };
            Column { data, ..Column::default() }
        });
        let hidden = hidden.iter().map(|it| Column { data: leaf_data(it.cell), ..Column::default() });
        Table { rows: 0, columns: columns.collect(), hidden: hidden.collect() }
    }

    fn data(&self, kind: &MemberKind) -> Data {
        let levels = &self.statements.prepared.plan.levels;
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
            let (run, hidden) = it.object.parts(of, &self.statements.prepared.plan);
            (it.on, self.table(run, hidden))
        });
        Data::Abstract(Box::new(Variants { tables: tables.collect(), ..Variants::default() }))
    }

    /// Appends what a row of a level becomes.
    fn push_object(&mut self, of: &'r Level, row: Cells<'_>, data: &mut Data) -> Result<(), Failure> {
        match (&of.choice, data) {
            (None, Data::Object(table)) => self.push(of.members, &of.hidden, Some(row), table),
            (Some(choice), Data::Abstract(variants)) => self.push_variant(of, choice, row, variants),
            _ => Ok(()),
        }
    }

    fn push_variant(
        &mut self,
        of: &'r Level,
        choice: &'r Choice,
        row: Cells<'_>,
        variants: &mut Variants,
    ) -> Result<(), Failure> {
        let variant = match row.get(usize::from(choice.column)) {
            ValueRef::Text(name) => choice.find(name),
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => None,
        };
        let table = variant.and_then(|of| Some((of, variants.tables.iter_mut().find(|it| it.0 == of.on)?)));
        let Some((variant, (_, table))) = table else {
            fill_variant(variants);
            return Ok(());
        };
        variants.types.push(variant.on);
        variants.places.push(table.rows);
        match variant.object {
            Object::Row(run) => self.push(run, &of.hidden, Some(row), table),
            Object::Level(level) => {
                let of = &self.statements.prepared.plan.levels[level as usize];
                let Some(mut statement) = self.statements.open(level, Some(row))? else {
                    fill(table);
                    return Ok(());
                };
                let mut rows = statement.raw_query();
                match rows.next() {
                    Ok(Some(row)) => self.push(of.members, &of.hidden, Some(Cells::Row(row)), table)?,
                    Ok(None) => fill(table),
                    Err(error) => return Err(self.statements.failure(error, level)),
                }
                drop(rows);
                self.statements.close(level, statement);
                Ok(())
            }
        }
    }

    /// Appends a row to `table`.
    fn push(
        &mut self,
        members: Run,
        hidden: &[Hidden],
        row: Option<Cells<'_>>,
        table: &mut Table,
    ) -> Result<(), Failure> {
        let prepared = self.statements.prepared;
        let at = table.rows as usize;
        for (member, column) in prepared.plan.members[members.range()].iter().zip(&mut table.columns) {
            if member.same_as.is_none() {
                self.push_member(member, row, column, at)?;
            }
        }
        for (hidden, column) in hidden.iter().zip(&mut table.hidden) {
            if let Some(row) = row {
                let read = read(hidden.cell, row.get(usize::from(hidden.column)));
                let value = read.unwrap_or(Value::Null);
                self.bytes += size(&value);
                push_value(column, at, value);
            }
        }
        table.rows += 1;
        Ok(())
    }

    fn push_member(
        &mut self,
        member: &Member,
        row: Option<Cells<'_>>,
        column: &mut Column,
        at: usize,
    ) -> Result<(), Failure> {
        match (&member.kind, &mut column.data) {
            (MemberKind::Leaf { column: from, cell }, _) => {
                let Some(row) = row else { return Ok(()) };
                self.push_leaf(*cell, row.get(usize::from(*from)), column, at);
            }
            (MemberKind::Text(text), Data::Text(texts)) => texts.push(text.as_bytes()),
            (MemberKind::Inline(run), Data::Object(table)) => self.push(*run, &[], row, table)?,
            (MemberKind::Maybe { column: from, run }, Data::Object(table)) => match row {
                Some(row) if row.get(usize::from(*from)) != ValueRef::Null => {
                    self.push(*run, &[], Some(row), table)?;
                }
                _ => {
                    fill(table);
                    self.nothing(member, column, at);
                }
            },
            (MemberKind::One(level), _) => self.push_one(*level, member, row, column, at)?,
            (MemberKind::Many(level), Data::List { offsets, items }) => {
                let of = &self.statements.prepared.plan.levels[*level as usize];
                if let Some(mut statement) = self.statements.open(*level, row)? {
                    let mut rows = statement.raw_query();
                    loop {
                        match rows.next() {
                            Ok(Some(row)) => {
                                self.push_object(of, Cells::Row(row), &mut items.data)?;
                                self.room(member)?;
                            }
                            Ok(None) => break,
                            Err(error) => return Err(self.statements.failure(error, *level)),
                        }
                    }
                    drop(rows);
                    self.statements.close(*level, statement);
                }
                offsets.push(items.len() as u32);
            }
            (MemberKind::Values { level, cell }, Data::List { offsets, items }) => {
                self.push_values(*level, *cell, row, items)?;
                offsets.push(items.len() as u32);
            }
            _ => {}
        }
        Ok(())
    }

    fn push_leaf(&mut self, cell: Cell, value: ValueRef<'_>, column: &mut Column, at: usize) {
        match read(cell, value) {
            Ok(value) => {
                self.bytes += size(&value);
                push_value(column, at, value);
            }
            Err(fault) => {
                push_value(column, at, Value::Null);
                self.fail(column, at, fault);
            }
        }
    }

    /// Appends the values of a list.
    fn push_values(
        &mut self,
        level: u32,
        cell: Cell,
        row: Option<Cells<'_>>,
        items: &mut Column,
    ) -> Result<(), Failure> {
        let Some(mut statement) = self.statements.open(level, row)? else { return Ok(()) };
        let mut rows = statement.raw_query();
        loop {
            match rows.next() {
                Ok(Some(row)) => {
                    let value = read(cell, row.get_ref_unwrap(0)).unwrap_or(Value::Null);
                    self.bytes += size(&value);
                    push_value(items, items.len(), value);
                }
                Ok(None) => break,
                Err(error) => return Err(self.statements.failure(error, level)),
            }
        }
        drop(rows);
        self.statements.close(level, statement);
        Ok(())
    }

    fn push_one(
        &mut self,
        level: u32,
        member: &Member,
        row: Option<Cells<'_>>,
        column: &mut Column,
        at: usize,
    ) -> Result<(), Failure> {
        let prepared = self.statements.prepared;
        let of = &prepared.plan.levels[level as usize];
        let mut found = false;
        if let Some(mut statement) = self.statements.open(level, row)? {
            let mut rows = statement.raw_query();
            match rows.next() {
                Ok(Some(row)) => {
                    found = true;
                    self.push_object(of, Cells::Row(row), &mut column.data)?;
                    self.room(member)?;
                }
                Ok(None) => {}
                Err(error) => return Err(self.statements.failure(error, level)),
            }
            drop(rows);
            self.statements.close(level, statement);
        }
        if !found {
            fill_column(column);
            self.nothing(member, column, at);
        }
        Ok(())
    }

    fn nothing(&mut self, member: &Member, column: &mut Column, at: usize) {
        column.nulls.set(at);
        if !member.nullable {
            let message = null_words(&self.statements.bindings, self.shape, member.field);
            self.fail(column, at, Fault { code: "NULL_FOR_NON_NULL", message: message.into() });
        }
    }

    /// Refuses to gather more than [`PART_BYTES_MAX`], as a finished answer does.
    fn room(&mut self, member: &Member) -> Result<(), Failure> {
        self.bytes += size_of::<u64>();
        if self.bytes <= PART_BYTES_MAX {
            return Ok(());
        }
        Err(too_long("the rows other sources are joined to are", member.field))
    }

    #[cold]
    fn fail(&mut self, column: &mut Column, at: usize, fault: Fault) {
        self.errors += 1;
        if self.errors <= ERRORS_MAX {
            column.errors.push(CellError { row: at as u32, error: field_error(fault) });
        }
    }
}

/// About how much memory a value takes in its column.
fn size(value: &Value<'_>) -> usize {
    match value {
        Value::Text(text) => size_of::<u32>() + text.len(),
        Value::Json(json) => size_of::<u32>() + json.len(),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => size_of::<u64>(),
    }
}
