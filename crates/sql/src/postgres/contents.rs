//! The contents of a database as it was read: all that its API is made of, also at a time when it cannot be reached.
//!
//! **Invariant:** nothing here depends on permissions, so an API made of old contents has the permissions of today.

use super::catalog;
use super::change_feed::{fed_tables, prospect};
use crate::api::generate;
use crate::api::meaning::Api;
use crate::model::{Model, ModelOptions};
use crate::permission;
use std::time::{Duration, Instant};
use weir_postgres::address::Settings;
use weir_postgres::connection::Facts;
use weir_postgres::error::Error;
use weir_postgres::pool::Pool;
use weir_postgres::replication::Prospect;
use weir_relational::catalog::postgres_types::Types;
use weir_relational::catalog::{Catalog, EnumTableValue, Table, Warning};

/// Options of a source.
#[derive(Clone, Copy, Debug)]
pub struct Options<'o> {
    /// Options of the model: exposed tables and their names.
    pub model: ModelOptions<'o>,
    /// The schemas that are served.
    pub schemas: &'o [String],
    /// Give numbers of 64 bits and decimals as JSON strings.
    pub stringify: bool,
}

/// Why a database cannot be served.
#[derive(Debug)]
pub enum OpenError {
    /// The database cannot be reached.
    Database(Error),
    /// The names of the tables make no sound schema.
    Schema(Vec<weir_language::error::Error>),
}

impl std::fmt::Display for OpenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Database(error) => write!(f, "cannot read the database: {error}"),
            Self::Schema(errors) => {
                let first = errors.first().map_or("", |it| it.message.as_str());
                write!(f, "the generated schema is unsound: {first}")
            }
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Database(error) => Some(error),
            Self::Schema(_) => None,
        }
    }
}

/// Schema and name of a table, and its values or why they were not read.
type ReadEnum = ((String, String), Result<Vec<EnumTableValue>, String>);

/// Tables, types and functions of a database, and facts of its server.
#[derive(Clone, Debug)]
pub struct Contents {
    pub(super) catalog: Catalog,
    pub(super) types: Types,
    pub(super) facts: Option<Facts>,
    /// Changes that the server can report.
    pub(super) prospect: Prospect,
    /// Values of the tables that the configuration marks as enums.
    enums: Vec<ReadEnum>,
    warnings: Vec<Warning>,
}

impl Contents {
    /// Reads the contents of a database.
    /// # Errors
    /// The database cannot be reached within `patience`.
    pub async fn read(
        settings: &Settings,
        options: Options<'_>,
        patience: Duration,
    ) -> Result<Self, OpenError> {
        // Connections belong to the runtime that made them, which may end when the catalog is read.
        let mut patient = settings.clone();
        patient.limits.session_lock_timeout = Duration::ZERO;
        let pool = Pool::new(patient);
        let deadline = Instant::now() + patience;
        let (catalog, types, warnings) =
            catalog::read(&pool, options.schemas, deadline).await.map_err(OpenError::Database)?;
        let enums = catalog::enums(&pool, &catalog, options.model, deadline).await;
        let prospect = prospect(settings, &fed_tables(&catalog), &pool, deadline).await;
        Ok(Self { catalog, types, facts: pool.facts(), prospect, enums, warnings })
    }

    /// Generates the API of these contents, with warnings about parts that cannot be served.
    /// # Errors
    /// The generated schema is unsound.
    pub(super) fn api(&self, options: Options<'_>) -> Result<(Api, Vec<Warning>), OpenError> {
        let mut values = |table: &Table| {
            let found = self.enums.iter().find(|it| it.0 == (table.schema.clone(), table.name.clone()));
            found.map_or_else(|| Err("its values were not read".into()), |it| it.1.clone())
        };
        let mut warnings = self.warnings.clone();
        let (model, more) = Model::build(self.catalog.clone(), options.model, &mut values);
        warnings.extend(more);
        let (permissions, more) = permission::build(&model, &options.model);
        warnings.extend(more);
        Ok((generate(model, permissions).map_err(OpenError::Schema)?, warnings))
    }
}
