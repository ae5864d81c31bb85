//! Opens databases with Hasura's API: reads their contents, tracks their tables, and generates the front end of a source.

mod postgres_server;
mod remote_fields;
mod sqlite_file;

pub use postgres_server::{PostgresOptions, open_postgres, read_postgres, serve_postgres};
pub use remote_fields::{RemoteField, RemoteKey};
pub use sqlite_file::{OpenedFile, SqliteSourceOptions, open_sqlite, serve_unread_sqlite};

use crate::api::generate;
use crate::api::meaning::Api;
use crate::model::{Model, ModelOptions};
use crate::permission::{self, Permissions};
use weir_database::contents::{Contents, NamedTable};
use weir_language::error::Error;
use weir_relational::catalog::Warning;

/// Why a database cannot be served.
#[derive(Debug)]
pub enum OpenError<E> {
    /// The database cannot be read.
    Database(E),
    /// The names of the tables make no sound schema.
    Schema(Vec<Error>),
}

impl<E: std::fmt::Display> std::fmt::Display for OpenError<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Database(error) => error.fmt(f),
            Self::Schema(errors) => {
                let first = errors.first().map_or("", |it| it.message.as_str());
                write!(f, "the generated schema is unsound: {first}")
            }
        }
    }
}

impl<E: std::error::Error> std::error::Error for OpenError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Database(error) => error.source(),
            Self::Schema(_) => None,
        }
    }
}

/// The served tables of a database with their permissions.
#[derive(Debug)]
pub struct TrackedTables {
    /// Tables, names and relationships.
    pub model: Model,
    /// Rights of the roles.
    pub permissions: Permissions,
    /// Parts that are not served.
    pub warnings: Vec<Warning>,
}

/// Tracks the tables of `contents`.
pub fn track(contents: &Contents, options: ModelOptions<'_>) -> TrackedTables {
    let mut warnings = contents.warnings.clone();
    let with_natives = ModelOptions { natives: Some(&contents.natives), ..options };
    let (model, more) =
        Model::build(contents.catalog.clone(), with_natives, &mut |table| contents.enum_values(table));
    warnings.extend(more);
    let (permissions, more) = permission::build(&model, &options);
    warnings.extend(more);
    TrackedTables { model, permissions, warnings }
}

/// A database that is served.
#[derive(Debug)]
pub struct Served<S> {
    /// The database as a source.
    pub source: S,
    /// Parts that are not served.
    pub warnings: Vec<Warning>,
    /// Fields of its tables that other sources answer.
    pub remote_fields: Vec<RemoteField>,
}

/// The API of a database.
struct GeneratedApi {
    api: Api,
    /// Parts that are not served.
    warnings: Vec<Warning>,
    remote_fields: Vec<RemoteField>,
}

/// Generates the API of `contents`.
fn generate_api(contents: &Contents, options: ModelOptions<'_>) -> Result<GeneratedApi, Vec<Error>> {
    let TrackedTables { model, permissions, mut warnings } = track(contents, options);
    let api = generate(model, permissions)?;
    let remote_fields = remote_fields::find_remote_fields(&api, &options, &mut warnings);
    Ok(GeneratedApi { api, warnings, remote_fields })
}

/// The tables that the configuration calls enums.
fn list_enums<'o>(options: &ModelOptions<'o>) -> Vec<NamedTable<'o>> {
    let tables = options.tables.iter().filter(|it| it.is_enum).map(|it| it.table.parts());
    tables.map(|(schema, name)| NamedTable { schema, name }).collect()
}
