//! Keys of the nodes below the root: gathered over all parents, deduplicated, and fetched once per node.
//!
//! One walk over a level's rows finds the rows under every foreign member, at any depth and through lists. Each row gets the number
//! of its key ([`Data::Foreign`]); each node is fetched once with the distinct keys. The replies are the next level. Members below
//! one set with the same keys share them.
//!
//! **Invariant:** rows with a null among the required keys fetch nothing and get null.
//!
//! **Cost:** that of a [`KeySet`] per row of its parents. A further member with the same keys copies the numbers of the first.

use super::key_set::{DistinctKeys, KeySet};
use super::{BatchContext, ExecutionContext, FetchResults, FetchState};
use crate::answer::field_error::{FieldError, SourceError};
use crate::answer::output_plan::{OutputKind, PlanNodeId, SelectionSetId};
use crate::answer::rows::{Bitmap, CellError, Column, Data, NO_PLACE, Table};
use crate::plan::deferral::LateItems;
use crate::source::BatchBarrier;
use futures_util::future::join_all;
use smallvec::SmallVec;
use std::sync::Arc;

/// A failed fetch reports at most this many errors.
const FAILED_ERRORS_MAX: usize = 50;

/// Fetches all nodes below the rows of `level`, level by level; nodes that only later parts of the answer wait for go to `held`.
pub(crate) async fn ask_below(
    run: &ExecutionContext<'_>,
    results: &mut FetchResults,
    mut level: Vec<PlanNodeId>,
    batch: BatchContext<'_>,
    mut held: Option<&mut Vec<Gather>>,
) {
    while !level.is_empty() {
        let mut gathers = of_level(run, results, &level);
        if let Some((held, deferral)) = held.as_deref_mut().zip(run.plan.deferral.as_deref()) {
            held.extend(gathers.extract_if(.., |it| deferral.is_late(it.node.0 as usize)));
        }
        let replies = ask_level(run, &gathers, batch).await;
        level.clear();
        for (gather, reply) in gathers.iter().zip(replies) {
            level.extend(store_reply(run, results, None, gather, reply));
        }
    }
}

/// The keys for the nodes below `level`, but for nodes without any.
pub(crate) fn of_level(
    run: &ExecutionContext<'_>,
    results: &mut FetchResults,
    level: &[PlanNodeId],
) -> Vec<Gather> {
    let mut gathers = Vec::new();
    for &parent in level {
        let Some(mut rows) = results.rows[parent.0 as usize].take() else { continue };
        let mut walk = KeyWalk::new(run, parent);
        if !walk.below.is_empty() {
            walk.node(parent, &mut rows);
            walk.finish(&mut gathers);
        }
        results.rows[parent.0 as usize] = Some(rows);
    }
    gathers
}

/// The keys for the nodes below some items of a streamed list in the rows of `parent`, but for nodes without any.
pub(crate) fn of_items(run: &ExecutionContext<'_>, parent: PlanNodeId, items: Items<'_>) -> Vec<Gather> {
    let mut walk = KeyWalk::new(run, parent);
    let mut gathers = Vec::new();
    if !walk.below.is_empty() {
        walk.member(NO_FIELD, items.kind, items.column, &Bitmap::default());
        walk.finish(&mut gathers);
    }
    gathers
}

/// Some items of a streamed list, which stand apart from the rows of its node.
pub(crate) struct Items<'r> {
    pub(crate) column: &'r mut Column,
    /// Their kind.
    pub(crate) kind: OutputKind,
}

/// Stores the reply for `gather` among the results, or in `items`. Returns the node if other nodes may depend on its rows.
pub(crate) fn store_reply(
    run: &ExecutionContext<'_>,
    results: &mut FetchResults,
    items: Option<Items<'_>>,
    gather: &Gather,
    reply: Result<crate::source::FetchResult, SourceError>,
) -> Option<PlanNodeId> {
    let members = run.plan.node(gather.node).fields.len();
    results.put(gather.node, check_rows(reply, gather.keys.rows, members));
    match &results.asked[gather.node.0 as usize] {
        FetchState::Failed(error) => {
            let error = error.for_client();
            fail(run, results, items, gather.node, &error);
            None
        }
        FetchState::Finished(..) | FetchState::Rows(_) | FetchState::Waiting => Some(gather.node),
    }
}

/// Asks the nodes of one level side by side. Those that may ask for the same know of each other.
pub(super) async fn ask_level(
    run: &ExecutionContext<'_>,
    gathers: &[Gather],
    batch: BatchContext<'_>,
) -> Vec<Result<crate::source::FetchResult, SourceError>> {
    let repeating = gathers.iter().filter(|it| run.plan.node(it.node).repeats).count();
    let level = (repeating > 1).then(|| BatchBarrier::new(repeating as u32));
    let batch = BatchContext { level: level.as_ref(), ..batch };
    join_all(gathers.iter().map(|it| run.ask(run.plan.node(it.node), Some(&it.keys.columns), batch))).await
}

/// Checks that the reply has one row per key and one column per member.
fn check_rows(
    reply: Result<crate::source::FetchResult, SourceError>,
    keys: u32,
    members: usize,
) -> Result<crate::source::FetchResult, SourceError> {
    let reply = reply?;
    match &reply.body {
        crate::source::FetchBody::Rows(rows) if rows.rows == keys && rows.columns.len() == members => {
            Ok(reply)
        }
        crate::source::FetchBody::Rows(_) => Err(SourceError::Broken("not one row per key".into())),
        crate::source::FetchBody::Finished(_) | crate::source::FetchBody::FirstItems(..) => {
            Err(SourceError::Broken("something else than rows where rows were asked".into()))
        }
    }
}

/// Marks a list within a list, which is not streamed itself.
const NO_FIELD: u32 = u32::MAX;

/// A node to fetch, and its keys, which others may share.
pub(crate) struct Gather {
    pub(crate) node: PlanNodeId,
    keys: Arc<DistinctKeys>,
}

impl Gather {
    /// The keys, a column each.
    pub(crate) fn keys(&self) -> &[Column] {
        &self.keys.columns
    }
}

/// A node below the rows of a walk.
#[derive(Clone, Copy)]
struct HangingNode {
    node: PlanNodeId,
    /// Place of its keys in [`KeyWalk::sets`].
    keys: usize,
}

/// A key set that was gathered from a table.
struct GatheredKeys {
    /// Index of its key set in [`KeyWalk::sets`].
    keys: usize,
    /// The first member with these keys: its column has the numbers.
    member: usize,
}

/// One walk over the rows of a node.
struct KeyWalk<'w> {
    run: &'w ExecutionContext<'w>,
    /// Nodes below those rows.
    below: Vec<HangingNode>,
    sets: Vec<KeySet<'w>>,
    /// The streamed lists of the plan.
    streams: &'w [LateItems],
}

impl<'w> KeyWalk<'w> {
    fn new(run: &'w ExecutionContext<'w>, parent: PlanNodeId) -> Self {
        let mut below = Vec::new();
        let mut sets = Vec::<KeySet<'w>>::new();
        for node in run.plan.nodes_below(parent) {
            let Some(keys) = run.plan.node(node).parent.as_ref() else { continue };
            let known = sets.iter().position(|it| it.serves(keys));
            below.push(HangingNode { node, keys: known.unwrap_or(sets.len()) });
            if known.is_none() {
                sets.push(KeySet::new(keys));
            }
        }
        let streams = run.plan.deferral.as_deref().map_or(&[][..], |it| &it.streams);
        Self { run, below, sets, streams }
    }

    /// Appends the nodes that have keys.
    fn finish(self, gathers: &mut Vec<Gather>) {
        let keys = self.sets.into_iter().map(|it| Arc::new(it.finish()));
        let keys: SmallVec<[Arc<DistinctKeys>; 4]> = keys.collect();
        let gather = |it: HangingNode| Gather { node: it.node, keys: Arc::clone(&keys[it.keys]) };
        gathers.extend(self.below.into_iter().map(gather).filter(|it| it.keys.rows > 0));
    }

    fn node(&mut self, node: PlanNodeId, rows: &mut Table) {
        let planned = self.run.plan.node(node);
        if planned.parent.is_some() {
            // A node with a parent has a set of its own; other nodes may depend on members of that set.
            return self.table(planned.set, rows, &Bitmap::default());
        }
        for (&field, column) in planned.fields.iter().zip(&mut rows.columns) {
            let member = self.run.plan.output.fields[field as usize].member;
            self.member(field, member, column, &Bitmap::default());
        }
    }

    /// Walks one member. `dead` marks rows below a null, whose columns have no meaning, and streamed items that are not fetched yet.
    /// The recursion is as deep as the output plan, which validation bounds.
    fn member(&mut self, field: u32, member: OutputKind, column: &mut Column, dead: &Bitmap) {
        match (&mut column.data, member) {
            // A null list has no items.
            (Data::List { items, .. }, _) if self.streams.is_empty() => {
                self.member(NO_FIELD, member, items, &Bitmap::default());
            }
            (Data::List { offsets, items }, _) => {
                let dead = dead_items(self.initial(field), offsets, items.len(), dead);
                self.member(NO_FIELD, member, items, &dead);
            }
            (Data::Object(table), OutputKind::Object(set)) => {
                self.table(set, table, &column.nulls.union(dead));
            }
            (Data::Abstract(variants), OutputKind::Abstract(choice)) => {
                for (ty, table) in &mut variants.tables {
                    if let Some(set) = self.run.plan.output.set_for_type(choice, *ty) {
                        // Rows that are null have no place in any of the tables.
                        let rows = variants.types.iter().zip(&variants.places).enumerate();
                        let mut own = Bitmap::default();
                        if !dead.is_empty() {
                            let ours = rows.filter(|it| it.1.0 == ty && dead.get(it.0));
                            ours.filter(|it| *it.1.1 < table.rows).for_each(|it| own.set(*it.1.1 as usize));
                        }
                        self.table(set, table, &own);
                    }
                }
            }
            // Leaves and constants have no keys. A column that does not fit the output plan is reported by the writer.
            _ => {}
        }
    }

    fn table(&mut self, set: SelectionSetId, table: &mut Table, dead: &Bitmap) {
        if !self.run.plan.foreign_below[set.0 as usize] {
            return;
        }
        let output = &self.run.plan.output;
        let range = output.set(set).range();
        if table.columns.len() < range.len() {
            return;
        }
        let mut gathered: SmallVec<[GatheredKeys; 4]> = SmallVec::new();
        for (at, field) in range.enumerate() {
            let output_field = &output.fields[field];
            if output_field.same_as.is_some() {
                continue;
            }
            let OutputKind::Foreign { node, .. } = output_field.member else {
                self.member(field as u32, output_field.member, &mut table.columns[at], dead);
                continue;
            };
            let Some(keys) = self.key_set(set, node) else { continue };
            let known = gathered.iter().find(|it| it.keys == keys);
            let places = match known.map(|it| &table.columns[it.member].data) {
                Some(Data::Foreign(places)) => places.clone(),
                Some(_) | None => {
                    gathered.push(GatheredKeys { keys, member: at });
                    self.sets[keys].places(table, dead)
                }
            };
            let errors = self.errors(keys, at, table, dead);
            table.columns[at] = Column { data: Data::Foreign(places), errors, ..Column::default() };
        }
    }

    /// Number of items that the list at `field` has in the first part; `None` if it is not streamed.
    fn initial(&self, field: u32) -> Option<u32> {
        let output = &self.run.plan.output;
        let stream = output.membership(output.fields.get(field as usize)?).stream.checked_sub(1)?;
        Some(self.streams[usize::from(stream)].initial(self.run.variables).unwrap_or(0))
    }

    /// Index in `sets` of the keys of `node`; `None` if the node is not below `set`, which no plan contains.
    fn key_set(&self, set: SelectionSetId, node: PlanNodeId) -> Option<usize> {
        let keys = self.below.iter().find(|it| it.node == node)?.keys;
        (self.sets[keys].set() == set).then_some(keys)
    }

    /// Why rows have no key for the member at `at`: errors of the member itself and of the keys' own columns.
    fn errors(&self, keys: usize, at: usize, table: &mut Table, dead: &Bitmap) -> Vec<CellError> {
        let mut errors = std::mem::take(&mut table.columns[at].errors);
        let keys = self.sets[keys].hidden_columns().iter().filter_map(|&it| table.hidden.get(it as usize));
        errors.extend(keys.flat_map(|it| &it.errors).filter(|it| !dead.get(it.row as usize)).cloned());
        errors.sort_by_key(|it| it.row);
        errors.dedup_by_key(|it| it.row);
        errors
    }
}

/// Items that are not fetched yet: those of `dead` lists, and in other lists those after the first `initial`.
fn dead_items(initial: Option<u32>, offsets: &[u32], items: usize, dead: &Bitmap) -> Bitmap {
    let mut below = Bitmap::default();
    if initial.is_none() && dead.is_empty() {
        return below;
    }
    for (row, list) in offsets.windows(2).enumerate() {
        let start = list[0] as usize;
        let end = (list[1] as usize).min(items);
        let alive = if dead.get(row) { 0 } else { initial.map_or(usize::MAX, |it| it as usize) };
        (start.saturating_add(alive)..end).for_each(|item| below.set(item));
    }
    below
}

/// Puts `error` at every row under the foreign member of `node`, in the rows of its parent or in those `items` of them.
fn fail(
    run: &ExecutionContext<'_>,
    results: &mut FetchResults,
    items: Option<Items<'_>>,
    node: PlanNodeId,
    error: &FieldError,
) {
    let mut left = FAILED_ERRORS_MAX;
    let Some(parent) = &run.plan.node(node).parent else { return };
    let Some(rows) = &mut results.rows[parent.node.0 as usize] else {
        if let Some(Items { column, kind }) = items {
            fail_member(run, kind, column, node, error, &mut left);
        }
        return;
    };
    for (&field, column) in run.plan.node(parent.node).fields.iter().zip(&mut rows.columns) {
        fail_member(run, run.plan.output.fields[field as usize].member, column, node, error, &mut left);
    }
}

fn fail_member(
    run: &ExecutionContext<'_>,
    member: OutputKind,
    column: &mut Column,
    node: PlanNodeId,
    error: &FieldError,
    left: &mut usize,
) {
    match (&mut column.data, member) {
        (Data::List { items, .. }, _) => fail_member(run, member, items, node, error, left),
        (Data::Object(table), OutputKind::Object(set)) => fail_table(run, set, table, node, error, left),
        (Data::Abstract(variants), OutputKind::Abstract(choice)) => {
            for (ty, table) in &mut variants.tables {
                if let Some(set) = run.plan.output.set_for_type(choice, *ty) {
                    fail_table(run, set, table, node, error, left);
                }
            }
        }
        (Data::Foreign(places), OutputKind::Foreign { node: own, .. }) if own == node => {
            // Further rows keep their places in a node without rows, so they become null without an error of their own.
            let told = places.iter_mut().enumerate().filter(|it| *it.1 != NO_PLACE).take(*left);
            for (row, place) in told {
                *place = NO_PLACE;
                *left -= 1;
                column.errors.push(CellError { row: row as u32, error: error.clone() });
            }
            column.errors.sort_by_key(|it| it.row);
        }
        _ => {}
    }
}

fn fail_table(
    run: &ExecutionContext<'_>,
    set: SelectionSetId,
    table: &mut Table,
    node: PlanNodeId,
    error: &FieldError,
    left: &mut usize,
) {
    if run.plan.foreign_below[set.0 as usize] {
        for (field, column) in run.plan.output.members(set).iter().zip(&mut table.columns) {
            fail_member(run, field.member, column, node, error, left);
        }
    }
}
