//! Takes the next items of streamed lists out of the rows they stand in, or out of what arrived.
//!
//! **Cost:** a copy of their rows, of at most [`BATCH_ITEMS_MAX`] items; none of those that arrived.

use super::ledger::Queue;
use super::world::{ItemChunk, ItemRange, World};
use crate::answer::chunk::{BATCH_ITEMS_MAX, ItemBatch};
use crate::answer::output_plan::{OutputKind, PlanNodeId};
use crate::answer::rows::{Column, Data};
use crate::engine::increments::locate_sets::locate_list;
use crate::execute::ExecutionContext;
use crate::execute::gather_keys::{self, Gather, Items};

/// A world of the next items of the lists in `queue`, whose rows stand in `parent`, and what is to be asked below them. `None`: a
/// list is not where it was written.
pub(super) fn next_items(
    run: &ExecutionContext<'_>,
    parent: &World,
    queue: &Queue,
) -> Option<(World, Vec<Gather>)> {
    let plan = run.plan;
    let first = locate_list(plan, parent, &queue.tails.front()?.path)?;
    let mut items = Column::default();
    let mut segments = Vec::new();
    let mut rows = 0;
    for tail in &queue.tails {
        let list = locate_list(plan, parent, &tail.path)?;
        // One field may stand in several columns.
        if rows == BATCH_ITEMS_MAX || !std::ptr::eq(list.column, first.column) {
            break;
        }
        let Data::List { offsets, items: own } = &list.column.data else { return None };
        let start = offsets.get(list.row)? + tail.next;
        let end = *offsets.get(list.row + 1)?;
        let left = end.saturating_sub(start) as usize;
        let len = left.min(BATCH_ITEMS_MAX - rows);
        items.append(rows, own, start as usize..start as usize + len);
        let path = tail.path.clone();
        let first = tail.next;
        let row = rows as u32;
        segments.push(ItemRange { path, first, row, len: len as u32, is_last: len == left });
        rows += len;
    }
    let list = ListPlace { node: first.node, field: first.field, kind: first.kind };
    Some(world_of(run, parent, queue.stream, list, items, segments))
}

/// A world of the items that arrived from `node` for the list in `queue`, whose first items stand in `parent`, and what is to be asked
/// below them. `None`: no list waits for them.
pub(super) fn arrived_items(
    run: &ExecutionContext<'_>,
    parent: &World,
    queue: &Queue,
    node: PlanNodeId,
    batch: ItemBatch,
) -> Option<(World, Vec<Gather>)> {
    let tail = queue.tails.front()?;
    let field = *run.plan.node(node).fields.last()?;
    let list = ListPlace { node, field, kind: run.plan.output.fields[field as usize].member };
    let ItemBatch { items, len, is_last, .. } = batch;
    let segment = ItemRange { path: tail.path.clone(), first: tail.next, row: 0, len, is_last };
    Some(world_of(run, parent, queue.stream, list, items, vec![segment]))
}

/// The place of a list in the plan.
struct ListPlace {
    node: PlanNodeId,
    field: u32,
    /// The kind of its items.
    kind: OutputKind,
}

/// A world of `items`, and what is to be asked below them.
fn world_of(
    run: &ExecutionContext<'_>,
    parent: &World,
    stream: u8,
    list: ListPlace,
    mut items: Column,
    segments: Vec<ItemRange>,
) -> (World, Vec<Gather>) {
    let plan = run.plan;
    let ListPlace { node, field, kind } = list;
    let gathers = gather_keys::of_items(run, node, Items { column: &mut items, kind });
    let fragments = plan.output.membership(&plan.output.fields[field as usize]).fragments;
    let fragment = (fragments != 0).then(|| fragments.trailing_zeros() as u8);
    let chunk = ItemChunk { stream, fragment, node, field, kind, items, segments, sent: (0, 0) };
    (World::of(plan, chunk, parent), gathers)
}
