//! Long lists as rows: those of the last list leave in batches, after the first part with all other members and its first items.
//!
//! **Invariant:** the rows that arrived together leave before the next are waited for, once the first part is complete.
//!
//! **Cost:** memory for one part of rows and the batches made of it.

use super::{End, Job};
use crate::exec::output::answer::TooLong;
use crate::exec::output::item_batches::{ItemBatches, RowsPart};
use crate::exec::output::row_collector::RowCollector;
use crate::exec::output::typed_columns::{Faults, table};
use crate::postgres::statements::prepared::Prepared;
use crate::postgres::statements::result_rows::{ResultRow, ResultRows};
use crate::postgres::statements::result_set::ResultSet;
use std::sync::Arc;
use std::time::Instant;
use weir_engine::rows::Table;
use weir_engine::source::{Chunk, FetchBody, FetchResult, ItemBatch};
use weir_postgres::cursor::Cursor;
use weir_relational::plan::{Member, MemberKind};

/// Rows in memory that were not sent yet.
struct Collected {
    table: Table,
    /// Estimated memory of the table, in bytes.
    bytes: usize,
    faults: Faults,
}

impl Collected {
    /// Takes the rows back from `collector`. An error if the run was not `done`.
    fn take_in(
        &mut self,
        collector: RowCollector<'_, ResultRows<'_>>,
        done: Result<(), TooLong>,
    ) -> Result<(), End> {
        (self.bytes, self.faults) = collector.into_parts();
        done.map_err(|it| End::Failed(it.into_error()))
    }
}

impl Job {
    /// Collects all members; once the first items of the last one are there, parts leave.
    pub(super) async fn rows(&mut self, deadline: Instant) -> Result<(), End> {
        let prepared = Arc::clone(&self.prepared);
        let plan = &prepared.plan;
        let members = &plan.members[plan.root.range()];
        let table = table(plan, plan.root, &[]);
        let mut collected = Collected { table, bytes: 0, faults: Faults::default() };
        let mut list = 0;
        let mut last = None;
        for (at, member) in members.iter().enumerate() {
            let MemberKind::Many(level) = member.kind else {
                self.collect_beside(&prepared, at, &mut collected)?;
                continue;
            };
            let first_items = self.first_items.filter(|_| at + 1 == members.len());
            let mut batches = ItemBatches::of(&collected.table.columns[at], first_items);
            while let Some(rows) = self.part(deadline).await? {
                {
                    let set = rows.result_set(&prepared, list);
                    self.collect_items(&prepared, &set, (level, member), &mut batches, &mut collected)?;
                }
                self.send_ready(&mut batches, &mut collected).await?;
            }
            last = batches.end(&mut collected.table, at, collected.bytes);
            list += 1;
        }
        collected.table.rows = 1;
        self.end_rows(collected.table, last).await
    }

    /// Collects a member that is asked beside the lists.
    fn collect_beside(&self, prepared: &Prepared, at: usize, collected: &mut Collected) -> Result<(), End> {
        let set = ResultSet::new(&prepared.read, &self.beside);
        let mut collector = self.collector(prepared, &set, collected);
        let done = collector.push_root_member(at, &mut collected.table);
        collected.take_in(collector, done)
    }

    /// Collects the items of one part.
    fn collect_items<'r>(
        &'r self,
        prepared: &'r Prepared,
        set: &'r ResultSet<'r>,
        (level, member): (u32, &'r Member),
        batches: &mut ItemBatches,
        collected: &mut Collected,
    ) -> Result<(), End> {
        let mut collector = self.collector(prepared, set, collected);
        let of = &prepared.plan.levels[level as usize];
        let mut done = Ok(());
        for (number, row) in set.all(0).enumerate() {
            let cursor = Cursor::with_number(row, number);
            done = collector.push_item(of, member, ResultRow::new(&cursor, set, 0), batches);
            if done.is_err() {
                break;
            }
        }
        collected.take_in(collector, done)
    }

    fn collector<'r>(
        &'r self,
        prepared: &'r Prepared,
        set: &'r ResultSet<'r>,
        collected: &mut Collected,
    ) -> RowCollector<'r, ResultRows<'r>> {
        let so_far = (collected.bytes, std::mem::take(&mut collected.faults));
        let source = ResultRows::of_query(prepared, Some(set));
        let names = self.fetch.names(&self.output);
        RowCollector::resume(source, &prepared.plan, names, so_far)
    }

    /// Sends the parts that are ready, after collecting all rows that have arrived.
    async fn send_ready(&mut self, batches: &mut ItemBatches, collected: &mut Collected) -> Result<(), End> {
        batches.end_batch(&mut collected.bytes);
        while let Some(part) = batches.next(&mut collected.table) {
            match part {
                RowsPart::First(rows) => {
                    self.begin(Vec::new(), |rest| FetchBody::FirstItems(rows, rest))?;
                }
                RowsPart::Items(batch) => {
                    let Some(chunks) = &mut self.way.chunks else { return Err(End::Gone) };
                    chunks.push(Chunk::Items(batch)).await.map_err(|_| End::Gone)?;
                }
            }
        }
        Ok(())
    }

    /// Sends the last batch, or all rows if nothing has left.
    async fn end_rows(&mut self, rows: Table, last: Option<ItemBatch>) -> Result<(), End> {
        // All rows are read: sending the rest needs no session.
        self.feed = None;
        match (self.way.chunks.take(), last, self.way.answer.take()) {
            (Some(chunks), Some(batch), _) => {
                chunks.finish([Chunk::Items(batch)].into_iter()).await.map_err(|_| End::Gone)
            }
            (_, _, Some(answer)) => {
                let body = FetchBody::Rows(rows);
                let reply = FetchResult { body, errors: Vec::new(), cache_control: None };
                answer.send(Ok(reply)).map_err(|_| End::Gone)
            }
            (_, _, None) => Err(End::Gone),
        }
    }
}
