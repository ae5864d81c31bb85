//! Takes the next items of streamed lists out of the rows they stand in.
//!
//! **Cost:** a copy of their rows, of at most [`ITEMS_MAX`] items.

use super::ledger::Queue;
use super::locate::locate_list;
use super::world::{ItemChunk, ItemRange, World};
use crate::execute::ExecutionContext;
use crate::execute::gather::{self, Gather, Items};
use crate::rows::{Column, Data};

/// The most items that are asked for together.
const ITEMS_MAX: usize = 500;

/// A world of the next items of the lists in `queue`, whose rows stand in `parent`, and what is to be asked below them. `None`: a
/// list is not where it was written.
pub(super) fn next_items(
    run: &ExecutionContext<'_>,
    parent: &World,
    queue: &Queue,
) -> Option<(World, Vec<Gather>)> {
    let plan = run.plan;
    let first = locate_list(plan, parent, &queue.tails.front()?.path)?;
    let (mut items, mut segments) = (Column::default(), Vec::new());
    let mut rows = 0;
    for tail in &queue.tails {
        let list = locate_list(plan, parent, &tail.path)?;
        // One field may stand in several columns.
        if rows == ITEMS_MAX || !std::ptr::eq(list.column, first.column) {
            break;
        }
        let Data::List { offsets, items: own } = &list.column.data else { return None };
        let (start, end) = (offsets.get(list.row)? + tail.next, *offsets.get(list.row + 1)?);
        let left = end.saturating_sub(start) as usize;
        let len = left.min(ITEMS_MAX - rows);
        items.append(rows, own, start as usize..start as usize + len);
        let (path, first, row) = (tail.path.clone(), tail.next, rows as u32);
        segments.push(ItemRange { path, first, row, len: len as u32, is_last: len == left });
        rows += len;
    }
    let gathers = gather::of_items(run, first.node, Items { column: &mut items, kind: first.kind });
    let fragments = plan.output.membership(&plan.output.fields[first.field as usize]).fragments;
    let chunk = ItemChunk {
        stream: queue.stream,
        fragment: (fragments != 0).then(|| fragments.trailing_zeros() as u8),
        node: first.node,
        field: first.field,
        kind: first.kind,
        items,
        segments,
        sent: (0, 0),
    };
    Some((World::of(plan, chunk, parent), gathers))
}
