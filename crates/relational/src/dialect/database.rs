//! The databases that Weir makes tables in, and the dialect of each.

use super::flavour::Flavour;
use super::postgres::Postgres;
use super::sqlite::Sqlite;
use super::store::StoreDialect;
use super::{Dialect, Floats};
use crate::catalog::postgres_types::Types;
use std::sync::LazyLock;

/// The kind of database that a store is in. Every other choice between databases follows from its dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Database {
    /// Embedded SQLite.
    Sqlite,
    /// PostgreSQL and compatible databases.
    Postgres,
}

/// The types that every PostgreSQL has: a store uses no others.
static POSTGRES: LazyLock<Postgres> = LazyLock::new(|| Postgres {
    flavour: Flavour::default(),
    types: Types::builtin(),
    floats: Floats::AsElsewhere,
});

impl Database {
    /// The dialect for queries and changes of rows.
    pub fn dialect(self) -> &'static dyn Dialect {
        match self {
            Self::Sqlite => &Sqlite::USUAL,
            Self::Postgres => &*POSTGRES,
        }
    }

    /// The dialect for table definitions and the maintenance of a store.
    pub fn store_dialect(self) -> &'static dyn StoreDialect {
        match self {
            Self::Sqlite => &Sqlite::USUAL,
            Self::Postgres => &*POSTGRES,
        }
    }
}
