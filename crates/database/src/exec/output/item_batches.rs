//! The items of the last list of the root, collected in batches: the first ones leave with all other members, the others as they come.
//!
//! **Invariant:** the first part has as many items as it should; a list that has fewer leaves whole.
//!
//! **Cost:** columns are allocated anew for each batch.

use super::answer::CHUNK_BYTES;
use std::collections::VecDeque;
use weir_engine::rows::{Column, Data, Rows, Table};
use weir_engine::source::{BATCH_ITEMS_MAX, ItemBatch};

/// Part of a list that is sent before all rows are collected.
#[derive(Debug)]
pub(crate) enum RowsPart {
    /// The row of the root, whose last list has its first items.
    First(Rows),
    /// Later items of that list.
    Items(ItemBatch),
}

/// The items that are collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// All: nothing leaves before the end.
    All,
    /// Number of items of the first part that are still to be collected.
    First(u32),
    /// Items behind the first part.
    Later,
}

/// Items of one list while they are collected.
#[derive(Debug)]
pub(crate) struct ItemBatches {
    stage: Stage,
    /// No items of the list's kind.
    none: Data,
    /// Items of the current batch, and their number.
    items: Data,
    len: u32,
    /// The items of the first part, once they are complete.
    first: Option<(Data, u32)>,
    /// Complete batches behind the first part.
    ready: VecDeque<ItemBatch>,
}

impl ItemBatches {
    /// Starts without items of `list`. `first_items`: number of items to send before the list is complete; `None`: send all at once.
    pub(crate) fn of(list: &Column, first_items: Option<u32>) -> Self {
        let none = if let Data::List { items, .. } = &list.data { items.data.clone() } else { Data::Empty };
        let stage = first_items.map_or(Stage::All, Stage::First);
        Self { stage, items: none.clone(), none, len: 0, first: None, ready: VecDeque::new() }
    }

    /// Where the next item is appended, if its list has more. `bytes`: memory of collected rows that were not sent.
    pub(crate) fn begin_item(&mut self, bytes: &mut usize) -> &mut Data {
        // The first part has no items, and waits for the first row: an empty list is whole, and a statement that fails at once is an error of it.
        if self.stage == Stage::First(0) {
            self.complete_first(bytes);
        }
        &mut self.items
    }

    /// Counts the item that was appended.
    pub(crate) fn end_item(&mut self, bytes: &mut usize) {
        self.len += 1;
        match self.stage {
            Stage::All => {}
            Stage::First(missing) if missing > 1 => self.stage = Stage::First(missing - 1),
            Stage::First(_) => self.complete_first(bytes),
            Stage::Later if self.len as usize >= BATCH_ITEMS_MAX || *bytes >= CHUNK_BYTES => {
                self.end_batch(bytes)
            }
            Stage::Later => {}
        }
    }

    fn complete_first(&mut self, bytes: &mut usize) {
        self.stage = Stage::Later;
        *bytes = 0;
        self.first = Some(self.take());
    }

    fn take(&mut self) -> (Data, u32) {
        (std::mem::replace(&mut self.items, self.none.clone()), std::mem::take(&mut self.len))
    }

    /// Ends the current batch, if it may leave and has items.
    pub(crate) fn end_batch(&mut self, bytes: &mut usize) {
        if self.stage == Stage::Later && self.len > 0 {
            let batch = self.batch(std::mem::take(bytes), false);
            self.ready.push_back(batch);
        }
    }

    fn batch(&mut self, bytes: usize, is_last: bool) -> ItemBatch {
        let (data, len) = self.take();
        ItemBatch { items: Column { data, ..Column::default() }, len, bytes, is_last }
    }

    /// The next part that is complete. The first one takes `table` along, of which the list is the last column.
    pub(crate) fn next(&mut self, table: &mut Table) -> Option<RowsPart> {
        let Some((items, len)) = self.first.take() else {
            return self.ready.pop_front().map(RowsPart::Items);
        };
        if let Some(list) = table.columns.last_mut() {
            put(list, items, len);
        }
        Some(RowsPart::First(std::mem::take(table)))
    }

    /// The last batch, after all parts that were complete; `None`: nothing has left, and all items are put into the column `at` of `table`.
    pub(crate) fn end(mut self, table: &mut Table, at: usize, bytes: usize) -> Option<ItemBatch> {
        if self.stage == Stage::Later {
            return Some(self.batch(bytes, true));
        }
        put(&mut table.columns[at], self.items, self.len);
        None
    }
}

/// Makes `list` the list of `items`.
fn put(list: &mut Column, items: Data, len: u32) {
    let items = Box::new(Column { data: items, ..Column::default() });
    list.data = Data::List { offsets: vec![0, len], items };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts of a list of `len` items, each as the numbers in it; the last of them, if any part left before, or the list.
    fn parts(len: i64, first_items: Option<u32>, item_bytes: usize) -> (Vec<Vec<i64>>, Option<Vec<i64>>) {
        let numbers = |data: &Data| match data {
            Data::Int(numbers) => numbers.clone(),
            other => panic!("{other:?}"),
        };
        let of = |table: &Table| match &table.columns[0].data {
            Data::List { offsets, items } => {
                assert_eq!(*offsets, [0, items.len() as u32]);
                numbers(&items.data)
            }
            other => panic!("{other:?}"),
        };
        let items = Box::new(Column { data: Data::Int(Vec::new()), ..Column::default() });
        let list = Column { data: Data::List { offsets: vec![0], items }, ..Column::default() };
        let mut table = Table { rows: 1, columns: vec![list], hidden: Vec::new() };
        let mut batches = ItemBatches::of(&table.columns[0], first_items);
        let mut found = Vec::new();
        let mut bytes = 0;
        for number in 0..len {
            match batches.begin_item(&mut bytes) {
                Data::Int(numbers) => numbers.push(number),
                other => panic!("{other:?}"),
            }
            bytes += item_bytes;
            batches.end_item(&mut bytes);
            while let Some(part) = batches.next(&mut table) {
                found.push(match part {
                    RowsPart::First(rows) => of(&rows),
                    RowsPart::Items(batch) => {
                        assert!(!batch.is_last && batch.bytes == batch.len as usize * item_bytes);
                        numbers(&batch.items.data)
                    }
                });
            }
        }
        match batches.end(&mut table, 0, bytes) {
            Some(batch) => {
                assert!(batch.is_last);
                found.push(numbers(&batch.items.data));
                (found, None)
            }
            None => (found, Some(of(&table))),
        }
    }

    #[test]
    fn the_first_items_leave_when_they_are_there_and_the_others_in_batches() {
        let range = |of: std::ops::Range<i64>| of.collect::<Vec<i64>>();
        assert_eq!(parts(5, Some(2), 8), (vec![range(0..2), range(2..5)], None));
        assert_eq!(parts(5, Some(5), 8), (vec![range(0..5), vec![]], None));
        assert_eq!(parts(3, Some(0), 8), (vec![vec![], range(0..3)], None));
        let max = BATCH_ITEMS_MAX as i64;
        let long = vec![range(0..1), range(1..1 + max), range(1 + max..max + 3)];
        assert_eq!(parts(max + 3, Some(1), 8), (long, None));
        let large = vec![range(0..1), range(1..3), range(3..4)];
        assert_eq!(parts(4, Some(1), CHUNK_BYTES / 2), (large, None));
    }

    #[test]
    fn a_list_of_fewer_items_leaves_whole() {
        for (len, first_items) in [(4, Some(5)), (0, Some(0)), (0, Some(1)), (700, None)] {
            assert_eq!(parts(len, first_items, 8), (vec![], Some((0..len).collect())), "{len}");
        }
    }
}
