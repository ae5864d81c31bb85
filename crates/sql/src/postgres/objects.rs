//! Rows of several types, lists of values, and objects that may not be there, as they are finished.
//!
//! **Cost:** no allocation per row.

use super::cursor::Cursor;
use super::finish::{At, Finisher, Wrote, place, rows};
use super::found::Found;
use crate::exec::value::{Value, no_such_object, write_value};
use weir_engine::source::Step;
use weir_relational::catalog::facts::Cell;
use weir_relational::plan::{Member, Object, Run};

/// The text of a shape in a column of the row at hand.
pub(super) fn shape_text<'r>(at: At<'_, 'r>, column: u16) -> Option<&'r [u8]> {
    let At::Row(row, found, arm) = at else { return None };
    row.column(usize::from(found.asked.arms[arm].columns[usize::from(column)]))
}

impl<'r> Finisher<'r> {
    /// An object made of the row at hand, or null where `column` is.
    pub(super) fn maybe(&mut self, column: u16, run: Run, member: &'r Member, at: At<'_, 'r>) -> Wrote {
        if let At::Row(row, found, arm) = at {
            let column = found.asked.arms[arm].columns[usize::from(column)];
            if row.column(usize::from(column)).is_some() {
                return self.object(run, at);
            }
        }
        Ok(self.answer.missing(member))
    }

    /// Writes a row of a level.
    pub(super) fn row(
        &mut self,
        level: u32,
        member: &'r Member,
        row: &Cursor<'r>,
        found: &Found<'r>,
        arm: usize,
    ) -> Wrote {
        let plan = &self.task.prepared.plan;
        let of = &plan.levels[level as usize];
        let at = At::Row(row, found, arm);
        let Some(choice) = &of.choice else { return self.object(of.members, at) };
        let column = found.asked.arms[arm].columns[usize::from(choice.column)];
        let variant = row.column(usize::from(column)).and_then(|it| choice.find(it));
        match variant.map(|it| it.object) {
            Some(Object::Row(run)) => return self.object(run, at),
            Some(Object::Level(level)) => {
                if let Some((found, arm)) = place(level, at)
                    && let Some(row) = rows(self.task, level, found, arm, at).next()
                {
                    let row = Cursor::new(row);
                    let members = plan.levels[level as usize].members;
                    return self.object(members, At::Row(&row, found, arm));
                }
            }
            None => {}
        }
        self.answer.fail(member, no_such_object());
        Ok(false)
    }

    /// A list of values.
    pub(super) fn values(&mut self, level: u32, cell: Cell, member: &'r Member, at: At<'_, 'r>) -> Wrote {
        self.answer.out.open(b'[');
        if let Some((found, arm)) = place(level, at) {
            let column = usize::from(found.asked.arms[arm].columns[0]);
            let decoder = &found.asked.decoders[column];
            for (index, row) in rows(self.task, level, found, arm, at).enumerate() {
                let value = match row.column(column).flatten() {
                    Some(bytes) => decoder.read(bytes, &mut self.scratch),
                    None => Ok(Value::Null),
                };
                if let Err(fault) = value.map(|it| write_value(&mut self.answer.out, cell, &it)) {
                    let before = self.answer.errors.len();
                    self.answer.fail(member, fault);
                    self.answer.step(before, Step::Index(index as u32));
                    if !member.null_items {
                        return Ok(false);
                    }
                    self.answer.out.null();
                }
                self.answer.out.comma();
                self.answer.room(0, member)?;
            }
        }
        self.answer.out.close(b']');
        Ok(true)
    }
}
