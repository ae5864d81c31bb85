//! Reads the contents of a database server.

mod catalog_reader;
mod native_reader;

use super::decoding::{fed_tables, prospect};
use crate::contents::{Contents, NamedTable, NativeStatement, Natives};
use std::time::{Duration, Instant};
use weir_postgres::Facts;
use weir_postgres::address::Settings;
use weir_postgres::error::Error;
use weir_postgres::introspect::ReadRelations;
use weir_postgres::introspect::grants::RoleGrant;
use weir_postgres::pool::Pool;
use weir_postgres::replication::Prospect;
use weir_relational::catalog::postgres_types::Types;

/// The database cannot be reached or read.
#[derive(Debug)]
pub struct PostgresReadError(pub Error);

impl std::fmt::Display for PostgresReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cannot read the database: {}", self.0)
    }
}

impl std::error::Error for PostgresReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

/// The tables of a server that are read.
#[derive(Clone, Copy, Debug)]
pub struct ReadTables<'o> {
    /// The schemas whose tables and functions are read.
    pub schemas: &'o [String],
    /// Whether tables of extensions are read.
    pub relations: ReadRelations,
    /// The tables whose rows are values of an enum.
    pub enums: &'o [NamedTable<'o>],
    /// Native queries, and whether they are taken for granted.
    pub natives: (&'o [NativeStatement<'o>], bool),
}

/// Tables, types and functions of a database, and facts of its server.
#[derive(Clone, Debug)]
pub struct PostgresContents {
    /// Tables and functions.
    pub tables: Contents,
    pub(super) types: Types,
    pub(super) facts: Option<Facts>,
    /// Changes that the server can report.
    pub(super) prospect: Prospect,
    /// Rights of roles; read where transactions have the roles of their callers.
    pub grants: Vec<RoleGrant>,
}

impl PostgresContents {
    /// Reads the contents of a database.
    /// # Errors
    /// The database cannot be reached within `patience`.
    pub async fn read(
        settings: &Settings,
        tables: ReadTables<'_>,
        patience: Duration,
    ) -> Result<Self, PostgresReadError> {
        // Connections belong to the runtime that made them, which may end when the catalog is read.
        let mut patient = settings.clone();
        patient.limits.session_lock_timeout = Duration::ZERO;
        let pool = Pool::new(patient);
        let deadline = Instant::now() + patience;
        let (catalog, types, mut warnings) =
            catalog_reader::read(&pool, tables, deadline).await.map_err(PostgresReadError)?;
        let caller = &settings.caller;
        warnings.extend(catalog_reader::setting_readers(&pool, caller, tables.schemas, deadline).await);
        let grants = match caller.row_security {
            Some(_) => {
                let grants = catalog_reader::grants(&pool, tables.schemas, deadline).await;
                grants.map_err(PostgresReadError)?
            }
            None => Vec::new(),
        };
        let natives = match tables.natives.0 {
            [] => Natives::default(),
            _ => {
                let read = native_reader::read(&pool, settings, &types, tables.natives, deadline);
                read.await.map_err(PostgresReadError)?
            }
        };
        let enums = catalog_reader::enums(&pool, &catalog, tables.enums, deadline).await;
        let prospect = prospect(settings, &fed_tables(&catalog), &pool, deadline).await;
        let tables = Contents { catalog, enums, natives, warnings };
        Ok(Self { tables, types, facts: pool.facts(), prospect, grants })
    }
}
