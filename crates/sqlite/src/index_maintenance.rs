//! Keeps indexes of words and boxes up to date, once for all mutations that share a commit.
//!
//! Such an index is a table of its own, which triggers keep up to date whoever writes. A statement that sets off such a trigger
//! has its own journal, for which SQLite lets the index write down what it holds: each row then costs a segment of the index,
//! and segments are merged again and again. The writer has no triggers: it remembers the rows that were changed, and brings
//! the indexes up to date before the commit, or before one of them is searched.
//!
//! **Invariant:** what is committed stands in every index as the triggers would have it. A row is looked at as it is then, so
//! one that was remembered for nothing, or twice, changes nothing. What is undone to a savepoint leaves what came before it
//! remembered, though the indexes were brought up to date since.
//!
//! **Cost:** a few numbers for each row that is changed, at most `ROWS_MAX`; then a look-up and a write per index. A row that is
//! new is put into an index without a search for what the index holds of it.

use rusqlite::config::DbConfig;
use rusqlite::hooks::Action;
use rusqlite::types::ToSqlOutput;
use rusqlite::{CachedStatement, Connection, Error};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use weir_relational::dialect::store::SideIndex;

/// Maximum number of remembered rows.
const ROWS_MAX: usize = 100_000;

/// A row that was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Change {
    /// The place of the first index of its table.
    of: u32,
    row: i64,
    /// The row is new, so no index contains it.
    is_new: bool,
}

/// The rows that the indexes do not know of.
#[derive(Debug, Default)]
struct Waiting {
    /// In the order they were changed.
    changed: Vec<Change>,
    /// Length of the queue at the last savepoint.
    marked: Option<usize>,
    /// Changes that were queued at the savepoint and have been applied since; queued again if it is rolled back.
    before: Option<Vec<Change>>,
}

/// Changes of side indexes, applied once per commit.
#[derive(Debug, Default)]
pub struct IndexMaintenance {
    indexes: Box<[SideIndex]>,
    waiting: Mutex<Waiting>,
    /// True if the current statement changes indexed data.
    listens: AtomicBool,
}

impl IndexMaintenance {
    /// Takes over `indexes` from the triggers of `connection`.
    pub fn new(connection: &mut Connection, indexes: &[SideIndex]) -> rusqlite::Result<Arc<Self>> {
        let index_maintenance = Arc::new(Self { indexes: indexes.into(), ..Self::default() });
        if indexes.is_empty() {
            return Ok(index_maintenance);
        }
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        let hears = Arc::clone(&index_maintenance);
        connection.update_hook(Some(move |action, _: &str, table: &str, row| {
            if hears.listens.load(Ordering::Relaxed)
                && let Some(at) = hears.indexes.iter().position(|it| *it.table == *table)
            {
                let is_new = action == Action::SQLITE_INSERT;
                hears.waiting().changed.push(Change { of: at as u32, row, is_new });
            }
        }))?;
        Ok(index_maintenance)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers the rows that `run` changes.
    pub fn during<T>(
        &self,
        connection: &Connection,
        run: impl FnOnce() -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        self.listens.store(true, Ordering::Relaxed);
        let done = run();
        self.listens.store(false, Ordering::Relaxed);
        let is_full = self.waiting().changed.len() > ROWS_MAX;
        if is_full {
            self.apply_changes(connection)?;
        }
        done
    }

    /// Forgets the changes, because they were rolled back.
    pub fn forget(&self) {
        let mut waiting = self.waiting();
        waiting.changed.clear();
        (waiting.marked, waiting.before) = (None, None);
    }

    /// A savepoint stands here, in the place of any before.
    pub fn mark(&self) {
        let mut waiting = self.waiting();
        (waiting.marked, waiting.before) = (Some(waiting.changed.len()), None);
    }

    /// All since the savepoint was undone, in the indexes too.
    pub fn undo(&self) {
        let mut waiting = self.waiting();
        match (waiting.before.take(), waiting.marked.take()) {
            (Some(before), _) => waiting.changed = before,
            (None, Some(marked)) => waiting.changed.truncate(marked),
            (None, None) => {}
        }
    }

    /// Brings the indexes up to date if a statement with one of `texts` searches one of them.
    /// # Errors
    /// SQLite cannot change an index.
    pub fn apply_changes_for<'t>(
        &self,
        connection: &Connection,
        mut texts: impl Iterator<Item = &'t str>,
    ) -> rusqlite::Result<()> {
        let is_searched = |text: &str| self.indexes.iter().any(|it| text.contains(&*it.name));
        let has_changed = !self.waiting().changed.is_empty();
        if has_changed && texts.any(is_searched) { self.apply_changes(connection) } else { Ok(()) }
    }

    /// Brings the indexes up to date.
    pub fn apply_changes(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut changed = {
            let mut waiting = self.waiting();
            let changed = std::mem::take(&mut waiting.changed);
            if let Some(marked) = waiting.marked.take() {
                waiting.before = Some(changed[..marked].to_vec());
            }
            changed
        };
        // Stable sort: the first change of a row tells whether it is new, because the indexes know none of the later ones.
        changed.sort_by_key(|it| (it.of, it.row));
        changed.dedup_by_key(|it| (it.of, it.row));
        for changed in changed.chunk_by(|one, other| one.of == other.of) {
            let table = &self.indexes[changed[0].of as usize].table;
            for index in self.indexes.iter().filter(|it| it.table == *table) {
                index_rows(connection, index, changed)?;
            }
        }
        changed.clear();
        // Reuse the allocation.
        self.waiting().changed = changed;
        Ok(())
    }
}

/// Updates `index` with the current rows.
fn index_rows(connection: &Connection, index: &SideIndex, changed: &[Change]) -> rusqlite::Result<()> {
    let mut read = connection.prepare_cached(&index.read)?;
    let mut add = None;
    let mut put = None;
    let mut remove = None;
    for &Change { row, is_new, .. } in changed {
        let mut rows = read.query([row])?;
        let found = rows.next()?;
        let (statement, sql) = match (&found, is_new) {
            // Nothing to hold, and nothing held.
            (None, true) => continue,
            (None, false) => (&mut remove, &index.remove),
            (Some(_), true) => (&mut add, &index.add),
            (Some(_), false) => (&mut put, &index.put),
        };
        let Some(write) = prepare_once(connection, statement, sql)? else { return Ok(()) };
        write.raw_bind_parameter(1, row)?;
        if let Some(found) = found {
            for at in 0..index.width {
                write.raw_bind_parameter(at + 2, ToSqlOutput::Borrowed(found.get_ref(at)?))?;
            }
        }
        write.raw_execute()?;
    }
    Ok(())
}

/// Prepares `sql` when it is first needed. `None` if a load has dropped the index; whoever rebuilds it reads all rows.
fn prepare_once<'s, 'c>(
    connection: &'c Connection,
    statement: &'s mut Option<CachedStatement<'c>>,
    sql: &str,
) -> rusqlite::Result<Option<&'s mut CachedStatement<'c>>> {
    if statement.is_none() {
        match connection.prepare_cached(sql) {
            Ok(prepared) => *statement = Some(prepared),
            Err(Error::SqlInputError { msg, .. }) if msg.starts_with("no such table") => return Ok(None),
            Err(Error::SqliteFailure(_, Some(words))) if words.starts_with("no such table") => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(statement.as_mut())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched() -> (Connection, Arc<IndexMaintenance>) {
        let mut connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE TABLE dish (id INTEGER PRIMARY KEY, name TEXT);
                 CREATE VIRTUAL TABLE words USING fts5(name, content='', contentless_delete=1)",
            )
            .unwrap();
        let words = SideIndex {
            name: "words".into(),
            table: "dish".into(),
            read: "SELECT name FROM dish WHERE id = ?1 AND name IS NOT NULL".into(),
            width: 1,
            add: "INSERT INTO words (rowid, name) VALUES (?, ?)".into(),
            put: "INSERT OR REPLACE INTO words (rowid, name) VALUES (?, ?)".into(),
            remove: "DELETE FROM words WHERE rowid = ?1".into(),
        };
        let index_maintenance = IndexMaintenance::new(&mut connection, &[words]).unwrap();
        (connection, index_maintenance)
    }

    /// Each word with the rows it is found in.
    fn index(connection: &Connection) -> String {
        let find = |word: &str| {
            let sql =
                "SELECT group_concat(rowid) FROM (SELECT rowid FROM words WHERE words MATCH ?1 ORDER BY 1)";
            connection.query_row(sql, [word], |row| row.get::<_, Option<String>>(0)).unwrap()
        };
        let words = ["pho", "pie", "tea"].map(|word| format!("{word}:{}", find(word).unwrap_or_default()));
        words.join(" ")
    }

    #[test]
    fn rows_are_indexed_as_they_are_at_the_end() {
        let (connection, index_maintenance) = watched();
        let run =
            |sql: &str| index_maintenance.during(&connection, || connection.execute_batch(sql)).unwrap();
        let settled = || {
            index_maintenance.apply_changes(&connection).unwrap();
            index(&connection)
        };
        run("INSERT INTO dish VALUES (1, 'pho'), (2, 'pie'), (3, NULL), (4, 'tea')");
        assert_eq!(settled(), "pho:1 pie:2 tea:4");
        // New and changed; gone and back; new and gone; without a name and with one.
        run("INSERT INTO dish VALUES (5, 'pie'); UPDATE dish SET name = 'tea' WHERE id = 5");
        run("DELETE FROM dish WHERE id = 1; INSERT INTO dish VALUES (1, 'pie')");
        run("INSERT INTO dish VALUES (6, 'pho'); DELETE FROM dish WHERE id = 6");
        run("UPDATE dish SET name = 'pho' WHERE id = 3; UPDATE dish SET name = NULL WHERE id = 4");
        assert_eq!(settled(), "pho:3 pie:1,2 tea:5");
        run("DELETE FROM dish WHERE id IN (3, 5)");
        assert_eq!(settled(), "pho: pie:1,2 tea:");
    }

    #[test]
    fn what_waited_at_a_savepoint_waits_again_when_it_is_gone_back_to() {
        for settles_before in [false, true] {
            let (connection, index_maintenance) = watched();
            let run =
                |sql: &str| index_maintenance.during(&connection, || connection.execute_batch(sql)).unwrap();
            run("BEGIN; INSERT INTO dish VALUES (1, 'pho')");
            if settles_before {
                index_maintenance.apply_changes(&connection).unwrap();
            }
            run("INSERT INTO dish VALUES (2, 'pie'); SAVEPOINT job");
            index_maintenance.mark();
            run("INSERT INTO dish VALUES (3, 'tea'); DELETE FROM dish WHERE id = 1");
            index_maintenance.apply_changes(&connection).unwrap();
            assert_eq!(index(&connection), "pho: pie:2 tea:3");
            run("UPDATE dish SET name = 'tea' WHERE id = 2; ROLLBACK TO job; RELEASE job");
            index_maintenance.undo();
            run("SAVEPOINT job");
            index_maintenance.mark();
            run("INSERT INTO dish VALUES (3, 'pho'); RELEASE job");
            index_maintenance.apply_changes(&connection).unwrap();
            run("COMMIT");
            assert_eq!(index(&connection), "pho:1,3 pie:2 tea:", "{settles_before}");
        }
    }

    #[test]
    fn what_was_undone_without_a_search_is_forgotten() {
        let (connection, index_maintenance) = watched();
        let run =
            |sql: &str| index_maintenance.during(&connection, || connection.execute_batch(sql)).unwrap();
        run("BEGIN; INSERT INTO dish VALUES (2, 'pie'); SAVEPOINT job");
        index_maintenance.mark();
        run("INSERT INTO dish VALUES (3, 'tea'); ROLLBACK TO job; RELEASE job");
        index_maintenance.undo();
        index_maintenance.apply_changes(&connection).unwrap();
        run("COMMIT");
        assert_eq!(index(&connection), "pho: pie:2 tea:");
        assert!(index_maintenance.waiting().changed.is_empty());
    }
}
