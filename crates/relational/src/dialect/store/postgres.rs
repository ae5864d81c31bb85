//! A store in PostgreSQL.

use super::{Reserve, StoreDialect};
use crate::dialect::postgres::Postgres;
use crate::plan::ddl::{IndexKind, Numbers};

impl StoreDialect for Postgres {
    fn reserve(&self, numbers: &Numbers) -> Vec<Reserve> {
        let sql = format!("SELECT nextval('{}') FROM generate_series(1, $1::bigint)", numbers.sequence);
        vec![Reserve { sql, width: 1, binds_count: true }]
    }

    fn index_is_table(&self, _kind: IndexKind) -> bool {
        false
    }
}
