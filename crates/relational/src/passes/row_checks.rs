//! Takes out of changes the checks of the policy that other rows have a part in: they are judged by levels of their own, which are asked
//! when the root field has run.
//!
//! A condition in `RETURNING` does not see what its own statement did to other rows, nor what triggers do behind it. So a check that reads through
//! relationships, views or functions, or any check of a table with triggers that run after a row is returned, becomes a level: the written
//! row by its primary key, unless the check is true of it. A row of that level is a row that breaks the check.
//!
//! **Invariant:** each check stays in one of the two places. A check of a table without a primary key stays in its change, as do two
//! different checks of an upsert: there the statement alone knows which branch a row took.
//!
//! **Cost:** one look at each change.

use crate::catalog::{ColumnId, Relations};
use crate::plan::write::{Change, RowCheck, Work};
use crate::plan::{Expr, Filter, Level, Output, Page, Plan, Purpose, Query, Run, Scan, Tie};

/// Takes them out of the changes of `plan`.
pub(super) fn take_out(plan: &mut Plan, relations: &Relations) {
    for at in 0..plan.changes.len() {
        let table = relations.catalog.table(plan.changes[at].table());
        let Some(key) = table.primary_key.as_ref().map(|it| it.columns.clone()) else { continue };
        if let Some(check) = take_check(&mut plan.changes[at], table.acts_late) {
            add(plan, at as u32, &key, check);
        }
    }
}

/// Removes the check from `change`, if it has to run after the change.
fn take_check(change: &mut Change, acts_late: bool) -> Option<Filter> {
    let waits = |check: &Filter| acts_late || reads_others(check);
    match change {
        Change::Insert(insert) => {
            let check = insert.scan.check().filter(|it| waits(it))?.clone();
            if let Some(conflict) = insert.conflict.as_mut().filter(|it| it.updates()) {
                if conflict.scan.check() != Some(&check) {
                    return None;
                }
                conflict.scan.release();
            }
            insert.scan.release();
            Some(check)
        }
        Change::Update(update) => {
            let check = update.scan.check().filter(|it| waits(it))?.clone();
            update.scan.release();
            Some(check)
        }
        Change::Delete(_) | Change::Call(_) => None,
    }
}

/// Adds the level of a check, below the rows that the change at `change` returns.
fn add(plan: &mut Plan, change: u32, key: &[ColumnId], check: Filter) {
    let of = &mut plan.changes[change as usize];
    let table = of.table();
    let nest = key.iter().map(|&it| (Tie::Column(it), place(of, it))).collect();
    let writes = plan.writes.iter().find(|write| write.works.iter().any(|it| runs(it, change)));
    let (field, path) = writes.map(|it| (it.field, it.path.clone())).unwrap_or_default();
    let mut scan = Scan::of(table, Purpose::Exists);
    scan.restrict(Filter::NotTrue(Box::new(check)));
    let query = Query {
        scan,
        call: None,
        nest,
        through: None,
        filter: Filter::TRUE,
        distinct_on: Vec::new(),
        order: Vec::new(),
        page: Page::default(),
        output: Output::Rows(vec![Expr::Key(key[0])]),
    };
    let level = plan.levels.len() as u32;
    plan.levels.push(Level {
        query,
        members: Run::default(),
        choice: None,
        hidden: Vec::new(),
        by: None,
        field,
        path: format!("{path} (check)"),
    });
    plan.row_checks.push(RowCheck { change, level });
}

/// The returned column with the stored value of `column`, which is added if there is none.
fn place(change: &mut Change, column: ColumnId) -> u16 {
    let returning = match change {
        Change::Insert(insert) => &mut insert.returning,
        Change::Update(update) => &mut update.returning,
        Change::Delete(_) | Change::Call(_) => return 0,
    };
    let known = returning.iter().position(|it| *it == Expr::Key(column));
    known.unwrap_or_else(|| {
        returning.push(Expr::Key(column));
        returning.len() - 1
    }) as u16
}

fn runs(work: &Work, change: u32) -> bool {
    match work {
        Work::Change(own) => *own == change,
        Work::Insert(steps) | Work::Each { steps, .. } => steps.iter().any(|it| it.change == change),
        Work::Nothing | Work::Program { .. } => false,
    }
}

/// True if more than the columns of the row decides `filter`.
fn reads_others(filter: &Filter) -> bool {
    let below = filter.children();
    let reads_rows = below.scan.is_some() || below.query.is_some();
    reads_rows || below.filters.iter().any(reads_others) || below.of.is_some_and(computes)
}

/// True if more than the columns of the row decides `of`.
fn computes(of: &Expr) -> bool {
    match of {
        Expr::Column(_) | Expr::Key(_) | Expr::Snapshot | Expr::Null => false,
        Expr::JsonPath(of, _) | Expr::Cast(of, _) => computes(of),
        Expr::Computed(_)
        | Expr::Row
        | Expr::Count { .. }
        | Expr::Function(..)
        | Expr::Instant { .. }
        | Expr::Statistic { .. }
        | Expr::Related { .. } => true,
    }
}
