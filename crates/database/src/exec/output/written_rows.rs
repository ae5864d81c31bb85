//! Collects the answers of mutations, below which other sources have children.
//!
//! **Invariant:** a value that cannot be given undoes the mutation, as where its answer is written: see [`undoing_errors`].

use super::row_collector::RowCollector;
use super::row_source::{RowContext, RowSource, Walk, WorkResult};
use super::typed_columns::{fill, fill_column, push_value};
use crate::exec::cell_value::CellValue;
use weir_engine::rows::{Column, Data, Rows, Table};
use weir_engine::source::{PathError, Step};
use weir_relational::plan::write::WriteAnswer;
use weir_relational::plan::{Member, MemberKind, Plan, Run};

impl<'r, S: RowSource> RowCollector<'r, S> {
    /// Appends the answer of the root field `at` of a mutation.
    pub(super) fn push_write(
        &mut self,
        at: u32,
        member: &'r Member,
        column: &mut Column,
        place: usize,
    ) -> Result<(), S::Error> {
        let write = &self.plan.writes[at as usize];
        match (write.answer, &mut column.data) {
            (WriteAnswer::Responses(run), Data::List { offsets, items }) => {
                if let Data::Object(table) = &mut items.data {
                    for index in 0..write.works.len() {
                        self.push_response(at, index, run, table)?;
                    }
                }
                offsets.push(items.len() as u32);
            }
            (WriteAnswer::Response(run), Data::Object(table)) if !write.works.is_empty() => {
                self.push_response(at, 0, run, table)?;
            }
            (WriteAnswer::Rows(run), Data::List { offsets, items }) if !write.works.is_empty() => {
                let rows = self.source.run_work(at, 0)?.rows;
                self.push_returned(run, &rows, member, items)?;
                offsets.push(items.len() as u32);
            }
            (WriteAnswer::Row(run), Data::Object(table)) if !write.works.is_empty() => {
                let rows = self.source.run_work(at, 0)?.rows;
                let hidden = self.plan.returned_keys(run);
                let mut is_there = false;
                S::each_returned(self, &rows, |collector, row| {
                    is_there = true;
                    collector.push(run, hidden, RowContext::Row(row), table)?;
                    Ok(Walk::Stop)
                })?;
                if !is_there {
                    fill(table);
                    self.push_null(member, column, place);
                }
            }
            _ => {
                fill_column(column);
                self.push_null(member, column, place);
            }
        }
        Ok(())
    }

    /// Appends a member of the response object of `work`.
    pub(super) fn push_of_work(
        &mut self,
        work: &WorkResult<S::Returned>,
        member: &'r Member,
        column: &mut Column,
        place: usize,
    ) -> Result<(), S::Error> {
        match (&member.kind, &mut column.data) {
            (MemberKind::Returned(run), Data::List { offsets, items }) => {
                self.push_returned(*run, &work.rows, member, items)?;
                offsets.push(items.len() as u32);
            }
            (MemberKind::Affected, _) => push_value(column, place, CellValue::Int(work.affected)),
            (MemberKind::Message, _) => {
                let text = work.message.map_or(CellValue::Null, |it| CellValue::Text(it.as_bytes().into()));
                push_value(column, place, text);
            }
            _ => {}
        }
        Ok(())
    }

    fn push_response(
        &mut self,
        write: u32,
        work: usize,
        run: Run,
        table: &mut Table,
    ) -> Result<(), S::Error> {
        let work = self.source.run_work(write, work)?;
        self.push(run, &[], RowContext::Work(&work), table)
    }

    /// Appends the rows that a work returned to `items`.
    fn push_returned(
        &mut self,
        run: Run,
        rows: &S::Returned,
        member: &'r Member,
        items: &mut Column,
    ) -> Result<(), S::Error> {
        let hidden = self.plan.returned_keys(run);
        let Data::Object(table) = &mut items.data else { return Ok(()) };
        S::each_returned(self, rows, |collector, row| {
            collector.push(run, hidden, RowContext::Row(row), table)?;
            collector.room(member)?;
            Ok(Walk::On)
        })
    }
}

/// The errors in the collected `rows` of a mutation, the first of each root field.
pub(crate) fn undoing_errors(rows: &Rows, plan: &Plan) -> Vec<PathError> {
    let members = plan.members[plan.root.range()].iter().zip(&rows.columns);
    let failed = members.filter_map(|(member, column)| Some((member.field, column.find_error()?.clone())));
    let errors = failed.map(|(field, error)| {
        let path = vec![Step::Field(field)];
        PathError { error, path, field, is_undone: true }
    });
    errors.collect()
}
