//! Numbers names: equal names get equal numbers, so that later passes compare and index instead of hashing.
//!
//! Up to twelve names are found by a scan over their hashes; more by a table. Hashes are seeded per process,
//! because the names come from clients.
//!
//! **Cost:** one hash per name; one allocation up to twelve names.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// Scanning this many hashes is cheaper than keeping a table.
const SCAN_MAX: usize = 12;

/// Names with numbers from 0 in the order they came.
pub(super) struct Names<'a> {
    hasher: RandomState,
    names: Vec<(u64, &'a str)>,
    table: HashTable<u32>,
}

impl<'a> Names<'a> {
    pub(super) fn new(hasher: RandomState) -> Self {
        Self { hasher, names: Vec::new(), table: HashTable::new() }
    }

    /// Number of different names.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// The number of `name`, if it has one.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        self.find_hashed(self.hasher.hash_one(name), name)
    }

    /// The number of `name`, new if it had none.
    pub(super) fn number(&mut self, name: &'a str) -> u32 {
        let hash = self.hasher.hash_one(name);
        if let Some(number) = self.find_hashed(hash, name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.names.push((hash, name));
        if self.names.len() > SCAN_MAX {
            self.index(number);
        }
        number
    }

    fn find_hashed(&self, hash: u64, name: &str) -> Option<u32> {
        if self.names.len() > SCAN_MAX {
            return self.table.find(hash, |&at| self.names[at as usize].1 == name).copied();
        }
        self.names.iter().position(|&(known, text)| known == hash && text == name).map(|at| at as u32)
    }

    /// Puts `newest` into the table, and with the first one that needs it all that came before.
    fn index(&mut self, newest: u32) {
        let first = if self.table.is_empty() { 0 } else { newest };
        if first == 0 {
            let names = &self.names;
            self.table.reserve(8 * SCAN_MAX, |&at| names[at as usize].0);
        }
        for number in first..=newest {
            let names = &self.names;
            let hash = names[number as usize].0;
            self.table.insert_unique(hash, number, |&at| names[at as usize].0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_share_a_number_however_many_there_are() {
        let texts: Vec<String> = (0..100).map(|at| format!("name{at}")).collect();
        let mut names = Names::new(RandomState::default());
        for _ in 0..2 {
            for (at, text) in texts.iter().enumerate() {
                assert_eq!(names.number(text), at as u32);
            }
        }
        assert_eq!(names.len(), 100);
        assert_eq!(names.find("name70"), Some(70));
        assert_eq!(names.find("other"), None);
    }
}
