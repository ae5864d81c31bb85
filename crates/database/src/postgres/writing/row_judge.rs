//! Judges the checks of the policy that are levels of their own: one statement for all rows that a statement of the mutation wrote.
//!
//! **Invariant:** a row that others take keys from is judged before they are inserted, every other one when its root field has run.

use super::runner::{Awaited, Failure, Runner};
use crate::exec::errors::check_failed_at;
use crate::postgres::statements::result_set::ResultSet;
use weir_postgres::rows::Rows;
use weir_relational::plan::write::{Step, Work};

/// Written rows that wait for the answer to a check.
pub(crate) struct AwaitedCheck {
    /// Place of the check in the plan.
    check: usize,
    /// Work and statement of each row, in the order in which they were sent.
    rows: Vec<(usize, usize)>,
}

/// True if the row of statement `at` of `work` is judged when the root field has run.
fn is_judged_last(work: &Work, at: usize) -> bool {
    match work {
        Work::Insert(steps) | Work::Each { steps, .. } => !Step::is_needed(steps, at % steps.len()),
        Work::Nothing | Work::Change(_) | Work::Program { .. } => true,
    }
}

impl Runner<'_, '_> {
    /// Judges the rows of the root field that others take no keys from.
    pub(crate) async fn judge_field(&mut self, write: usize) -> Result<(), Failure> {
        let prepared = self.prepared;
        let works = &prepared.plan.writes[write].works;
        let is_due = |work: usize, at: usize| is_judged_last(&works[work], at);
        self.judge(write, &is_due).await
    }

    /// Judges the rows that the statements which `is_due` of the root field wrote: work and place.
    pub(crate) async fn judge(
        &mut self,
        write: usize,
        is_due: &(dyn Fn(usize, usize) -> bool + Sync),
    ) -> Result<(), Failure> {
        if self.prepared.row_checks.is_empty() {
            return Ok(());
        }
        self.flush().await?;
        let mut awaited = Vec::new();
        for check in 0..self.prepared.row_checks.len() {
            awaited.extend(self.send_check(write, check, is_due)?);
        }
        if awaited.is_empty() {
            return Ok(());
        }
        self.flush().await?;
        let answers = std::mem::take(&mut self.judged);
        for (awaited, rows) in awaited.iter().zip(&answers) {
            if let Some((work, at)) = self.first_broken_row(awaited, rows) {
                let of = &self.prepared.plan.writes[write];
                let error = check_failed_at(&of.works[work], at, self.bindings.protocol);
                return Err(Failure::Refused(error, of.field));
            }
        }
        Ok(())
    }

    /// Sends the statement of a check for the rows that are due; `None`: there are none.
    fn send_check(
        &mut self,
        write: usize,
        check: usize,
        is_due: &(dyn Fn(usize, usize) -> bool + Sync),
    ) -> Result<Option<AwaitedCheck>, Failure> {
        let change = self.prepared.plan.row_checks[check].change;
        let mut rows = Vec::new();
        let mut written = Vec::new();
        for (work, done) in self.done[write].works.iter().enumerate() {
            for (at, answer) in done.answers_of(change).filter(|it| is_due(work, it.0)) {
                for row in answer.rows() {
                    rows.push((work, at));
                    written.push((row, answer.decoders()));
                }
            }
        }
        if rows.is_empty() {
            return Ok(None);
        }
        let field = self.prepared.plan.writes[write].field;
        let prepared = self.prepared;
        let children = &prepared.row_checks[check];
        let parameters = self.about(children, written.into_iter(), field)?;
        self.send_children(children, &parameters, Awaited::Check { write });
        Ok(Some(AwaitedCheck { check, rows }))
    }

    /// The work and statement of the first row that breaks a check.
    fn first_broken_row(&self, awaited: &AwaitedCheck, rows: &Rows) -> Option<(usize, usize)> {
        let asked = &self.prepared.row_checks[awaited.check].asked;
        let set = ResultSet::new(asked, rows);
        let (set, arm) = set.place(self.prepared.plan.row_checks[awaited.check].level)?;
        let breaks = |number: &usize| set.of_parent(arm, *number).next().is_some();
        (0..awaited.rows.len()).find(breaks).map(|it| awaited.rows[it])
    }
}
