//! Finds the object at a path of an answer among the rows it is written from.

use crate::execute::FetchResults;
use crate::plan::Plan;
use crate::plan::output_plan::{OutputKind, OutputPlan, SelectionSetId};
use crate::rows::{Column, Data, Rows, Table};
use crate::source::Step;

/// An object, and the member it stands at.
#[derive(Clone, Copy)]
pub(super) struct Located<'r> {
    pub(super) field: u32,
    pub(super) set: SelectionSetId,
    pub(super) table: &'r Table,
    pub(super) row: usize,
}

/// A value that is not yet known to be an object.
#[derive(Clone, Copy)]
struct LocatedValue<'r> {
    field: u32,
    kind: OutputKind,
    column: &'r Column,
    row: usize,
}

/// The object at `path`, which is not the root.
pub(super) fn locate<'r>(plan: &Plan, results: &'r FetchResults, path: &[Step]) -> Option<Located<'r>> {
    let output = &plan.output;
    let mut value: Option<LocatedValue<'r>> = None;
    let is_namespace = |step: &Step| match step {
        Step::Field(field) => plan.root_members.iter().any(|it| it.field == *field && it.namespace.is_some()),
        Step::Index(_) => false,
    };
    let path = if path.first().is_some_and(is_namespace) { &path[1..] } else { path };
    for step in path {
        value = match (*step, value) {
            (Step::Field(field), None) => root_member(plan, results, field),
            (Step::Field(field), Some(above)) => {
                let above = object(output, results, above)?;
                let range = output.set(above.set).range();
                let first = output.fields[field as usize].same_as.unwrap_or(field);
                let column = above.table.columns.get((first as usize).checked_sub(range.start)?)?;
                let kind = output.fields[first as usize].member;
                Some(LocatedValue { field, kind, column, row: above.row })
            }
            (Step::Index(index), Some(list)) => {
                let list = answered(output, results, list)?;
                let Data::List { offsets, items } = &list.column.data else { return None };
                let row = *offsets.get(list.row)? as usize + index as usize;
                Some(LocatedValue { column: items, row, ..list })
            }
            (Step::Index(_), None) => return None,
        };
    }
    object(output, results, value?)
}

/// The member `field` of the root or of a namespace.
fn root_member<'r>(plan: &Plan, results: &'r FetchResults, field: u32) -> Option<LocatedValue<'r>> {
    let member = plan.root_members.iter().find(|it| it.field == field && it.namespace.is_none())?;
    let rows = results.rows.get(member.node as usize)?.as_ref()?;
    let first = plan.output.fields[field as usize].same_as.unwrap_or(field);
    let kind = plan.output.fields[first as usize].member;
    Some(LocatedValue { field, kind, column: rows.columns.get(member.place as usize)?, row: 0 })
}

/// The value itself where another source answers.
fn answered<'r>(
    output: &OutputPlan,
    results: &'r FetchResults,
    value: LocatedValue<'r>,
) -> Option<LocatedValue<'r>> {
    let Data::Foreign(places) = &value.column.data else { return Some(value) };
    let OutputKind::Foreign { node, field, column } = value.kind else { return None };
    let reply: &Rows = results.rows.get(node.0 as usize)?.as_ref()?;
    let row = *places.get(value.row)? as usize;
    let (column, kind) = (reply.columns.get(column as usize)?, output.fields[field as usize].member);
    Some(LocatedValue { field: value.field, kind, column, row })
}

fn object<'r>(
    output: &OutputPlan,
    results: &'r FetchResults,
    value: LocatedValue<'r>,
) -> Option<Located<'r>> {
    let LocatedValue { field, kind, column, row } = answered(output, results, value)?;
    match (&column.data, kind) {
        (Data::Object(table), OutputKind::Object(set)) => Some(Located { field, set, table, row }),
        (Data::Abstract(variants), kind) => {
            let ty = *variants.types.get(row)?;
            let set = match kind {
                OutputKind::Abstract(choice) => output.chosen(choice, ty)?,
                OutputKind::Object(set) => set,
                OutputKind::Leaf | OutputKind::Constant { .. } | OutputKind::Foreign { .. } => return None,
            };
            let table = &variants.tables.iter().find(|it| it.0 == ty)?.1;
            Some(Located { field, set, table, row: *variants.places.get(row)? as usize })
        }
        _ => None,
    }
}
