//! Names of tables and columns before and after SQL of an admin, so that the metadata follows those that changed.
//!
//! PostgreSQL knows tables and columns by numbers that stay. SQLite has none that no other table could get within a script, so that each
//! statement is looked at alone: at a rename the row of `sqlite_schema` stays, and one column has another name at its place.

use super::Work;
use super::edit_entries::refuse_partial;
use super::replace_metadata::{document, draft_generation, load_metadata, unexpected_error};
use crate::generation::{Live, Turn};
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

/// True if `sql` may rename a table or column, or move a table to another schema: it has the word `RENAME` or the words `SET SCHEMA`.
pub(super) fn may_rename(sql: &str) -> bool {
    let words = sql.split(|it: char| !it.is_ascii_alphanumeric() && it != '_').filter(|it| !it.is_empty());
    let mut last = "";
    for word in words {
        let is_move = last.eq_ignore_ascii_case("SET") && word.eq_ignore_ascii_case("SCHEMA");
        if is_move || word.eq_ignore_ascii_case("RENAME") {
            return true;
        }
        last = word;
    }
    false
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
    let tables: BTreeSet<&str> = now.keys().map(|it| it.0).collect();
    for row in before {
        let [table, number, schema, name, column] = texts(row)[..] else { continue };
        let old = table_key(schema, name);
        let Some((new, new_column)) = now.get(&(table, number)) else {
            if tables.contains(table) {
                renames.dropped_columns.insert((old, column.to_owned()));
            } else {
                renames.dropped_tables.insert(old);
            }
            continue;
        };
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

/// Names that a script changes in the source `source`.
pub(super) struct Renaming<'w> {
    live: &'w Live,
    source: &'w str,
    /// Steps that are committed.
    pub(super) steps: Vec<SchemaRenames>,
}

impl<'w> Renaming<'w> {
    pub(super) fn new(live: &'w Live, source: &'w str) -> Self {
        Self { live, source, steps: Vec::new() }
    }

    /// Refuses `steps`, which are not committed, if one takes a name that the metadata still gives to something else.
    pub(super) fn refuse_taken(&self, steps: &[SchemaRenames]) -> Result<(), HasuraError> {
        let mut document = document(&self.live.current());
        let mut taken = Vec::new();
        for step in steps {
            taken.extend(step.list_taken(&document, self.source));
            step.follow(&mut document, self.source);
        }
        if taken.is_empty() {
            return Ok(());
        }
        let message = format!(
            "nothing was run: a renamed table or column would take the permissions that the metadata has for the former {}. \
             Drop that first, by a run_sql of its own with \"cascade\": true, or take its entries out of the metadata",
            taken.join(", ")
        );
        Err(HasuraError::new("dependency-error", "$.args", message))
    }
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
        // SQLite gives the target in the case of the statement that made the key.
        for KeyBefore { target, .. } in &mut keys {
            if let Some((name, _)) = tables.values().find(|it| it.0.eq_ignore_ascii_case(&target.1)) {
                target.1.clone_from(name);
            }
        }
        Ok(Self { tables, keys })
    }

    fn known(&self) -> KnownNames {
        let mut known = KnownNames::default();
        for (name, columns) in self.tables.values() {
            let table = table_key(SQLITE_SCHEMA, name);
            known.columns.extend(columns.iter().map(|it| (table.clone(), it.clone())));
            known.tables.insert(table);
        }
        known
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

/// Names of tables and columns of a file at one time.
#[derive(Default)]
struct KnownNames {
    tables: BTreeSet<TableKey>,
    columns: BTreeSet<(TableKey, String)>,
}

impl KnownNames {
    /// Renames a table with its columns; true if another had the new name, which is gone then.
    fn rename_table(&mut self, old: &TableKey, new: &TableKey) -> bool {
        self.tables.remove(old);
        self.columns.retain(|it| it.0 != *new);
        let columns = std::mem::take(&mut self.columns).into_iter();
        let renamed =
            columns.map(|(table, column)| (if table == *old { new.clone() } else { table }, column));
        self.columns = renamed.collect();
        !self.tables.insert(new.clone())
    }

    /// Goes back over `step`, and takes out of it what is not there behind it.
    fn undo(&mut self, step: &mut SchemaRenames) {
        step.tables.retain(|old, new| {
            let is_there = self.tables.contains(new);
            if is_there {
                self.rename_table(new, old);
            }
            is_there
        });
        step.columns.retain(|(table, old), new| {
            let is_there = self.columns.remove(&(table.clone(), new.clone()));
            if is_there {
                self.columns.insert((table.clone(), old.clone()));
            }
            is_there
        });
    }

    /// Goes over `step`: adds to it what is gone and whose name it takes, and takes out of it what the script made itself.
    fn advance(&mut self, step: &mut SchemaRenames) {
        let dropped = &mut step.dropped_columns;
        step.columns.retain(|(table, old), new| {
            let is_there = self.columns.remove(&(table.clone(), old.clone()));
            let taken = (table.clone(), new.clone());
            if is_there && !self.columns.insert(taken.clone()) {
                dropped.insert(taken);
            }
            is_there
        });
        let dropped = &mut step.dropped_tables;
        step.tables.retain(|old, new| {
            let is_there = self.tables.contains(old);
            if is_there && self.rename_table(old, new) {
                dropped.insert(new.clone());
            }
            is_there
        });
    }
}

/// Changed names of the statements of a script on a file.
///
/// **Invariant:** the version of the schema grows with each change of it and goes back with a rollback, so that a step with a later one
/// than that of the file was undone.
pub(super) struct SqliteSteps {
    start: SqliteNames,
    /// Steps with the version of the schema behind each.
    steps: Vec<(i64, SchemaRenames)>,
}

impl SqliteSteps {
    pub(super) fn begin(connection: &Connection) -> rusqlite::Result<Self> {
        Ok(Self { start: SqliteNames::read(connection)?, steps: Vec::new() })
    }

    /// Adds what a statement changed since `before`.
    pub(super) fn add(&mut self, connection: &Connection, before: &SqliteNames) -> rusqlite::Result<()> {
        let step = before.compare(&SqliteNames::read(connection)?);
        if !step.is_empty() {
            self.steps.push((read_version(connection)?, step));
        }
        Ok(())
    }

    /// Forgets the steps that were rolled back.
    pub(super) fn forget_undone(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        if !self.steps.is_empty() {
            let version = read_version(connection)?;
            self.steps.retain(|it| it.0 <= version);
        }
        Ok(())
    }

    /// The steps from the names at the start to those of now.
    pub(super) fn compose(&self, connection: &Connection) -> rusqlite::Result<Vec<SchemaRenames>> {
        let mut steps: Vec<SchemaRenames> = self.steps.iter().map(|it| it.1.clone()).collect();
        let mut last = SqliteNames::read(connection)?.known();
        steps.iter_mut().rev().for_each(|it| last.undo(it));
        let mut first = self.start.known();
        steps.iter_mut().for_each(|it| first.advance(it));
        Ok(steps)
    }
}

fn read_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA schema_version", [], |row| row.get(0))
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
    /// Follows `steps`, changed names of the source `source`, into the metadata; false if it names none of them.
    /// # Errors
    /// The metadata is unchanged.
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
        refuse_partial(&generation)?;
        let place = self.place(turn)?;
        let text = export::json(&next).map_err(unexpected_error)?;
        let draft = draft_generation(turn, &place, load_metadata(&text, "$.args")?)?;
        self.install(turn, &place, &next, draft)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_may_rename_are_known_by_their_words() {
        for sql in ["alter table a rename to b", "ALTER TABLE a SET  SCHEMA b", "ALTER SCHEMA a RENAME TO b"]
        {
            assert!(may_rename(sql), "{sql}");
        }
        for sql in ["CREATE SCHEMA a; SET x = 1", "DROP SCHEMA a", "SELECT renamed FROM a"] {
            assert!(!may_rename(sql), "{sql}");
        }
    }
}
