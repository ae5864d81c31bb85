//! A store in SQLite.

use super::{Reserve, StoreDialect};
use crate::dialect::sqlite::Sqlite;
use crate::plan::ddl::{IndexKind, Numbers};

impl StoreDialect for Sqlite {
    /// One statement would need a temporary table for its rows.
    fn reserve(&self, numbers: &Numbers) -> Vec<Reserve> {
        let Numbers { table, column, .. } = numbers;
        let next = Reserve { sql: format!("SELECT {column} FROM {table}"), width: 1, binds_count: false };
        let taken = format!("UPDATE {table} SET {column} = {column} + $1");
        vec![next, Reserve { sql: taken, width: 0, binds_count: true }]
    }

    fn index_is_table(&self, kind: IndexKind) -> bool {
        match kind {
            IndexKind::Tree | IndexKind::Prefix | IndexKind::Unique => false,
            IndexKind::Terms | IndexKind::Fulltext | IndexKind::Trigrams | IndexKind::Boxes => true,
        }
    }
}
