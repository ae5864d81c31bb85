//! Distinct keys of the parents of a node.
//!
//! Nodes below one set with the same key fields share one [`KeySet`]: their keys are gathered once.
//!
//! **Invariant:** keys have the order in which they were found; the number of a key is its place in that order.
//!
//! **Cost:** a hash per row. Keys of one integer cost a comparison per row as long as they ascend, as keys of ordered rows and numbers of
//! objects do. Distinct keys are stored once.

use crate::answer::output_plan::SelectionSetId;
use crate::answer::rows::{Bitmap, Column, Data, NO_PLACE, Table};
use crate::caching::keys::Interner;
use crate::plan::ParentKeys;

/// The number of keys for which there is room before the first is seen.
const KEYS_AHEAD: usize = 64;

/// Keys, each once: a column per field.
#[derive(Default)]
pub(crate) struct DistinctKeys {
    pub(crate) columns: Vec<Column>,
    /// Their number.
    pub(crate) rows: u32,
}

/// Gathers keys.
pub(super) struct KeySet<'w> {
    parent: &'w ParentKeys,
    keys: DistinctKeys,
    /// The keys by their bytes; empty while they ascend.
    distinct: Interner,
    /// True while the keys are single integers, found in ascending order (a key may repeat the last one).
    is_ascending: bool,
}

impl<'w> KeySet<'w> {
    /// An empty set of the keys that the fields in `parent` give.
    pub(super) fn new(parent: &'w ParentKeys) -> Self {
        let keys = DistinctKeys { columns: vec![Column::default(); parent.hidden.len()], rows: 0 };
        let is_ascending = parent.hidden.len() == 1 && parent.required == 1;
        Self { parent, keys, distinct: Interner::default(), is_ascending }
    }

    /// The set whose rows have the keys.
    pub(super) fn set(&self) -> SelectionSetId {
        self.parent.set
    }

    /// Places of the keys in [`Table::hidden`].
    pub(super) fn hidden_columns(&self) -> &'w [u32] {
        &self.parent.hidden
    }

    /// True if the keys of `parent` are those of this set.
    pub(super) fn serves(&self, parent: &ParentKeys) -> bool {
        let own = self.parent;
        own.set == parent.set && own.hidden == parent.hidden && own.required == parent.required
    }

    /// The keys that were gathered.
    pub(super) fn finish(self) -> DistinctKeys {
        self.keys
    }

    /// The number of each row's key; [`NO_PLACE`] for rows that are `dead` and those with a null among the keys that are required.
    pub(super) fn places(&mut self, table: &Table, dead: &Bitmap) -> Vec<u32> {
        let rows = table.rows as usize;
        let mut places = Vec::with_capacity(rows);
        if self.is_ascending {
            self.ascend(table, dead, &mut places);
            if places.len() < rows {
                self.intern_ascending();
            }
        }
        let left = (rows - places.len()).min(KEYS_AHEAD);
        if left > 0 {
            self.distinct.reserve(left, left * size_of::<i64>());
        }
        for row in places.len()..rows {
            places.push(if dead.get(row) { NO_PLACE } else { self.place(&table.hidden, row) });
        }
        places
    }

    /// Gathers rows up to the first whose key is smaller than the last, or none if keys are no integers.
    fn ascend(&mut self, table: &Table, dead: &Bitmap, places: &mut Vec<u32>) {
        let hidden = self.parent.hidden[0] as usize;
        let (Some(column), [keys]) = (table.hidden.get(hidden), &mut *self.keys.columns) else { return };
        let numbers = match &column.data {
            Data::Int(numbers) => &numbers[..],
            // All rows are null.
            Data::Empty => &[],
            _ => return,
        };
        let mut own = match std::mem::take(&mut keys.data) {
            Data::Int(own) => own,
            _ => Vec::with_capacity(numbers.len().min(KEYS_AHEAD)),
        };
        let mut last = own.last().copied();
        for row in 0..table.rows as usize {
            let number = numbers.get(row).filter(|_| !dead.get(row) && !column.nulls.get(row)).copied();
            if number > last {
                own.extend(number);
                last = number;
            } else if number.is_some() && number < last {
                break;
            }
            places.push(if number.is_some() { own.len() as u32 - 1 } else { NO_PLACE });
        }
        self.keys.rows = own.len() as u32;
        if !own.is_empty() {
            keys.data = Data::Int(own);
        }
    }

    /// Hashes the keys that were found in ascending order.
    fn intern_ascending(&mut self) {
        self.is_ascending = false;
        let Some(Column { data: Data::Int(numbers), .. }) = self.keys.columns.first() else { return };
        self.distinct.reserve(numbers.len(), size_of_val(&**numbers));
        for number in numbers {
            self.distinct.write().extend_from_slice(&number.to_le_bytes());
            self.distinct.intern_written();
        }
    }

    /// The number of the key of `row`.
    fn place(&mut self, columns: &[Column], row: usize) -> u32 {
        let hidden = &*self.parent.hidden;
        let distinct = &mut self.distinct;
        let (required, optional) = hidden.split_at(self.parent.required.min(hidden.len()));
        let encoded =
            |&at: &u32| columns.get(at as usize).is_some_and(|it| encode(it, row, distinct.write()));
        let is_whole = required.iter().all(encoded);
        for &at in optional.iter().filter(|_| is_whole) {
            let start = distinct.write().len();
            distinct.write().push(1);
            if !columns.get(at as usize).is_some_and(|it| encode(it, row, distinct.write())) {
                distinct.write().truncate(start);
                distinct.write().push(0);
            }
        }
        if !is_whole {
            distinct.discard();
            return NO_PLACE;
        }
        let (place, is_new) = distinct.intern_written();
        if is_new {
            let nothing = Column::default();
            for (&at, own) in hidden.iter().zip(&mut self.keys.columns) {
                let from = columns.get(at as usize).unwrap_or(&nothing);
                own.push_from(place as usize, from, row);
            }
            self.keys.rows = place + 1;
        }
        place
    }
}

/// Appends an encoding of the value that is equal only for equal values; `false` if it is null or no leaf.
fn encode(column: &Column, row: usize, out: &mut Vec<u8>) -> bool {
    if column.nulls.get(row) {
        return false;
    }
    // A column shorter than its table lacks the value: the writer reports it.
    match &column.data {
        Data::Bool(values) => values.get(row).map(|&value| out.push(u8::from(value))),
        Data::Int(values) => values.get(row).map(|value| out.extend_from_slice(&value.to_le_bytes())),
        Data::Float(values) => {
            values.get(row).map(|value| out.extend_from_slice(&value.to_bits().to_le_bytes()))
        }
        Data::Text(texts) | Data::Json(texts) => texts.find(row).map(|text| {
            out.extend_from_slice(&(text.len() as u32).to_le_bytes());
            out.extend_from_slice(text);
        }),
        Data::Empty | Data::List { .. } | Data::Object(_) | Data::Abstract(_) | Data::Foreign(_) => None,
    }
    .is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::output_plan::PlanNodeId;
    use crate::answer::rows::Texts;
    use proptest::prelude::*;

    /// A value of a key, by the kind of its column.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    enum KeyKind {
        Int,
        Text,
        /// A column of nulls, which has no kind.
        Empty,
    }

    /// Rows of a table: the values of two keys, and whether the row is dead.
    type KeyRows = Vec<(Option<i64>, Option<i64>, bool)>;

    fn column(kind: KeyKind, values: impl Iterator<Item = Option<i64>>) -> Column {
        let mut column = Column::default();
        let mut numbers = Vec::new();
        let mut texts = Texts::default();
        for (row, value) in values.enumerate() {
            if value.is_none() || kind == KeyKind::Empty {
                column.nulls.set(row);
            }
            numbers.push(value.unwrap_or_default());
            texts.push(value.unwrap_or_default().to_string().as_bytes());
        }
        column.data = match kind {
            KeyKind::Int => Data::Int(numbers),
            KeyKind::Text => Data::Text(texts),
            KeyKind::Empty => Data::Empty,
        };
        column
    }

    fn values(column: &Column, rows: u32) -> Vec<Option<i64>> {
        let value = |row: usize| match &column.data {
            _ if column.nulls.get(row) => None,
            Data::Int(numbers) => Some(numbers[row]),
            Data::Text(texts) => Some(std::str::from_utf8(texts.get(row)).unwrap().parse().unwrap()),
            other => panic!("{other:?}"),
        };
        (0..rows as usize).map(value).collect()
    }

    /// The numbers of the keys in `tables`, and the keys. There are `required` keys of the first column and, if `is_double`, the second.
    fn gathered(
        tables: &[(KeyKind, KeyRows)],
        (required, is_double): (usize, bool),
    ) -> (Vec<Vec<u32>>, Vec<Vec<Option<i64>>>) {
        let hidden = if is_double { vec![0, 1] } else { vec![0] };
        let parent = ParentKeys { node: PlanNodeId(0), set: SelectionSetId(0), hidden, required };
        let mut keys = KeySet::new(&parent);
        let places = tables.iter().map(|(kind, rows)| {
            let mut dead = Bitmap::default();
            rows.iter().enumerate().filter(|it| it.1.2).for_each(|it| dead.set(it.0));
            let first = column(*kind, rows.iter().map(|it| it.0));
            let hidden = vec![first, column(KeyKind::Int, rows.iter().map(|it| it.1))];
            keys.places(&Table { rows: rows.len() as u32, columns: Vec::new(), hidden }, &dead)
        });
        let places = places.collect();
        let DistinctKeys { columns, rows } = keys.finish();
        (places, columns.iter().map(|it| values(it, rows)).collect())
    }

    /// The same by the book.
    fn expected(
        tables: &[(KeyKind, KeyRows)],
        (required, is_double): (usize, bool),
    ) -> (Vec<Vec<u32>>, Vec<Vec<Option<i64>>>) {
        let mut keys: Vec<Vec<Option<i64>>> = Vec::new();
        let mut place = |kind: KeyKind, (first, second, is_dead): &(Option<i64>, Option<i64>, bool)| {
            let mut key = vec![first.filter(|_| kind != KeyKind::Empty)];
            key.extend(is_double.then_some(*second));
            if *is_dead || key[..required].contains(&None) {
                return NO_PLACE;
            }
            let known = keys.iter().position(|it| *it == key);
            known.unwrap_or_else(|| {
                keys.push(key);
                keys.len() - 1
            }) as u32
        };
        let places = tables.iter().map(|(kind, rows)| rows.iter().map(|it| place(*kind, it)).collect());
        let places = places.collect();
        let columns = if is_double { 2 } else { 1 };
        (places, (0..columns).map(|at| keys.iter().map(|it| it[at]).collect()).collect())
    }

    fn tables() -> impl Strategy<Value = Vec<(KeyKind, KeyRows)>> {
        let value = || prop::option::weighted(0.9, -3..20_i64);
        let rows = prop::collection::vec((value(), value(), prop::bool::weighted(0.1)), 0..12);
        let rows = (rows, any::<bool>()).prop_map(|(mut rows, is_sorted)| {
            if is_sorted {
                rows.sort_unstable();
            }
            rows
        });
        let kind = prop::sample::select(vec![KeyKind::Int, KeyKind::Text]);
        let table = (prop::bool::weighted(0.2), rows);
        (kind, prop::collection::vec(table, 0..5)).prop_map(|(kind, tables)| {
            let table = |(is_empty, rows)| (if is_empty { KeyKind::Empty } else { kind }, rows);
            tables.into_iter().map(table).collect()
        })
    }

    proptest! {
        #[test]
        fn keys_are_numbered_in_the_order_they_are_found(
            tables in tables(),
            form in prop::sample::select(vec![(1, false), (0, false), (1, true), (2, true), (0, true)]),
        ) {
            prop_assert_eq!(gathered(&tables, form), expected(&tables, form));
        }
    }

    #[cfg(debug_assertions)]
    #[test]
    fn ascending_integers_are_not_hashed() {
        let rows = |numbers: &[i64]| -> (KeyKind, KeyRows) {
            (KeyKind::Int, numbers.iter().map(|&it| (Some(it), None, false)).collect())
        };
        let all = |numbers: &[i64]| vec![numbers.iter().copied().map(Some).collect::<Vec<_>>()];
        let before = crate::caching::keys::hashed_by_this_thread();
        let nulls = (KeyKind::Empty, vec![(None, None, false)]);
        let tables = [nulls, rows(&[1, 1, 4]), rows(&[4, 9])];
        let places = vec![vec![NO_PLACE], vec![0, 0, 1], vec![1, 2]];
        assert_eq!(gathered(&tables, (1, false)), (places, all(&[1, 4, 9])));
        assert_eq!(crate::caching::keys::hashed_by_this_thread(), before);
        let tables = [rows(&[1, 4]), rows(&[5, 1, 7])];
        assert_eq!(gathered(&tables, (1, false)), (vec![vec![0, 1], vec![2, 0, 3]], all(&[1, 4, 5, 7])));
        assert_eq!(crate::caching::keys::hashed_by_this_thread(), before + 5);
    }
}
