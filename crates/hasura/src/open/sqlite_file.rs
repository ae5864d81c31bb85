//! Opens a SQLite file.

use super::{GeneratedApi, OpenError, RemoteField, Served, generate_api, list_enums};
use crate::model::{ModelOptions, statements};
use std::path::Path;
use std::sync::Arc;
use weir_database::contents::Contents;
use weir_database::frontend::ApiFrontend;
use weir_database::sqlite::{SqliteFile, SqliteOpenError, SqliteSource};
use weir_relational::catalog::Warning;
use weir_sqlite::connection::Tuning;
use weir_sqlite::introspect::SqliteOptions;

#[derive(Clone, Copy, Debug)]
pub struct SqliteSourceOptions<'o> {
    /// Options for reading its catalog.
    pub catalog: SqliteOptions,
    /// Options of the model: exposed tables and their names.
    pub model: ModelOptions<'o>,
    /// Choices for its connections.
    pub tuning: Tuning,
}

impl From<SqliteOpenError> for OpenError<SqliteOpenError> {
    fn from(error: SqliteOpenError) -> Self {
        Self::Database(error)
    }
}

/// A file that is served, with what is not served of it, and its contents.
#[derive(Debug)]
pub struct OpenedFile {
    /// The file as a source.
    pub source: SqliteSource,
    /// Parts that cannot be served.
    pub warnings: Vec<Warning>,
    /// The tables as they were read.
    pub contents: Contents,
    /// Fields of its tables that other sources answer.
    pub remote_fields: Vec<RemoteField>,
}

/// Serves the database in the file `path` as the source `name`.
/// # Errors
/// The file cannot be read, or makes no sound schema.
pub fn open_sqlite(
    name: &str,
    path: &Path,
    options: SqliteSourceOptions<'_>,
) -> Result<OpenedFile, OpenError<SqliteOpenError>> {
    let SqliteSourceOptions { catalog, model, tuning } = options;
    let file = SqliteFile::read(path, tuning, catalog, &list_enums(&model), &statements(&model))?;
    let mut warnings = Vec::new();
    let mut remote_fields = Vec::new();
    let mut known = 0;
    let (source, contents) = file.serve(name, |contents| {
        let made = generate_api(contents, model).map_err(OpenError::Schema)?;
        let api = made.api;
        (warnings, remote_fields) = (made.warnings, made.remote_fields);
        known = contents.warnings.len();
        Ok::<Arc<dyn ApiFrontend>, OpenError<SqliteOpenError>>(Arc::new(api))
    })?;
    // Tables that the writer refuses are found while the API is generated.
    warnings.extend(contents.warnings[known..].iter().cloned());
    Ok(OpenedFile { source, warnings, contents, remote_fields })
}

/// Serves the file `path`, which had `contents` and cannot be read now, as the source `name`: reads and mutations fail until it can
/// be read.
/// # Errors
/// No thread can be started; the contents make no sound schema.
pub fn serve_unread_sqlite(
    name: &str,
    path: &Path,
    options: SqliteSourceOptions<'_>,
    contents: &Contents,
) -> Result<Served<SqliteSource>, OpenError<SqliteOpenError>> {
    let GeneratedApi { api, warnings, remote_fields } =
        generate_api(contents, options.model).map_err(OpenError::Schema)?;
    let source = SqliteSource::without_connection(name, Arc::new(api), path, options.tuning)?;
    Ok(Served { source, warnings, remote_fields })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;
    use std::time::{Duration, Instant};
    use weir_engine::caller::Identity;
    use weir_engine::compose::Graph;
    use weir_engine::engine::{Body, Engine, Request, Settings};
    use weir_engine::source::Source;
    use weir_language::json::{Json, JsonRef};
    use weir_sqlite::connection::readers;

    /// Asks on a thread of its own for rows where one of `parts` conditions holds; how many readers that thread had to open.
    fn check(engine: &Arc<Engine>, parts: usize, readers_opened: usize) {
        let any: Vec<String> = (0..parts).map(|at| format!(r#"{{"x": {{"_gt": {at}}}}}"#)).collect();
        let variables = format!(r#"{{"w": {{"x": {{"_eq": 1}}, "_not": {{"_or": [{}]}}}}}}"#, any.join(","));
        let engine = Arc::clone(engine);
        let asked = std::thread::spawn(move || {
            let json = Json::parse(variables.as_bytes(), 400).unwrap();
            let query = "query ($w: a_bool_exp!) { a(where: $w, limit: 1) { x } }";
            let variables = Some(JsonRef { json: &json, at: 0 });
            let deadline = Instant::now() + Duration::from_secs(60);
            let request = Request { variables, ..Request::new(query, deadline) };
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let answer = runtime.block_on(engine.execute(request, &engine.caller(&Identity::admin())));
            let Body::Whole(bytes) = answer.body else { panic!("a short answer is whole") };
            (String::from_utf8(bytes).unwrap(), readers())
        });
        let (answer, readers) = asked.join().unwrap();
        assert_eq!(answer, r#"{"data":{"a":[]}}"#);
        assert_eq!(readers, readers_opened, "{parts} parts");
    }

    #[test]
    fn a_large_statement_is_planned_and_run_away_from_the_thread_that_asks() {
        let path = std::env::temp_dir().join(format!("weir-hasura-large-{}.db", std::process::id()));
        let beside = Connection::open(&path).unwrap();
        beside.execute_batch("CREATE TABLE a (x INTEGER PRIMARY KEY); INSERT INTO a VALUES (1)").unwrap();
        let options = SqliteSourceOptions {
            catalog: SqliteOptions::default(),
            model: ModelOptions::default(),
            tuning: Tuning::USUAL,
        };
        let OpenedFile { source, .. } = open_sqlite("main", &path, options).unwrap();
        let graph = Graph::compose(vec![Arc::new(source) as Arc<dyn Source>], &[]).unwrap();
        let engine = Arc::new(Engine::new(graph, Settings::STANDARD));
        check(&engine, 2, 1);
        check(&engine, 900, 0);
        check(&engine, 900, 0);
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", path.display()));
        }
    }
}
