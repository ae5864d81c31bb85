//! Names of tables and columns before and after SQL of an admin, so that the metadata follows those that changed.
//!
//! PostgreSQL knows tables and columns by numbers that stay. SQLite has none that no other table could get within a script, so that each
//! statement is looked at alone: at a rename the row of `sqlite_schema` stays, and one column has another name at its place.

use super::Work;
use super::replace_metadata::{document, draft_generation, load_metadata, unexpected_error};
use crate::generation::Turn;
use crate::server::request::hasura_error::HasuraError;
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};
use weir_metadata::edit::{KeyBefore, SchemaRenames, TableKey};
use weir_metadata::export;

/// Schema of all tables of SQLite, as the metadata names them.
const SQLITE_SCHEMA: &str = "public";

/// Number of table and column, with the names of schema, table and column.
pub(super) const COLUMNS: &str = "SELECT a.attrelid, a.attnum, n.nspname, c.relname, a.attname \
     FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid \
     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
     WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'm', 'f', 'p') \
     AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')";

/// Number of a foreign key, one of its columns with schema and table, and schema and table that it points to.
pub(super) const KEYS: &str = "SELECT k.oid, n.nspname, c.relname, a.attname, tn.nspname, t.relname \
     FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid \
     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace JOIN pg_catalog.pg_class t ON t.oid = k.confrelid \
     JOIN pg_catalog.pg_namespace tn ON tn.oid = t.relnamespace \
     JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey) WHERE k.contype = 'f'";

/// Rows of texts.
type Rows = [Vec<Option<String>>];

/// True if `sql` contains a keyword of a statement that renames a table or column, or moves a table to another schema.
pub(super) fn may_rename(sql: &str) -> bool {
    let mut words = sql.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
    words.any(|word| ["RENAME", "SCHEMA"].iter().any(|it| it.eq_ignore_ascii_case(word)))
}

/// The texts of a row, without nulls.
fn texts(row: &[Option<String>]) -> Vec<&str> {
    row.iter().map(|it| it.as_deref().unwrap_or_default()).collect()
}

fn table_key(schema: &str, name: &str) -> TableKey {
    (schema.to_owned(), name.to_owned())
}

/// Names that differ between the rows of [`COLUMNS`] `before` and `after`; `keys` are those of [`KEYS`] before.
pub(super) fn compare_rows(before: &Rows, after: &Rows, keys: &Rows) -> SchemaRenames {
    let mut renames = SchemaRenames::default();
    let now: BTreeMap<(&str, &str), (TableKey, &str)> = after
        .iter()
        .filter_map(|row| match texts(row)[..] {
            [table, number, schema, name, column] => {
                Some(((table, number), (table_key(schema, name), column)))
            }
            _ => None,
        })
        .collect();
    for row in before {
        let [table, number, schema, name, column] = texts(row)[..] else { continue };
        let Some((new, new_column)) = now.get(&(table, number)) else { continue };
        let old = table_key(schema, name);
        if *new_column != column {
            renames.columns.insert((old.clone(), column.to_owned()), (*new_column).to_owned());
        }
        if *new != old {
            renames.tables.insert(old, new.clone());
        }
    }
    let mut found: BTreeMap<&str, KeyBefore> = BTreeMap::new();
    for row in keys {
        let [key, schema, name, column, target_schema, target] = texts(row)[..] else { continue };
        let made = || KeyBefore {
            table: table_key(schema, name),
            columns: BTreeSet::new(),
            target: table_key(target_schema, target),
        };
        found.entry(key).or_insert_with(made).columns.insert(column.to_owned());
    }
    renames.keys = found.into_values().collect();
    renames
}

/// Tables of a file of SQLite by the numbers of their rows in `sqlite_schema`: names and columns.
pub(super) struct SqliteNames {
    tables: BTreeMap<i64, (String, Vec<String>)>,
    keys: Vec<KeyBefore>,
}

impl SqliteNames {
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let mut statement =
            connection.prepare("SELECT rowid, name FROM sqlite_schema WHERE type IN ('table', 'view')")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut tables: BTreeMap<i64, (String, Vec<String>)> = BTreeMap::new();
        let mut keys = Vec::new();
        for row in rows {
            let (number, name): (i64, String) = row?;
            // A view whose tables are gone has no columns.
            let columns = read_columns(connection, &name).unwrap_or_default();
            keys.extend(read_keys(connection, &name)?);
            tables.insert(number, (name, columns));
        }
        Ok(Self { tables, keys })
    }

    /// Names that a single statement changed, behind which `after` was read.
    pub(super) fn compare(&self, after: &Self) -> SchemaRenames {
        let mut renames = SchemaRenames { keys: self.keys.clone(), ..SchemaRenames::default() };
        for (number, (name, columns)) in &self.tables {
            let Some((new, new_columns)) = after.tables.get(number) else { continue };
            let old = table_key(SQLITE_SCHEMA, name);
            let mut changed = columns.iter().zip(new_columns).filter(|it| it.0 != it.1);
            if let (Some((from, to)), None) = (changed.next(), changed.next())
                && columns.len() == new_columns.len()
            {
                renames.columns.insert((old.clone(), from.clone()), to.clone());
            }
            if name != new {
                renames.tables.insert(old, table_key(SQLITE_SCHEMA, new));
            }
        }
        renames
    }
}

fn read_columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_xinfo(?1) ORDER BY cid")?;
    statement.query_map([table], |row| row.get(0))?.collect()
}

fn read_keys(connection: &Connection, table: &str) -> rusqlite::Result<Vec<KeyBefore>> {
    let mut statement =
        connection.prepare("SELECT id, \"table\", \"from\" FROM pragma_foreign_key_list(?1)")?;
    let rows = statement.query_map([table], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let mut keys: BTreeMap<i64, KeyBefore> = BTreeMap::new();
    for row in rows {
        let (number, target, column): (i64, String, String) = row?;
        let made = || KeyBefore {
            table: table_key(SQLITE_SCHEMA, table),
            columns: BTreeSet::new(),
            target: table_key(SQLITE_SCHEMA, &target),
        };
        keys.entry(number).or_insert_with(made).columns.insert(column);
    }
    Ok(keys.into_values().collect())
}

impl Work {
    /// Follows `steps`, changed names of the source `source`, into the metadata; false if it names none of them, or lacks a part of its
    /// files, which writing it would remove.
    pub(super) fn follow_renames(
        &self,
        turn: &Turn<'_>,
        source: &str,
        steps: &[SchemaRenames],
    ) -> Result<bool, HasuraError> {
        let generation = turn.current();
        let before = document(&generation);
        let mut next = before.clone();
        steps.iter().for_each(|it| it.follow(&mut next, source));
        if next == before {
            return Ok(false);
        }
        if generation.config.described.as_ref().is_some_and(|it| it.loaded.is_partial) {
            tracing::warn!(
                "the metadata does not follow the renamed tables or columns: a part of its files is left out"
            );
            return Ok(false);
        }
        let place = self.place(turn)?;
        let text = export::json(&next).map_err(unexpected_error)?;
        let draft = draft_generation(turn, &place, load_metadata(&text, "$.args")?)?;
        self.install(turn, &place, &next, draft)?;
        Ok(true)
    }
}
