//! The rows of one answer, found by their level and, below the top, by their parent.
//!
//! A statement of several arms says in its first column which arm a row belongs to; a row of a nested arm carries the key
//! of its parent, as the parent's own bytes. Rows of the same parent are chained in the order in which they came.
//!
//! **Cost:** one pass over the answer, and a hash where the parent is another than the row's before: rows of one parent mostly
//! come together. Some buffers per arm, none per row. A statement of one arm is walked as it came.

use super::asked_levels::Asked;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use smallvec::{SmallVec, smallvec};
use std::hash::{BuildHasher, Hasher};
use weir_postgres::rows::{Row, Rows, RowsIter};

/// No more rows in a chain.
const END: u32 = u32::MAX;

/// A key of a parent: the bytes of its columns. Nothing is equal to a null, but an aggregate has a row below one.
pub(crate) type Key<'r> = SmallVec<[Option<&'r [u8]>; 2]>;

/// The rows of one answer by level and parent.
pub(crate) struct ResultSet<'r> {
    pub(crate) asked: &'r Asked,
    rows: &'r Rows,
    /// Empty if the statement has one arm and no parents.
    arms: Vec<ArmRows<'r>>,
    /// The answer to a separate read below these rows.
    below: Option<Box<Self>>,
}

#[derive(Default)]
pub(crate) struct ArmRows<'r> {
    rows: Vec<Filed<'r>>,
    chains: HashTable<Chain>,
}

/// A row, and the place of the next row of the same parent.
pub(crate) struct Filed<'r> {
    row: Row<'r>,
    next: u32,
}

/// The rows of one parent.
struct Chain {
    hash: u64,
    first: u32,
    /// A row near the end of the chain, where the search for the end starts.
    last: u32,
}

impl<'r> ResultSet<'r> {
    pub(crate) fn new(asked: &'r Asked, rows: &'r Rows) -> Self {
        let mut set = Self { asked, rows, arms: Vec::new(), below: None };
        if !asked.is_plain() {
            set.arms.resize_with(asked.arms.len(), ArmRows::default);
            // The key of each arm's last row; empty before the first.
            let mut keys: SmallVec<[Key<'r>; 4]> = smallvec![Key::new(); asked.arms.len()];
            for row in rows.iter() {
                if let Some(arm) = asked.arm_of_row(row) {
                    set.arms[arm].file(row, &asked.arms[arm].keys, &mut keys[arm]);
                }
            }
        }
        set
    }

    /// Attaches the answer to the read of the levels below these rows, in their order.
    pub(crate) fn with_children(mut self, below: Option<Self>) -> Self {
        self.below = below.map(Box::new);
        self
    }

    /// The answer that holds the rows of `level`, and their arm there.
    pub(crate) fn place(&self, level: u32) -> Option<(&Self, usize)> {
        match (self.asked.arm(level), &self.below) {
            (Some(arm), _) => Some((self, arm)),
            (None, Some(below)) => below.place(level),
            (None, None) => None,
        }
    }

    pub(crate) fn all(&self, arm: usize) -> RowsOf<'_> {
        match self.arms.get(arm) {
            Some(rows) => RowsOf::Arm(rows.rows.iter()),
            None => RowsOf::Answer(self.rows.iter()),
        }
    }

    /// The rows of an arm whose parent has `key`.
    pub(crate) fn rows_with_key(&self, arm: usize, key: &[Option<&[u8]>]) -> RowsOf<'_> {
        let Some(rows) = self.arms.get(arm) else { return RowsOf::None };
        let keys = &self.asked.arms[arm].keys;
        let hash = hash(key);
        let same =
            |chain: &Chain| chain.hash == hash && is_key(rows.rows[chain.first as usize].row, keys, key);
        match rows.chains.find(hash, same) {
            Some(chain) => RowsOf::Chain(rows, chain.first),
            None => RowsOf::None,
        }
    }

    /// The rows of an arm whose parent was number `number`, from zero, of those that were given.
    pub(crate) fn of_parent(&self, arm: usize, number: usize) -> RowsOf<'_> {
        if self.asked.arms[arm].keys.is_empty() {
            // There is only one parent.
            return self.all(arm);
        }
        let ordinal = (number as i64 + 1).to_be_bytes();
        self.rows_with_key(arm, &[Some(&ordinal)])
    }
}

impl<'r> ArmRows<'r> {
    /// Adds a row to the chain of its parent, whose key is in the columns `keys`; `last` is the key of the row before.
    fn file(&mut self, row: Row<'r>, keys: &[u16], last: &mut Key<'r>) {
        let place = self.rows.len() as u32;
        self.rows.push(Filed { row, next: END });
        if keys.is_empty() {
            return;
        }
        if is_key(row, keys, last) {
            self.rows[place as usize - 1].next = place;
            return;
        }
        let key: Key<'r> = keys.iter().map(|&it| row.column(usize::from(it)).flatten()).collect();
        let hash = hash(&key);
        let rows = &self.rows;
        let same = |chain: &Chain| chain.hash == hash && is_key(rows[chain.first as usize].row, keys, &key);
        match self.chains.find_mut(hash, same) {
            Some(chain) => {
                let mut end = chain.last as usize;
                while self.rows[end].next != END {
                    end = self.rows[end].next as usize;
                }
                self.rows[end].next = place;
                chain.last = place;
            }
            None => {
                self.chains.insert_unique(hash, Chain { hash, first: place, last: place }, |it| it.hash);
            }
        }
        *last = key;
    }
}

fn hash(key: &[Option<&[u8]>]) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    for part in key {
        hasher.write(part.unwrap_or_default());
    }
    hasher.finish()
}

#[inline]
fn is_key(row: Row<'_>, columns: &[u16], key: &[Option<&[u8]>]) -> bool {
    let is_part = |at: usize| row.column(usize::from(columns[at])).flatten() == key[at];
    columns.len() == key.len() && (0..key.len()).all(is_part)
}

/// Rows in their order.
pub(crate) enum RowsOf<'a> {
    /// None at all.
    None,
    /// Rows of a statement with one arm.
    Answer(RowsIter<'a>),
    /// Rows of one arm.
    Arm(std::slice::Iter<'a, Filed<'a>>),
    /// Rows of one parent, from this one on.
    Chain(&'a ArmRows<'a>, u32),
}

impl<'a> Iterator for RowsOf<'a> {
    type Item = Row<'a>;

    #[inline]
    fn next(&mut self) -> Option<Row<'a>> {
        match self {
            Self::None => None,
            Self::Answer(rows) => rows.next(),
            Self::Arm(rows) => rows.next().map(|it| it.row),
            Self::Chain(arm, at) => {
                let filed = arm.rows.get(*at as usize)?;
                *at = filed.next;
                Some(filed.row)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::values::decode::{Choices, Decoder};
    use weir_relational::catalog::postgres_types::{Types, oid};
    use weir_relational::dialect::Floats;
    use weir_relational::sql::assemble::{Arm, Assembly};

    /// Rows below given parents: a key, and a letter that tells the row.
    fn rows(of: &[(Option<&str>, &str)]) -> Rows {
        let mut bytes = Vec::new();
        for &(key, letter) in of {
            let mut body = vec![0, 2];
            for value in [key, Some(letter)] {
                body.extend_from_slice(&value.map_or(-1, |it| it.len() as i32).to_be_bytes());
                body.extend_from_slice(value.unwrap_or_default().as_bytes());
            }
            bytes.push(b'D');
            bytes.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
            bytes.extend_from_slice(&body);
        }
        Rows::new(bytes.into(), of.len() as u64)
    }

    #[test]
    fn rows_of_a_parent_keep_their_order_however_they_are_mixed() {
        let assembly = Assembly {
            sql: "S".to_owned(),
            parameters: Vec::new(),
            oids: Vec::new(),
            columns: vec![oid::TEXT, oid::TEXT],
            arms: vec![Arm { level: 0, columns: vec![1], keys: vec![0] }],
            tables: Vec::new(),
            merged: None,
        };
        let choices = Choices { utc: true, stringify: false, floats: Floats::AsPostgres, utf8: true };
        let types = Types::builtin();
        let asked = Asked::new(assembly, 1, true, &types, |_, it| Decoder::new(&types, it, choices));
        let one = Some("1");
        let two = Some("2");
        let mixed = [
            (one, "a"),
            (one, "b"),
            (two, "c"),
            (None, "d"),
            (two, "e"),
            (one, "f"),
            (one, "g"),
            (two, "h"),
            (one, "i"),
        ];
        let rows = rows(&mixed);
        let set = ResultSet::new(&asked, &rows);
        let letters = |key: Option<&str>| -> Vec<u8> {
            set.rows_with_key(0, &[key.map(str::as_bytes)])
                .filter_map(|row| Some(row.column(1)??[0]))
                .collect()
        };
        assert_eq!(
            [letters(one), letters(two), letters(None), letters(Some("3"))],
            [b"abfgi".to_vec(), b"ceh".to_vec(), b"d".to_vec(), Vec::new()]
        );
        assert_eq!(set.all(0).count(), mixed.len());
    }
}
