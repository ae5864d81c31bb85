//! A world: rows that later parts are written from, either those of the first part or some items of streamed lists with their child
//! rows.
//!
//! Items are copied out of their rows, a bounded number at a time. Their child nodes are then fetched like those of the first
//! items, and all of it is dropped once the items were sent.
//!
//! **Invariant:** all items of one world are of one column, and all lists of one stream.

use super::ledger::Path;
use crate::answer::field_error::{SourceError, Step};
use crate::answer::output_plan::{OutputKind, PlanNodeId};
use crate::answer::rows::Column;
use crate::execute::gather_keys::{self, Gather, Items};
use crate::execute::{ExecutionContext, FetchResults, FetchState};
use crate::plan::Plan;
use crate::plan::deferral::Deferral;
use crate::source::{FetchResult, RequestObjects};
use std::sync::Arc;

/// Results, and the objects at whose place they stand.
pub(super) struct World {
    pub(super) results: FetchResults,
    /// `None`: the rows of the first part.
    pub(super) chunk: Option<ItemChunk>,
    pub(super) objects: Option<Arc<RequestObjects>>,
    /// By node: true while it is being asked.
    asked: Vec<bool>,
}

/// Items of lists that are sent together.
pub(super) struct ItemChunk {
    pub(super) stream: u8,
    /// The late fragment that the lists stand in.
    pub(super) fragment: Option<u8>,
    /// The node whose rows the items are.
    pub(super) node: PlanNodeId,
    /// The member that is the list.
    pub(super) field: u32,
    /// The kind of the items.
    pub(super) kind: OutputKind,
    pub(super) items: Column,
    pub(super) segments: Vec<ItemRange>,
    /// The segment to be sent next, and its items that were sent.
    pub(super) sent: (usize, u32),
}

/// Items of one list.
pub(super) struct ItemRange {
    /// The list.
    pub(super) path: Path,
    /// The place of the first of them in the list.
    pub(super) first: u32,
    /// The row of the first of them.
    pub(super) row: u32,
    pub(super) len: u32,
    /// True if the list ends with them.
    pub(super) is_last: bool,
}

impl ItemChunk {
    /// True if all items were sent.
    pub(super) fn is_sent(&self) -> bool {
        self.sent.0 == self.segments.len()
    }

    /// The place of the item to be sent next.
    pub(super) fn place(&self) -> Path {
        let segment = &self.segments[self.sent.0];
        let mut path = segment.path.clone();
        path.push(Step::Index(segment.first + self.sent.1));
        path
    }

    /// The row of the item that the beginning of `path` leads to, and how many steps that are.
    pub(super) fn find(&self, path: &[Step]) -> Option<(u32, usize)> {
        self.segments.iter().find_map(|it| match path.strip_prefix(&*it.path)?.first()? {
            Step::Index(at) => {
                let place = at.checked_sub(it.first).filter(|place| *place < it.len)?;
                Some((it.row + place, it.path.len() + 1))
            }
            Step::Field(_) => None,
        })
    }
}

impl World {
    /// The world of the first part.
    pub(super) fn first(results: FetchResults, objects: Option<Arc<RequestObjects>>) -> Self {
        let asked = vec![false; results.asked.len()];
        Self { results, chunk: None, objects, asked }
    }

    /// The world of a chunk: its rows are copied from the rows of `parent`.
    pub(super) fn of(plan: &Plan, chunk: ItemChunk, parent: &Self) -> Self {
        let objects = parent.objects.as_ref().map(|it| Arc::new(it.fork(chunk.node.0)));
        let asked = vec![false; plan.nodes.len()];
        Self { results: FetchResults::none(plan), chunk: Some(chunk), objects, asked }
    }

    /// Marks `node` as being fetched.
    pub(super) fn ask(&mut self, node: PlanNodeId) {
        self.asked[node.0 as usize] = true;
    }

    /// True while a fetch of one of its nodes is running.
    pub(super) fn is_asking(&self) -> bool {
        self.asked.contains(&true)
    }

    /// Stores the reply of a node, fetched for `gather` unless it is a root node. Returns the key sets to fetch next.
    pub(super) fn store_reply(
        &mut self,
        run: &ExecutionContext<'_>,
        node: PlanNodeId,
        gather: Option<&Gather>,
        reply: Result<FetchResult, SourceError>,
    ) -> Vec<Gather> {
        self.asked[node.0 as usize] = false;
        let answered = match gather {
            None => {
                self.results.put(node, reply);
                Some(node)
            }
            Some(gather) => {
                let items = self.chunk.as_mut().map(|it| Items { column: &mut it.items, kind: it.kind });
                gather_keys::store_reply(run, &mut self.results, items, gather, reply)
            }
        };
        answered.map_or_else(Vec::new, |it| gather_keys::of_level(run, &mut self.results, &[it]))
    }

    /// The fragments and streams that wait for a node under way, or for a node below one.
    pub(super) fn open(&self, plan: &Plan, deferral: &Deferral) -> Open {
        let mut nodes = vec![false; plan.nodes.len()];
        let mut open = Open::default();
        for (at, node) in plan.nodes.iter().enumerate() {
            let is_unasked = matches!(self.results.asked[at], FetchState::Waiting);
            let parent = node.parent.as_ref().filter(|_| is_unasked);
            nodes[at] = self.asked[at] || parent.is_some_and(|it| nodes[it.node.0 as usize]);
            if nodes[at] {
                open.fragments |= deferral.waiting[at];
                open.is_initial |= !deferral.is_late(at);
            }
        }
        open
    }
}

/// Parts of a world that wait for nodes.
#[derive(Clone, Copy, Default)]
pub(super) struct Open {
    /// Late fragments: bits.
    pub(super) fragments: u64,
    /// True if a node is waited for outside of all late fragments.
    is_initial: bool,
}

impl Open {
    /// True if items within `fragment` wait.
    pub(super) fn has_items_in(self, fragment: Option<u8>) -> bool {
        self.is_initial || fragment.is_some_and(|it| self.fragments >> it & 1 == 1)
    }
}
