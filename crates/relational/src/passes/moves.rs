//! Leaves every row on its shard: no change sets a distribution column to another value.
//!
//! A column that is set to the value by which the row is found is left out. Where only the values of a request say whether the two
//! are equal, the plan notes both ([`Plan::unmoved`]); where nothing says it, the plan is refused ([`Plan::unsupported`]).
//!
//! **Cost:** one walk over the changes of a mutation; nothing where no table has shards.

use super::route::{Router, is_plain};
use crate::catalog::{Column, ColumnId, ColumnType, Placement, Relations, TableId};
use crate::plan::Plan;
use crate::plan::write::{
    Assign, Change, Conflict, Given, Refusal, Step, Unmoved, Unsupported, Update, Work,
};
use crate::plan::{Filter, Parameter};

/// Result for one change.
enum Verdict {
    Stays,
    Refused(Refusal),
    /// The row stays if both values are equal: the one that finds rows, and the one that is set.
    StaysIf(Parameter, Parameter),
}

/// Removes distribution columns from the values that `plan` sets, or notes why it cannot.
pub(super) fn refuse(plan: &mut Plan, relations: &Relations) {
    if !relations.catalog.has_shards() {
        return;
    }
    for at in 0..plan.changes.len() {
        let table = plan.changes[at].table();
        let Placement::Sharded { column, .. } = relations.catalog.table(table).placement else { continue };
        let given = insert_values(plan, at as u32, column);
        let verdict = match &mut plan.changes[at] {
            Change::Update(update) => of_update(update, column, relations),
            Change::Insert(insert) => match &mut insert.conflict {
                Some(conflict) => of_conflict(conflict, column, &given, relations),
                None => Verdict::Stays,
            },
            Change::Delete(_) | Change::Call(_) => Verdict::Stays,
        };
        let refusal = |reason| Unsupported { field: field(plan, at as u32), table, column, reason };
        match verdict {
            Verdict::Stays => {}
            Verdict::Refused(reason) => plan.unsupported.push(refusal(reason)),
            Verdict::StaysIf(found_by, set_to) => {
                plan.unmoved.push(Unmoved { refusal: refusal(Refusal::Moves), found_by, set_to });
            }
        }
    }
}

/// The steps that insert by the change at `change`.
fn steps(plan: &Plan, change: u32) -> impl Iterator<Item = &Step> {
    let works = plan.writes.iter().flat_map(|it| &it.works);
    let steps = works.flat_map(|it| match it {
        Work::Insert(steps) | Work::Each { steps, .. } => steps.as_slice(),
        Work::Nothing | Work::Change(_) | Work::Program { .. } => &[],
    });
    steps.filter(move |it| it.change == change)
}

/// The values that the insert at `change` gives `column`, one for each of its steps.
fn insert_values(plan: &Plan, change: u32, column: ColumnId) -> Vec<Option<Parameter>> {
    let Change::Insert(insert) = &plan.changes[change as usize] else { return Vec::new() };
    let at = insert.columns.iter().position(|it| *it == column);
    let value = |step: &Step| match step.values.get(at?)? {
        Given::Parameter(value) => Some(value.clone()),
        Given::Null | Given::Returned { .. } => None,
    };
    steps(plan, change).map(value).collect()
}

/// The root field that makes the change at `change`.
fn field(plan: &Plan, change: u32) -> u32 {
    let makes = |work: &Work| match work {
        Work::Change(at) => *at == change,
        Work::Insert(steps) | Work::Each { steps, .. } => steps.iter().any(|it| it.change == change),
        Work::Nothing | Work::Program { .. } => false,
    };
    plan.writes.iter().find(|it| it.works.iter().any(makes)).map_or(0, |it| it.field)
}

fn of_update(update: &mut Update, column: ColumnId, relations: &Relations) -> Verdict {
    let Some(at) = update.set.iter().position(|it| it.0 == column) else { return Verdict::Stays };
    let Assign::Value(value) = update.set[at].1.clone() else {
        return match update.set[at].1 {
            Assign::Kept => Verdict::Stays,
            Assign::Null | Assign::Value(_) | Assign::Operator(..) => Verdict::Refused(Refusal::Moves),
        };
    };
    let table = update.scan.table();
    let of = relations.catalog.table(table).column(column);
    let found_by = Router { relations }.value(&update.scan, &update.filter, column);
    let found_by = found_by.filter(|_| is_plain(&value) && is_equal_by_bytes(of));
    let (Some(found_by), Some(other)) = (found_by, find_untouched_column(relations, table, &[column])) else {
        return Verdict::Refused(Refusal::Moves);
    };
    update.set.remove(at);
    if update.set.is_empty() {
        update.set.push((other, Assign::Kept));
    }
    if found_by.origin == value.origin && found_by.reader == value.reader {
        Verdict::Stays
    } else {
        Verdict::StaysIf(found_by, value)
    }
}

/// `given`: the values of the rows that are inserted.
fn of_conflict(
    conflict: &mut Conflict,
    column: ColumnId,
    given: &[Option<Parameter>],
    relations: &Relations,
) -> Verdict {
    if !conflict.updates() {
        return Verdict::Stays;
    }
    let of_policy = conflict.scan.policy().map_or(0, Filter::relationships);
    if conflict.filter.relationships() + of_policy > 0 {
        return Verdict::Refused(Refusal::UpsertReads);
    }
    let preset = conflict.presets.iter().position(|it| it.0 == column);
    let is_set = preset.is_some() || conflict.update.contains(&column);
    if !is_set {
        return Verdict::Stays;
    }
    // A row is in conflict by its key, so that it has the value of the row that is inserted.
    let is_of_key = conflict.shared_columns().contains(&column);
    let is_given = preset.is_none_or(|at| {
        let is_same = |it: &Option<Parameter>| match (it, &conflict.presets[at].1) {
            (Some(given), Assign::Value(value)) => given.origin == value.origin,
            _ => false,
        };
        !given.is_empty() && given.iter().all(is_same)
    });
    let taken: Vec<ColumnId> = conflict.presets.iter().map(|it| it.0).chain([column]).collect();
    let table = conflict.scan.table();
    let Some(other) = find_untouched_column(relations, table, &taken).filter(|_| is_of_key && is_given)
    else {
        return Verdict::Refused(Refusal::Moves);
    };
    conflict.update.retain(|it| *it != column);
    conflict.presets.retain(|it| it.0 != column);
    if conflict.update.is_empty() {
        conflict.presets.push((other, Assign::Kept));
    }
    Verdict::Stays
}

/// A writable column that is not in `taken`, so that it can be set to its own value.
fn find_untouched_column(relations: &Relations, table: TableId, taken: &[ColumnId]) -> Option<ColumnId> {
    let table = relations.catalog.table(table);
    let mut columns = (0..table.columns.len() as u32).map(ColumnId);
    columns.find(|it| !taken.contains(it) && !table.column(*it).generated)
}

/// True if values that the column takes for equal have equal texts.
fn is_equal_by_bytes(column: &Column) -> bool {
    let is_plain = matches!(
        column.ty,
        ColumnType::SmallInt
            | ColumnType::Int
            | ColumnType::BigInt
            | ColumnType::Boolean
            | ColumnType::Text
            | ColumnType::Uuid
            | ColumnType::Date
            | ColumnType::Timestamp
            | ColumnType::TimestampTz
            | ColumnType::Enum(_)
    );
    is_plain && !column.folds
}
