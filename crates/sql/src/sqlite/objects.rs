//! Rows of several types, and lists of values, as they are finished.
//!
//! **Cost:** no allocation per row; a row of another type is one more statement, unless its own columns say all.

use super::cells::Cells;
use super::finish::Finisher;
use super::run::Failure;
use super::value::read;
use crate::exec::value::{no_such_object, write_value};
use rusqlite::types::ValueRef;
use weir_engine::source::Step;
use weir_relational::catalog::facts::Cell;
use weir_relational::plan::{Choice, Member, Object};

impl<'r> Finisher<'_, 'r, '_> {
    /// A row of one of several types.
    pub(super) fn chosen(
        &mut self,
        choice: &'r Choice,
        member: &Member,
        row: Cells<'_>,
    ) -> Result<bool, Failure> {
        let prepared = self.statements.prepared;
        let ValueRef::Text(name) = row.get(usize::from(choice.column)) else { return Ok(false) };
        match choice.find(name).map(|it| it.object) {
            Some(Object::Row(run)) => return self.inline(run, row),
            Some(Object::Level(level)) => {
                if let Some(mut statement) = self.statements.open(level, Some(row))? {
                    let mut rows = statement.raw_query();
                    let ok = match rows.next() {
                        Ok(Some(row)) => {
                            let run = prepared.plan.levels[level as usize].members;
                            Some(self.inline(run, Cells::Row(row))?)
                        }
                        Ok(None) => None,
                        Err(error) => return Err(self.statements.failure(error, level)),
                    };
                    drop(rows);
                    self.statements.close(level, statement);
                    if let Some(ok) = ok {
                        return Ok(ok);
                    }
                }
            }
            None => {}
        }
        self.answer.fail(member, no_such_object());
        Ok(false)
    }

    /// A list of values.
    pub(super) fn values(
        &mut self,
        level: u32,
        cell: Cell,
        member: &Member,
        row: Option<Cells<'_>>,
    ) -> Result<bool, Failure> {
        self.answer.out.open(b'[');
        if let Some(mut statement) = self.statements.open(level, row)? {
            let mut rows = statement.raw_query();
            let mut index = 0;
            loop {
                let value = match rows.next() {
                    Ok(Some(row)) => read(cell, row.get_ref_unwrap(0)),
                    Ok(None) => break,
                    Err(error) => return Err(self.statements.failure(error, level)),
                };
                if let Err(fault) = value.map(|it| write_value(&mut self.answer.out, cell, &it)) {
                    let before = self.answer.errors.len();
                    self.answer.fail(member, fault);
                    self.answer.step(before, Step::Index(index));
                    if !member.null_items {
                        return Ok(false);
                    }
                    self.answer.out.null();
                }
                self.answer.out.comma();
                index += 1;
                self.answer.room(0, member)?;
            }
            drop(rows);
            self.statements.close(level, statement);
        }
        self.answer.out.close(b']');
        Ok(true)
    }
}
