//! Collects the changes of one transaction, as tables and keys.
//!
//! **Invariant:** what a commit holds is bounded: of a table with more than [`KEYS_MAX`] changed rows, or once all keys take
//! [`KEY_BYTES_MAX`], only the table is told.
//!
//! **Cost:** the texts of a changed row's key are copied; nothing else of the row is looked at.

use super::pgoutput::{DescribedRelation, Malformed, Message, Tuple, Value, decode};
use super::streamed_tables::{Tables, ToldTable};
use hashbrown::{HashMap, HashSet};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of row keys reported for one table.
const KEYS_MAX: usize = 10_000;
/// Bytes of the keys of one transaction.
const KEY_BYTES_MAX: usize = 4 << 20;

/// The texts of a key's columns, in the order of the key.
pub type KeyTexts = Box<[Box<str>]>;

/// The changes of a committed transaction.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// The tables that it changed, each once.
    pub changes: Vec<TableChange>,
    /// True if it may have changed any other table too.
    pub is_unknown: bool,
}

/// A table that a transaction changed.
#[derive(Debug, PartialEq, Eq)]
pub struct TableChange {
    pub table: Arc<ToldTable>,
    /// The keys of all rows that were changed, before and after; `None`: any row.
    pub keys: Option<Vec<KeyTexts>>,
}

/// A commit, by the number of its transaction.
pub(super) type Committed = (u32, Arc<Commit>);

/// A message, taken in.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// The transaction goes on, or there is none.
    Nothing,
    /// A transaction committed, with the position behind it; `None`: it changed none of the tables.
    Commit(Option<Committed>, u64),
}

/// Changes of the transaction that comes in, and the relations that are known.
pub(super) struct Collector {
    tables: Arc<Tables>,
    relations: HashMap<u32, Vec<KeyColumns>>,
    xid: u32,
    /// Keys of changed rows by the place of their table; `None`: any row.
    changed: BTreeMap<usize, Option<HashSet<KeyTexts>>>,
    key_bytes: usize,
    is_unknown: bool,
}

/// The columns of a table's key in the rows of a relation.
struct KeyColumns {
    /// The place of the table.
    table: usize,
    /// The places of the columns; `None`: the relation lacks one, or the table has no key.
    places: Option<Vec<usize>>,
    /// True if all key columns are part of the replica identity.
    in_identity: bool,
}

impl Collector {
    pub(super) fn new(tables: Arc<Tables>) -> Self {
        let relations = HashMap::new();
        let changed = BTreeMap::new();
        Self { tables, relations, xid: 0, changed, key_bytes: 0, is_unknown: false }
    }

    /// Takes a message of the plugin.
    /// # Errors
    /// The message is malformed.
    pub(super) fn take(&mut self, message: &[u8]) -> Result<Taken, Malformed> {
        match decode(message)? {
            Message::Begin { xid } => {
                self.xid = xid;
                self.clear();
            }
            Message::Commit { end } => return Ok(Taken::Commit(self.commit(), end)),
            Message::Relation(relation) => self.relation(&relation),
            Message::Insert { relation, new } => self.change(relation, |columns| vec![columns.key(&new)]),
            Message::Update { relation, old, new } => self.change(relation, |columns| match &old {
                _ if !columns.in_identity => vec![None],
                Some(old) => vec![columns.key(old), columns.key(&new)],
                None => vec![columns.key(&new)],
            }),
            Message::Delete { relation, old } => {
                self.change(
                    relation,
                    |columns| if columns.in_identity { vec![columns.key(&old)] } else { vec![None] },
                )
            }
            Message::Truncate { relations } => {
                relations.into_iter().for_each(|it| self.change(it, |_| vec![None]));
            }
            Message::Other => {}
        }
        Ok(Taken::Nothing)
    }

    /// Takes in the beginning of a message that is too large to be held.
    pub(super) fn take_cut(&mut self, beginning: &[u8]) {
        match beginning.split_first_chunk::<5>() {
            Some(([b'I' | b'U' | b'D', oid @ ..], _)) => {
                self.change(u32::from_be_bytes(*oid), |_| vec![None])
            }
            _ => self.is_unknown = true,
        }
    }

    fn clear(&mut self) {
        self.changed.clear();
        (self.key_bytes, self.is_unknown) = (0, false);
    }

    fn commit(&mut self) -> Option<Committed> {
        let changed = std::mem::take(&mut self.changed);
        let change = |(at, keys): (usize, Option<HashSet<KeyTexts>>)| TableChange {
            table: Arc::clone(&self.tables.told[at]),
            keys: keys.map(|it| it.into_iter().collect()),
        };
        let commit =
            Commit { changes: changed.into_iter().map(change).collect(), is_unknown: self.is_unknown };
        self.clear();
        let is_told = commit.is_unknown || !commit.changes.is_empty();
        is_told.then(|| (self.xid, Arc::new(commit)))
    }

    /// Notes where the keys of the tables stand in the rows of a relation.
    fn relation(&mut self, relation: &DescribedRelation<'_>) {
        let place = |name: &String| relation.columns.iter().position(|it| it.name == name.as_bytes());
        let columns = |&table: &usize| {
            let key = &self.tables.told[table].key;
            let places: Option<Vec<usize>> = key.iter().map(place).collect();
            let places = places.filter(|it| !it.is_empty());
            let in_identity = places.iter().flatten().all(|&it| relation.columns[it].is_identity);
            KeyColumns { table, places, in_identity }
        };
        let columns = self.tables.owners(relation.oid).iter().map(columns).collect();
        self.relations.insert(relation.oid, columns);
    }

    /// Rows of the relation `oid` were changed, those with the keys that `keys` finds; `None`: any.
    fn change(&mut self, oid: u32, keys: impl Fn(&KeyColumns) -> Vec<Option<KeyTexts>>) {
        let relation = self.relations.get(&oid).map_or(&[][..], Vec::as_slice);
        // A partition that was added meanwhile, or a table.
        self.is_unknown |= relation.is_empty();
        for columns in relation {
            let found = self.changed.entry(columns.table).or_insert_with(|| Some(HashSet::new()));
            let Some(known) = found else { continue };
            let mut is_any = false;
            for key in keys(columns) {
                match key {
                    Some(key) => {
                        self.key_bytes +=
                            key.iter().map(|it| it.len() + size_of::<Box<str>>()).sum::<usize>();
                        known.insert(key);
                    }
                    None => is_any = true,
                }
            }
            if is_any || known.len() > KEYS_MAX || self.key_bytes > KEY_BYTES_MAX {
                *found = None;
            }
        }
    }
}

impl KeyColumns {
    /// The key in a row; `None` if it is not whole there.
    fn key(&self, row: &Tuple<'_>) -> Option<KeyTexts> {
        let text = |&at: &usize| match row.0.get(at)? {
            Value::Text(text) => Some(std::str::from_utf8(text).ok()?.into()),
            Value::Null | Value::Unchanged | Value::Binary(_) => None,
        };
        self.places.as_ref()?.iter().map(text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::streamed_tables::tests::tables;
    use super::*;

    /// Bytes of messages.
    fn begin(xid: u32) -> Vec<u8> {
        [&b"B"[..], &[0; 16], &xid.to_be_bytes()].concat()
    }

    fn commit_message() -> Vec<u8> {
        [&b"C\0"[..], &[0; 8], &9_u64.to_be_bytes(), &[0; 8]].concat()
    }

    fn relation(oid: u8, columns: &[(u8, &str)]) -> Vec<u8> {
        let columns = columns.iter().map(|(flag, name)| [&[*flag], name.as_bytes(), &[0; 9]].concat());
        [
            &[b'R', 0, 0, 0, oid][..],
            b"public\0x\0d",
            &[0, columns.len() as u8],
            &columns.collect::<Vec<_>>().concat(),
        ]
        .concat()
    }

    fn row(tag: u8, values: &[&str]) -> Vec<u8> {
        let value = |it: &&str| match *it {
            "-" => b"n".to_vec(),
            text => [&b"t\0\0\0"[..], &[text.len() as u8], text.as_bytes()].concat(),
        };
        [&[tag, 0, values.len() as u8][..], &values.iter().map(value).collect::<Vec<_>>().concat()].concat()
    }

    fn change(tag: u8, oid: u8, rows: &[Vec<u8>]) -> Vec<u8> {
        [&[tag, 0, 0, 0, oid][..], &rows.concat()].concat()
    }

    /// The tables and keys of the transaction: `table:key,key`, or the table alone.
    fn told(collector: &mut Collector, changes: &[Vec<u8>]) -> Vec<String> {
        collector.take(&begin(7)).unwrap();
        for it in changes {
            assert_eq!(collector.take(it), Ok(Taken::Nothing));
        }
        let Ok(Taken::Commit(committed, 9)) = collector.take(&commit_message()) else {
            panic!("it is committed")
        };
        let Some((7, commit)) = committed else { return Vec::new() };
        let mut told: Vec<String> = commit.changes.iter().map(words).collect();
        told.extend(commit.is_unknown.then(|| "unknown".to_owned()));
        told
    }

    fn words(change: &TableChange) -> String {
        let name = &change.table.name.name;
        let Some(keys) = &change.keys else { return name.clone() };
        let mut keys: Vec<String> = keys.iter().map(|it| it.join("/")).collect();
        keys.sort();
        format!("{name}:{}", keys.join(","))
    }

    fn collector() -> Collector {
        let mut collector = Collector::new(Arc::new(tables()));
        for it in [relation(1, &[(1, "id"), (0, "name")]), relation(4, &[(0, "text"), (1, "id"), (1, "day")])]
        {
            collector.take(&it).unwrap();
        }
        collector
    }

    #[test]
    fn rows_are_told_by_their_keys_before_and_after() {
        let collector = &mut collector();
        let insert = change(b'I', 1, &[row(b'N', &["1", "a"])]);
        let update = change(b'U', 1, &[row(b'N', &["2", "b"])]);
        let moved = change(b'U', 1, &[row(b'K', &["3", "-"]), row(b'N', &["4", "b"])]);
        let delete = change(b'D', 1, &[row(b'K', &["5", "-"])]);
        assert_eq!(told(collector, &[insert.clone(), update, moved, delete]), ["boat:1,2,3,4,5"]);
        assert_eq!(told(collector, &[insert]), ["boat:1"], "a commit forgets");
        assert!(told(collector, &[]).is_empty());
        // A partition's columns may stand in another order.
        let insert = change(b'I', 4, &[row(b'N', &["x", "8", "mon"])]);
        assert_eq!(told(collector, &[insert]), ["log:mon/8"]);
    }

    #[test]
    fn what_has_no_certain_key_is_told_as_a_table_or_as_everything() {
        let collector = &mut collector();
        let insert = change(b'I', 1, &[row(b'N', &["1", "a"])]);
        assert_eq!(told(collector, &[insert.clone(), b"T\0\0\0\x01\0\0\0\0\x01".to_vec()]), ["boat"]);
        assert_eq!(told(collector, &[change(b'I', 1, &[row(b'N', &["-", "a"])])]), ["boat"]);
        assert_eq!(told(collector, &[change(b'I', 1, &[row(b'N', &[])])]), ["boat"]);
        assert_eq!(told(collector, &[insert, change(b'I', 6, &[row(b'N', &["1"])])]), ["boat:1", "unknown"]);
        collector.take(&begin(7)).unwrap();
        collector.take_cut(b"U\0\0\0\x01Kxxx");
        let Ok(Taken::Commit(Some((7, commit)), _)) = collector.take(&commit_message()) else { panic!() };
        assert_eq!(commit.changes.iter().map(words).collect::<Vec<_>>(), ["boat"]);
        // The replica identity is another column than the key: an update may have changed the key.
        collector.take(&relation(1, &[(0, "id"), (1, "name")])).unwrap();
        assert_eq!(told(collector, &[change(b'U', 1, &[row(b'N', &["2", "b"])])]), ["boat"]);
        assert_eq!(told(collector, &[change(b'D', 1, &[row(b'K', &["-", "b"])])]), ["boat"]);
        // Its key is not there any more.
        collector.take(&relation(1, &[(1, "number"), (0, "name")])).unwrap();
        assert_eq!(told(collector, &[change(b'I', 1, &[row(b'N', &["2", "b"])])]), ["boat"]);
    }

    #[test]
    fn many_rows_are_told_as_their_table_and_few_of_another_by_key() {
        let collector = &mut collector();
        let mut changes: Vec<Vec<u8>> =
            (0..=KEYS_MAX).map(|it| change(b'I', 1, &[row(b'N', &[&it.to_string(), "a"])])).collect();
        changes.push(change(b'I', 4, &[row(b'N', &["x", "8", "mon"])]));
        assert_eq!(told(collector, &changes), ["boat", "log:mon/8"]);
        changes.remove(0);
        assert!(told(collector, &changes)[0].starts_with("boat:1,"));
    }

    #[test]
    fn hostile_bytes_are_refused_and_a_change_outside_a_transaction_waits_for_the_next() {
        let collector = &mut collector();
        assert_eq!(collector.take(b""), Err(Malformed));
        assert_eq!(collector.take(b"I\0\0"), Err(Malformed));
        assert_eq!(collector.take(&change(b'I', 1, &[row(b'N', &["1", "a"])])), Ok(Taken::Nothing));
        assert!(told(collector, &[]).is_empty());
    }
}
