//! Finds the object or list at a path of an answer in the rows from which it was written.

use super::world::World;
use crate::answer::field_error::Step;
use crate::answer::output_plan::{OutputKind, OutputPlan, PlanNodeId, SelectionSetId};
use crate::answer::rows::{Column, Data, Rows, Table};
use crate::execute::FetchResults;
use crate::plan::Plan;

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
pub(super) struct LocatedValue<'r> {
    pub(super) field: u32,
    pub(super) kind: OutputKind,
    pub(super) column: &'r Column,
    pub(super) row: usize,
    /// The node whose row it is.
    pub(super) node: PlanNodeId,
}

/// The object at `path`, which is not the root.
pub(super) fn locate<'r>(plan: &Plan, world: &'r World, path: &[Step]) -> Option<Located<'r>> {
    object(&plan.output, &world.results, value(plan, world, path)?)
}

/// The list at `path`.
pub(super) fn locate_list<'r>(plan: &Plan, world: &'r World, path: &[Step]) -> Option<LocatedValue<'r>> {
    resolve_foreign(&plan.output, &world.results, value(plan, world, path)?)
}

/// The value at `path`, which is not the root.
fn value<'r>(plan: &Plan, world: &'r World, path: &[Step]) -> Option<LocatedValue<'r>> {
    let output = &plan.output;
    let results = &world.results;
    let (mut value, path) = match &world.chunk {
        Some(chunk) => {
            let (row, steps) = chunk.find(path)?;
            let field = chunk.field;
            let kind = chunk.kind;
            let column = &chunk.items;
            let node = chunk.node;
            (Some(LocatedValue { field, kind, column, row: row as usize, node }), &path[steps..])
        }
        None => (None, without_namespace(plan, path)),
    };
    for step in path {
        value = match (*step, value) {
            (Step::Field(field), None) => root_member(plan, results, field),
            (Step::Field(field), Some(above)) => {
                let node = resolve_foreign(output, results, above)?.node;
                let above = object(output, results, above)?;
                let range = output.set(above.set).range();
                let first = output.fields[field as usize].same_as.unwrap_or(field);
                let column = above.table.columns.get((first as usize).checked_sub(range.start)?)?;
                let kind = output.fields[first as usize].member;
                Some(LocatedValue { field, kind, column, row: above.row, node })
            }
            (Step::Index(index), Some(list)) => {
                let list = resolve_foreign(output, results, list)?;
                let Data::List { offsets, items } = &list.column.data else { return None };
                let row = *offsets.get(list.row)? as usize + index as usize;
                Some(LocatedValue { column: items, row, ..list })
            }
            (Step::Index(_), None) => return None,
        };
    }
    value
}

/// `path` below the namespace it begins with, if it does.
fn without_namespace<'p>(plan: &Plan, path: &'p [Step]) -> &'p [Step] {
    let is_namespace = |step: &Step| match step {
        Step::Field(field) => plan.root_members.iter().any(|it| it.field == *field && it.namespace.is_some()),
        Step::Index(_) => false,
    };
    if path.first().is_some_and(is_namespace) { &path[1..] } else { path }
}

/// The member `field` of the root or of a namespace.
fn root_member<'r>(plan: &Plan, results: &'r FetchResults, field: u32) -> Option<LocatedValue<'r>> {
    let member = plan.root_members.iter().find(|it| it.field == field && it.namespace.is_none())?;
    let rows = results.rows.get(member.node as usize)?.as_ref()?;
    let first = plan.output.fields[field as usize].same_as.unwrap_or(field);
    let kind = plan.output.fields[first as usize].member;
    let node = PlanNodeId(member.node);
    Some(LocatedValue { field, kind, column: rows.columns.get(member.place as usize)?, row: 0, node })
}

/// Follows a foreign value to the row of the source that answered it; other values are returned unchanged.
fn resolve_foreign<'r>(
    output: &OutputPlan,
    results: &'r FetchResults,
    value: LocatedValue<'r>,
) -> Option<LocatedValue<'r>> {
    let Data::Foreign(places) = &value.column.data else { return Some(value) };
    let OutputKind::Foreign { node, field, column } = value.kind else { return None };
    let reply: &Rows = results.rows.get(node.0 as usize)?.as_ref()?;
    let row = *places.get(value.row)? as usize;
    let column = reply.columns.get(column as usize)?;
    let kind = output.fields[field as usize].member;
    Some(LocatedValue { field: value.field, kind, column, row, node })
}

fn object<'r>(
    output: &OutputPlan,
    results: &'r FetchResults,
    value: LocatedValue<'r>,
) -> Option<Located<'r>> {
    let LocatedValue { field, kind, column, row, .. } = resolve_foreign(output, results, value)?;
    match (&column.data, kind) {
        (Data::Object(table), OutputKind::Object(set)) => Some(Located { field, set, table, row }),
        (Data::Abstract(variants), kind) => {
            let ty = *variants.types.get(row)?;
            let set = match kind {
                OutputKind::Abstract(choice) => output.set_for_type(choice, ty)?,
                OutputKind::Object(set) => set,
                OutputKind::Leaf | OutputKind::Constant { .. } | OutputKind::Foreign { .. } => return None,
            };
            let table = &variants.tables.iter().find(|it| it.0 == ty)?.1;
            Some(Located { field, set, table, row: *variants.places.get(row)? as usize })
        }
        _ => None,
    }
}
