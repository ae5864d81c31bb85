//! Rows to typed columns, for pieces with children in other sources and for pieces that are such children.
//!
//! **Invariant:** every column of a table that is not left empty has the table's number of rows; rows that are null or
//! failed hold a filler of the right kind.

use super::cells::Cells;
use super::run::{Failure, Statements};
use super::value::read;
use crate::exec::answer::{Names, PART_BYTES_MAX, TooLong};
use crate::exec::bind::Bindings;
use crate::exec::columns::{Faults, fill, fill_column, fill_variant, push_value, table};
use crate::exec::coordinates::{NoShape, push_whole};
use crate::exec::value::{Fault, Value};
use rusqlite::types::ValueRef;
use weir_engine::plan::shape::Shape;
use weir_engine::rows::{Column, Data, Rows, Table, Variants};
use weir_relational::catalog::facts::Cell;
use weir_relational::plan::{Choice, Hidden, Level, Member, MemberKind, Object, Run};

/// State of collecting rows.
pub(super) struct Gatherer<'c, 'r> {
    statements: Statements<'c, 'r>,
    shape: &'r Shape,
    faults: Faults,
    /// About how much memory what is gathered takes.
    bytes: usize,
}

impl<'c, 'r> Gatherer<'c, 'r> {
    pub(super) fn new(statements: Statements<'c, 'r>, shape: &'r Shape) -> Self {
        Self { statements, shape, faults: Faults::default(), bytes: 0 }
    }

    /// One row at the root, or one for each of `keys` parent keys.
    pub(super) fn gather(mut self, keys: Option<usize>) -> Result<Rows, Failure> {
        let root = self.statements.prepared.plan.root;
        let mut table = table(&self.statements.prepared.plan, root, &[]);
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
            (MemberKind::Shape { .. }, _) => self.push_shape(member, row, column, at),
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
                self.faults.put(column, at, fault);
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
                    if of.choice.is_some() && matches!(rows.next(), Ok(Some(_))) {
                        column.nulls.set(at);
                        self.faults.put(column, at, Fault::several());
                    }
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

    /// An object made of a text of coordinates; null where there is none, and a fault where it is no shape.
    fn push_shape(&mut self, member: &Member, row: Option<Cells<'_>>, column: &mut Column, at: usize) {
        let (MemberKind::Shape { column: from, run }, Data::Object(table)) = (&member.kind, &mut column.data)
        else {
            return;
        };
        let text = row.and_then(|row| row.get(usize::from(*from)).as_str_or_null().ok().flatten());
        let Some(text) = text else {
            fill(table);
            return self.nothing(member, column, at);
        };
        if push_whole(&self.statements.prepared.plan, *run, text.as_bytes(), table).is_err() {
            fill(table);
            column.nulls.set(at);
            self.faults.put(column, at, NoShape::fault());
        }
    }

    fn nothing(&mut self, member: &Member, column: &mut Column, at: usize) {
        column.nulls.set(at);
        if !member.nullable {
            let Bindings { schema, ids, .. } = self.statements.bindings;
            let fault = Names { schema, ids, shape: self.shape }.null_fault(member.field);
            self.faults.put(column, at, fault);
        }
    }

    /// Refuses to gather more than [`PART_BYTES_MAX`], as a finished answer does.
    fn room(&mut self, member: &Member) -> Result<(), Failure> {
        self.bytes += size_of::<u64>();
        if self.bytes <= PART_BYTES_MAX {
            return Ok(());
        }
        let what = "the rows other sources are joined to are";
        Err(TooLong { what, field: member.field }.into())
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
