//! Opens a file for a front end that is made of what the file holds.

use super::source::{SqliteOpenError, SqliteSource};
use crate::contents::{
    CheckedNative, Contents, EnumTable, NamedTable, NativeStatement, Natives, missing_column,
};
use crate::frontend::ApiFrontend;
use rusqlite::Connection;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::thread::ScopedJoinHandle;
use weir_relational::dialect::sqlite_type::column_type;
use weir_sqlite::connection::{Database, Tuning, close_reader, reader};
use weir_sqlite::introspect::{SqliteOptions, enum_values, read};
use weir_sqlite::table_checks::warn_of_refusals;

/// A file that was read and is not served yet.
#[derive(Debug)]
pub struct SqliteFile {
    database: Arc<Database>,
    contents: Contents,
}

/// Looks at `statements`. SQLite knows the names of their columns alone: types are as they are declared.
fn read_natives(
    connection: &Connection,
    options: SqliteOptions,
    statements: &[NativeStatement<'_>],
) -> Natives {
    let mut natives = Natives::default();
    for statement in statements {
        let arguments = statement.arguments.iter().map(|it| it.1);
        for name in arguments.chain(statement.columns.iter().map(|it| it.1.as_str())) {
            natives.types.insert(name.to_owned(), (0, column_type(name, options.integers)));
        }
        let fault = match connection.prepare(&statement.select_all(|place| format!("?{place}"))) {
            Ok(prepared) if !prepared.readonly() => Some("the statement is no query".to_owned()),
            Ok(prepared) => {
                let names: Vec<&str> = prepared.column_names().collect();
                let missing = statement.columns.iter().find(|it| !names.contains(&it.0));
                missing.map(|it| missing_column(it.0))
            }
            Err(error) => Some(error.to_string()),
        };
        natives.checked.push(CheckedNative { name: statement.name.to_owned(), is_volatile: false, fault });
    }
    natives
}

impl SqliteFile {
    /// Reads the file `path`; `enums` are the tables whose rows are values of an enum, `natives` statements to look at.
    /// # Errors
    /// The file cannot be read.
    pub fn read(
        path: &Path,
        tuning: Tuning,
        options: SqliteOptions,
        enums: &[NamedTable<'_>],
        natives: &[NativeStatement<'_>],
    ) -> Result<Self, SqliteOpenError> {
        let database = Database::new(path, tuning);
        let reader = reader(&database).map_err(SqliteOpenError::Sqlite)?;
        let (catalog, warnings) = read(&reader.connection, options).map_err(SqliteOpenError::Sqlite)?;
        let tables = enums.iter().filter_map(|it| catalog.find("", it.name)).map(|it| catalog.table(it));
        let enums = tables.map(|it| EnumTable::new(it, enum_values(&reader.connection, it))).collect();
        let natives = read_natives(&reader.connection, options, natives);
        drop(reader);
        // The thread that opens a file seldom asks it for rows, and a connection to many tables holds megabytes.
        close_reader(&database);
        Ok(Self { database, contents: Contents { catalog, enums, natives, warnings } })
    }

    /// Serves the front end that `generate` makes of the contents as the source `name`, and returns the contents with warnings of the
    /// tables that cannot be changed.
    /// # Errors
    /// The error of `generate`; the file cannot be opened, or threads cannot be started.
    pub fn serve<E: From<SqliteOpenError>>(
        self,
        name: &str,
        generate: impl FnOnce(&Contents) -> Result<Arc<dyn ApiFrontend>, E>,
    ) -> Result<(SqliteSource, Contents), E> {
        let Self { database, mut contents } = self;
        let (frontend, writer) = std::thread::scope(|scope| {
            // Opening the writer reads the whole schema of the database; meanwhile this thread generates ours.
            let open = || {
                let writer = database.open_writer()?;
                let refusals = warn_of_refusals(&writer, &contents.catalog);
                Ok::<_, rusqlite::Error>((writer, refusals))
            };
            let writer = std::thread::Builder::new().spawn_scoped(scope, open);
            let frontend = generate(&contents);
            let opened = |it: ScopedJoinHandle<'_, _>| it.join().unwrap_or_else(|it| resume_unwind(it));
            (frontend, writer.map(opened))
        });
        let frontend = frontend?;
        let writer = writer.map_err(SqliteOpenError::Thread)?.map(|(writer, refusals)| {
            contents.warnings.extend(refusals);
            writer
        });
        Ok((SqliteSource::start(name, frontend, database, writer)?, contents))
    }
}
