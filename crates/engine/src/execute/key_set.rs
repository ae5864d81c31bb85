//! Distinct keys of the rows below which nodes hang.
//!
//! Nodes that hang below one set and are asked by the same fields have one [`KeySet`]: its keys are gathered once for all of them.
//!
//! **Invariant:** keys have the order in which they were found; the number of a key is its place in that order.
//!
//! **Cost:** a key that is one number greater than all before it, as those of ordered rows and of objects are, costs a comparison;
//! from the first other one on each row costs a hash. Distinct keys are stored once.

use crate::keys::Interner;
use crate::plan::ParentKeys;
use crate::plan::output_plan::SelectionSetId;
use crate::rows::{Bitmap, Column, Data, NO_PLACE, Table};

/// There is room for so many keys that are hashed before it is known how many differ.
const KEYS_AHEAD: usize = 64;

/// Keys that differ: a column per field.
#[derive(Default)]
pub(crate) struct DistinctKeys {
    pub(crate) columns: Vec<Column>,
    /// Their number.
    pub(crate) rows: u32,
}

/// Keys that are being gathered.
pub(super) struct KeySet<'w> {
    parent: &'w ParentKeys,
    keys: DistinctKeys,
    /// Empty while the keys are ascending.
    distinct: Interner,
    /// True while each key is one number, and greater than the one before it.
    is_ascending: bool,
}

impl<'w> KeySet<'w> {
    /// No keys yet of those that `parent` says.
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
    pub(super) fn hidden(&self) -> &'w [u32] {
        &self.parent.hidden
    }

    /// True if nodes below `parent` are asked by these keys.
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
        for row in places.len()..rows {
            places.push(if dead.get(row) { NO_PLACE } else { self.place(&table.hidden, row) });
        }
        places
    }

    /// Gathers rows up to the first whose key is no number, or a smaller one than the last.
    fn ascend(&mut self, table: &Table, dead: &Bitmap, places: &mut Vec<u32>) {
        let (Some(column), [own]) =
            (table.hidden.get(self.parent.hidden[0] as usize), &mut *self.keys.columns)
        else {
            return;
        };
        let Data::Int(numbers) = &column.data else { return };
        if matches!(own.data, Data::Empty) {
            own.data = Data::Int(Vec::with_capacity(numbers.len()));
        }
        let Data::Int(own) = &mut own.data else { return };
        let mut last = own.last().copied();
        // A column shorter than its table has no value there: the writer tells the client.
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
    }

    /// Hashes the keys gathered so far, as those that follow are not ascending.
    fn intern_ascending(&mut self) {
        self.is_ascending = false;
        let Some(Column { data: Data::Int(numbers), .. }) = self.keys.columns.first() else { return };
        self.distinct.reserve(numbers.len() + KEYS_AHEAD, size_of_val(&**numbers));
        for number in numbers {
            self.distinct.write().extend_from_slice(&number.to_le_bytes());
            self.distinct.intern_written();
        }
    }

    /// The number of the key of `row`.
    fn place(&mut self, columns: &[Column], row: usize) -> u32 {
        let (hidden, distinct) = (&*self.parent.hidden, &mut self.distinct);
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

/// Appends what tells the value apart; `false` if it is null or no leaf.
fn encode(column: &Column, row: usize, out: &mut Vec<u8>) -> bool {
    if column.nulls.get(row) {
        return false;
    }
    // A column shorter than its table has no value there: the writer tells the client.
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
    use crate::plan::output_plan::PlanNodeId;
    use proptest::prelude::*;

    /// Tables of one hidden column, gathered; `None` is null, and the second says whether the row is dead.
    fn gathered(tables: &[Vec<(Option<i64>, bool)>]) -> (Vec<Vec<u32>>, Vec<i64>) {
        let parent = ParentKeys { node: PlanNodeId(0), set: SelectionSetId(0), hidden: vec![0], required: 1 };
        let mut keys = KeySet::new(&parent);
        let places = tables.iter().map(|rows| {
            let (mut column, mut dead) = (Column::default(), Bitmap::default());
            column.data = Data::Int(rows.iter().map(|it| it.0.unwrap_or_default()).collect());
            for (row, (number, is_dead)) in rows.iter().enumerate() {
                if number.is_none() {
                    column.nulls.set(row);
                }
                if *is_dead {
                    dead.set(row);
                }
            }
            let table = Table { rows: rows.len() as u32, columns: Vec::new(), hidden: vec![column] };
            keys.places(&table, &dead)
        });
        let places = places.collect();
        let DistinctKeys { columns, rows } = keys.finish();
        let numbers = match &columns[0].data {
            Data::Int(numbers) => numbers.clone(),
            _ => Vec::new(),
        };
        assert_eq!((numbers.len(), columns[0].nulls.is_empty()), (rows as usize, true));
        (places, numbers)
    }

    /// The same by the book.
    fn expected(tables: &[Vec<(Option<i64>, bool)>]) -> (Vec<Vec<u32>>, Vec<i64>) {
        let mut numbers = Vec::new();
        let mut place = |(number, is_dead): &(Option<i64>, bool)| {
            let Some(number) = number.filter(|_| !is_dead) else { return NO_PLACE };
            let known = numbers.iter().position(|it| *it == number);
            known.unwrap_or_else(|| {
                numbers.push(number);
                numbers.len() - 1
            }) as u32
        };
        let places = tables.iter().map(|rows| rows.iter().map(&mut place).collect()).collect();
        (places, numbers)
    }

    proptest! {
        #[test]
        fn numbers_are_numbered_in_the_order_they_are_found(
            mut tables in prop::collection::vec(
                prop::collection::vec((prop::option::weighted(0.9, -3..20_i64), prop::bool::weighted(0.1)), 0..12),
                0..4,
            ),
            sorted in 0..5_usize,
        ) {
            tables.iter_mut().take(sorted).for_each(|it| it.sort());
            prop_assert_eq!(gathered(&tables), expected(&tables));
        }
    }

    #[test]
    fn ascending_numbers_are_not_hashed() {
        let before = crate::keys::hashed_by_this_thread();
        let rows = |numbers: &[i64]| numbers.iter().map(|&it| (Some(it), false)).collect::<Vec<_>>();
        let (places, numbers) = gathered(&[rows(&[1, 1, 4]), rows(&[4, 9])]);
        assert_eq!((places, numbers), (vec![vec![0, 0, 1], vec![1, 2]], vec![1, 4, 9]));
        assert_eq!(crate::keys::hashed_by_this_thread(), before);
        let (places, numbers) = gathered(&[rows(&[1, 4]), rows(&[5, 1, 7])]);
        assert_eq!((places, numbers), (vec![vec![0, 1], vec![2, 0, 3]], vec![1, 4, 5, 7]));
    }
}
