//! Rows to typed columns, for pieces with children in other sources and for pieces that are such children.
//!
//! **Invariant:** every column of a table that is not left empty has the table's number of rows; rows that are null or
//! failed hold a filler of the right kind.

use super::cursor::Cursor;
use super::finish::{At, Task, place, rows};
use super::found::{Found, Walk};
use super::objects::shape_text;
use crate::exec::answer::{PART_BYTES_MAX, TooLong};
use crate::exec::columns::{Faults, fill, fill_column, fill_variant, push_value, table};
use crate::exec::coordinates::{NoShape, push_whole};
use crate::exec::value::{Fault, Value};
use weir_engine::rows::{Column, Data, Rows, Table};
use weir_relational::plan::{Hidden, Member, MemberKind, Object, Run};

/// State of collecting rows.
pub(super) struct Gatherer<'r> {
    task: Task<'r>,
    faults: Faults,
    bytes: usize,
    scratch: Vec<u8>,
    /// Below the root of the graph: which of the given parents is answered.
    parent: Option<usize>,
}

impl<'r> Gatherer<'r> {
    pub(super) fn new(task: Task<'r>) -> Self {
        Self { task, faults: Faults::default(), bytes: 0, scratch: Vec::new(), parent: None }
    }

    /// One row at the root, or one for each of `parents` parents.
    pub(super) fn gather(mut self, found: &Found<'r>, parents: Option<usize>) -> Result<Rows, TooLong> {
        let root = self.task.prepared.plan.root;
        let mut table = table(&self.task.prepared.plan, root, &[]);
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
                    self.faults.put(column, row, fault);
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
            (MemberKind::Shape { .. }, _) => self.push_shape(member, at, column, row),
            (MemberKind::One(level), _) => self.push_one(*level, member, at, column, row)?,
            (MemberKind::Many(level), Data::List { offsets, items }) => {
                if let Some((found, arm)) = place(*level, at) {
                    for item in self.walk(*level, found, arm, at) {
                        let item = Cursor::new(item);
                        self.push_object(*level, At::Row(&item, found, arm), &mut items.data)?;
                        self.room(member)?;
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

    fn push_one(
        &mut self,
        level: u32,
        member: &'r Member,
        at: At<'_, 'r>,
        column: &mut Column,
        row: usize,
    ) -> Result<(), TooLong> {
        let rows_of = |(found, arm)| {
            let mut rows = self.walk(level, found, arm, at);
            Some((rows.next()?, rows.next().is_some(), found, arm))
        };
        let Some((first, are_several, found, arm)) = place(level, at).and_then(rows_of) else {
            fill_column(column);
            self.nothing(member, column, row);
            return Ok(());
        };
        let first = Cursor::new(first);
        self.push_object(level, At::Row(&first, found, arm), &mut column.data)?;
        if are_several && self.task.prepared.plan.levels[level as usize].choice.is_some() {
            column.nulls.set(row);
            self.faults.put(column, row, Fault::several());
        }
        Ok(())
    }

    fn walk<'c>(&self, level: u32, found: &'c Found<'r>, arm: usize, at: At<'_, 'r>) -> Walk<'c, 'r> {
        match (at, self.parent) {
            (At::Root(_), Some(parent)) => found.of_parent(arm, parent),
            _ => rows(self.task, level, found, arm, at),
        }
    }

    /// Refuses to gather more than [`PART_BYTES_MAX`], as a finished answer does.
    fn room(&self, member: &Member) -> Result<(), TooLong> {
        if self.bytes <= PART_BYTES_MAX {
            return Ok(());
        }
        Err(TooLong { what: "the rows other sources are joined to are", field: member.field })
    }

    /// An object made of a text of coordinates; null where there is none, and a fault where it is no shape.
    fn push_shape(&mut self, member: &Member, at: At<'_, 'r>, column: &mut Column, row: usize) {
        let (MemberKind::Shape { column: from, run }, Data::Object(table)) = (&member.kind, &mut column.data)
        else {
            return;
        };
        let Some(text) = shape_text(at, *from) else {
            fill(table);
            return self.nothing(member, column, row);
        };
        if push_whole(&self.task.prepared.plan, *run, text, table).is_err() {
            fill(table);
            column.nulls.set(row);
            self.faults.put(column, row, NoShape::fault());
        }
    }

    fn nothing(&mut self, member: &Member, column: &mut Column, row: usize) {
        column.nulls.set(row);
        if !member.nullable {
            self.faults.put(column, row, self.task.names.null_fault(member.field));
        }
    }
}

fn is_there(row: &Cursor<'_>, found: &Found<'_>, arm: usize, column: u16) -> bool {
    row.column(usize::from(found.asked.arms[arm].columns[usize::from(column)])).is_some()
}
