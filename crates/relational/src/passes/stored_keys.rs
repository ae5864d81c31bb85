//! Keys that a policy hides from clients still tie related rows to a row.
//!
//! An output column may both be hidden in some rows and tie rows of a level below, or of a later step of an insert: then the row
//! brings the stored value in a column of its own, [`Expr::Key`], which no member shows.
//!
//! **Cost:** one look at each tie of a level or step whose table has hidden columns.

use crate::catalog::ColumnId;
use crate::plan::write::{Change, Given, Step, Work, WriteAnswer};
use crate::plan::{Expr, GuardedColumn, Output, Plan};

/// Lets ties read stored values.
pub(super) fn keep(plan: &mut Plan) {
    for level in 0..plan.levels.len() as u32 {
        let query = &mut plan.levels[level as usize].query;
        let hidden = hidden_columns(query.scan.cells());
        let Output::Rows(columns) = &mut query.output else { continue };
        if !hidden.is_empty() {
            let mut columns = std::mem::take(columns);
            repoint(plan, &plan.levels_of(level), &hidden, &mut columns);
            plan.levels[level as usize].query.output = Output::Rows(columns);
        }
    }
    for write in 0..plan.writes.len() {
        keep_below(plan, write);
        keep_between(plan, write);
    }
}

fn hidden_columns(cells: &[GuardedColumn]) -> Vec<ColumnId> {
    cells.iter().map(|it| it.column).collect()
}

/// The place of the stored value of output column `from`, which is added if it is hidden and not there yet.
fn key(columns: &mut Vec<Expr>, hidden: &[ColumnId], from: u16) -> u16 {
    let Expr::Column(column) = columns[usize::from(from)] else { return from };
    if !hidden.contains(&column) {
        return from;
    }
    let key = Expr::Key(column);
    let known = columns.iter().position(|it| *it == key);
    known.unwrap_or_else(|| {
        columns.push(key);
        columns.len() - 1
    }) as u16
}

/// Ties the levels `below` rows with the output `columns` to stored values.
fn repoint(plan: &mut Plan, below: &[u32], hidden: &[ColumnId], columns: &mut Vec<Expr>) {
    for &level in below {
        for (_, from) in &mut plan.levels[level as usize].query.nest {
            *from = key(columns, hidden, *from);
        }
    }
}

/// Levels below the rows that a root field returns.
fn keep_below(plan: &mut Plan, write: usize) {
    let of = &plan.writes[write];
    let (WriteAnswer::Row(run)
    | WriteAnswer::Rows(run)
    | WriteAnswer::Response(run)
    | WriteAnswer::Responses(run)) = of.answer;
    let shown: Vec<u32> = of.works.iter().flat_map(shown_changes).collect();
    let Some(&first) = shown.first() else { return };
    let hidden = hidden_columns(cells(&plan.changes[first as usize]));
    let before = plan.changes[first as usize].returning().to_vec();
    let mut columns = before.clone();
    repoint(plan, &plan.levels_below(run), &hidden, &mut columns);
    // All statements of the field return the same.
    for change in shown {
        if let Some(returning) = returning(&mut plan.changes[change as usize])
            && *returning == before
        {
            returning.clone_from(&columns);
        }
    }
}

/// Rows that take keys of rows inserted before them.
fn keep_between(plan: &mut Plan, write: usize) {
    let changes = &mut plan.changes;
    for work in &mut plan.writes[write].works {
        let (Work::Insert(steps) | Work::Each { steps, .. }) = work else { continue };
        let of: Vec<u32> = steps.iter().map(|it| it.change).collect();
        for given in steps.iter_mut().flat_map(|it| &mut it.values) {
            let Given::Returned { step, column } = given else { continue };
            let change = &mut changes[of[*step as usize] as usize];
            let hidden = hidden_columns(cells(change));
            if let Some(returning) = returning(change) {
                *column = key(returning, &hidden, *column);
            }
        }
    }
}

/// The changes of `work` whose rows the field returns.
fn shown_changes(work: &Work) -> Vec<u32> {
    match work {
        Work::Change(change) => vec![*change],
        Work::Insert(steps) | Work::Each { steps, .. } => {
            steps.iter().filter(|it: &&Step| it.shown).map(|it| it.change).collect()
        }
        Work::Nothing | Work::Program { .. } => Vec::new(),
    }
}

fn cells(change: &Change) -> &[GuardedColumn] {
    match change {
        Change::Insert(insert) => insert.scan.cells(),
        Change::Update(update) => update.scan.cells(),
        Change::Delete(delete) => delete.scan.cells(),
        Change::Call(query) => query.scan.cells(),
    }
}

fn returning(change: &mut Change) -> Option<&mut Vec<Expr>> {
    match change {
        Change::Insert(insert) => Some(&mut insert.returning),
        Change::Update(update) => Some(&mut update.returning),
        Change::Delete(delete) => Some(&mut delete.returning),
        Change::Call(query) => match &mut query.output {
            Output::Rows(columns) => Some(columns),
            Output::Aggregate(_) | Output::Groups { .. } => None,
        },
    }
}
