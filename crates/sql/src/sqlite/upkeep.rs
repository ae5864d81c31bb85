//! Keeps indexes of words and boxes up to date, once for all mutations that share a commit.
//!
//! Such an index is a table of its own, which triggers keep up to date whoever writes. A statement that sets off such a trigger
//! has its own journal, for which SQLite lets the index write down what it holds: each row then costs a segment of the index,
//! and segments are merged again and again. The writer has no triggers: it remembers the rows that were changed, and brings
//! the indexes up to date before the commit, or before one of them is searched.
//!
//! **Invariant:** what is committed stands in every index as the triggers would have it. A row is looked at as it is then, so
//! one that was remembered for nothing, or twice, changes nothing.
//!
//! **Cost:** a pair of numbers for each row that is changed, at most [`ROWS_MAX`]; then a look-up and a write per index.

use super::prepared::Prepared;
use crate::relational::program::Kept;
use rusqlite::config::DbConfig;
use rusqlite::types::Value;
use rusqlite::{Connection, Error, params_from_iter};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// So many rows are remembered.
const ROWS_MAX: usize = 100_000;

/// See the module's words.
#[derive(Debug, Default)]
pub(super) struct Upkeep {
    indexes: Box<[Kept]>,
    /// The place of the first index of its table, and the number of the row.
    changed: Mutex<Vec<(u32, i64)>>,
    /// Whether the statement that runs changes what is indexed.
    listens: AtomicBool,
}

impl Upkeep {
    /// Takes over `indexes` from the triggers of `connection`.
    pub(super) fn new(connection: &mut Connection, indexes: &[Kept]) -> rusqlite::Result<Arc<Self>> {
        let upkeep = Arc::new(Self { indexes: indexes.into(), ..Self::default() });
        if indexes.is_empty() {
            return Ok(upkeep);
        }
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        let hears = Arc::clone(&upkeep);
        connection.update_hook(Some(move |_, _: &str, table: &str, row| {
            if hears.listens.load(Ordering::Relaxed)
                && let Some(at) = hears.indexes.iter().position(|it| *it.table == *table)
            {
                hears.changed().push((at as u32, row));
            }
        }))?;
        Ok(upkeep)
    }

    fn changed(&self) -> MutexGuard<'_, Vec<(u32, i64)>> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers the rows that `run` changes.
    pub(super) fn during<T>(
        &self,
        connection: &Connection,
        run: impl FnOnce() -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        self.listens.store(true, Ordering::Relaxed);
        let done = run();
        self.listens.store(false, Ordering::Relaxed);
        if self.changed().len() > ROWS_MAX {
            self.settle(connection)?;
        }
        done
    }

    /// Forgets what was changed, because it was taken back.
    pub(super) fn forget(&self) {
        self.changed().clear();
    }

    /// Brings the indexes up to date if `prepared` searches one of them.
    pub(super) fn settle_for(&self, connection: &Connection, prepared: &Prepared) -> rusqlite::Result<()> {
        let is_searched =
            |it: &Kept| prepared.statements.iter().any(|ready| ready.statement.sql.contains(&*it.name));
        match !self.changed().is_empty() && self.indexes.iter().any(is_searched) {
            true => self.settle(connection),
            false => Ok(()),
        }
    }

    /// Brings the indexes up to date.
    pub(super) fn settle(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut changed = std::mem::take(&mut *self.changed());
        changed.sort_unstable();
        changed.dedup();
        for (of, row) in &changed {
            let table = &self.indexes[*of as usize].table;
            for index in self.indexes.iter().filter(|it| it.table == *table) {
                index_row(connection, index, *row)?;
            }
        }
        changed.clear();
        // Its room is used again.
        *self.changed() = changed;
        Ok(())
    }
}

/// Makes `index` hold the row as it is now.
fn index_row(connection: &Connection, index: &Kept, row: i64) -> rusqlite::Result<()> {
    let mut read = connection.prepare_cached(&index.read)?;
    let mut rows = read.query([row])?;
    let cells = match rows.next()? {
        Some(found) => {
            Some((0..index.width).map(|at| found.get(at)).collect::<rusqlite::Result<Vec<Value>>>()?)
        }
        None => None,
    };
    let sql = if cells.is_some() { &index.put } else { &index.remove };
    match connection.prepare_cached(sql) {
        Ok(mut write) => {
            let values = std::iter::once(Value::Integer(row)).chain(cells.into_iter().flatten());
            write.execute(params_from_iter(values)).map(drop)
        }
        // A load has taken it away; who builds it again reads all rows.
        Err(Error::SqlInputError { msg, .. }) if msg.starts_with("no such table") => Ok(()),
        Err(Error::SqliteFailure(_, Some(words))) if words.starts_with("no such table") => Ok(()),
        Err(error) => Err(error),
    }
}
