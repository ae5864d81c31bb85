//! Opens a database server.

use super::{GeneratedApi, OpenError, Served, generate_api, list_enums};
use crate::api::meaning::Api;
use crate::model::{ModelOptions, Track, statements};
use crate::permission::grant_entries;
use std::sync::Arc;
use std::time::Duration;
use weir_database::postgres::{PostgresContents, PostgresReadError, PostgresSource, ReadTables};
use weir_postgres::Settings;
use weir_postgres::introspect::ReadRelations;
use weir_relational::catalog::Warning;

/// Options of a source.
#[derive(Clone, Copy, Debug)]
pub struct PostgresOptions<'o> {
    /// Options of the model: exposed tables and their names.
    pub model: ModelOptions<'o>,
    /// The schemas that are served.
    pub schemas: &'o [String],
    /// Give numbers of 64 bits and decimals as JSON strings.
    pub stringify: bool,
}

/// Reads the contents of a database.
/// # Errors
/// The database cannot be reached within `patience`.
pub async fn read_postgres(
    settings: &Settings,
    options: PostgresOptions<'_>,
    patience: Duration,
) -> Result<PostgresContents, PostgresReadError> {
    let enums = list_enums(&options.model);
    let relations = match options.model.track {
        Track::All => ReadRelations::Own,
        Track::Listed => ReadRelations::All,
    };
    let statements = statements(&options.model);
    let natives = (&*statements, options.model.trusts_natives);
    let tables = ReadTables { schemas: options.schemas, relations, enums: &enums, natives };
    PostgresContents::read(settings, tables, patience).await
}

/// Reads the contents of the database and serves it as the source `name`. Warnings list the parts that cannot be served.
/// # Errors
/// The database cannot be asked within `patience`, or makes no sound schema.
pub async fn open_postgres(
    name: &str,
    settings: Settings,
    options: PostgresOptions<'_>,
    patience: Duration,
) -> Result<(PostgresSource, Vec<Warning>), OpenError<PostgresReadError>> {
    let contents = read_postgres(&settings, options, patience).await.map_err(OpenError::Database)?;
    let Served { source, warnings, .. } = serve_postgres(name, settings, options, &contents)?;
    Ok((source, warnings))
}

/// Serves the database, which has or had `contents`, as the source `name`. It is not asked: until it can be reached, requests fail.
/// # Errors
/// The contents make no sound schema.
pub fn serve_postgres(
    name: &str,
    mut settings: Settings,
    options: PostgresOptions<'_>,
    contents: &PostgresContents,
) -> Result<Served<PostgresSource>, OpenError<PostgresReadError>> {
    let row_security = settings.caller.row_security.clone();
    let granted = row_security.as_ref().map(|_| {
        let tracks_all = options.model.track == Track::All;
        grant_entries(options.model.tables, &contents.grants, &contents.tables.catalog, tracks_all)
    });
    let tables = granted.as_deref().unwrap_or(options.model.tables);
    let model = ModelOptions { tables, ..options.model };
    let GeneratedApi { api, warnings, remote_fields } =
        generate_api(&contents.tables, model).map_err(OpenError::Schema)?;
    let api = Api { row_security, ..api };
    settings.caller.in_mutations = true;
    let source = PostgresSource::of(name, Arc::new(api), settings, contents, options.stringify);
    Ok(Served { source, warnings, remote_fields })
}
