//! Health check: can a process that starts now serve the file?
//!
//! The connections that serve keep what they opened, even when it is gone or replaced in the folder; so the question is asked
//! by a connection of its own, on a thread of its own: a file system that hangs holds up nobody.
//!
//! **Invariant:** at most one such thread per database.

use crate::connection::Database;
use crate::error::Error;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use tokio::sync::oneshot;

/// Ends a probe's turn when dropped.
struct Turn(Arc<AtomicBool>);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Asks; `asking` says whether someone does already.
pub async fn probe(
    database: &Arc<Database>,
    asking: &Arc<AtomicBool>,
    deadline: Instant,
) -> Result<(), Error> {
    if asking.swap(true, Ordering::Acquire) {
        // The one before has not come back.
        return Err(Error::Timeout);
    }
    let turn = Turn(Arc::clone(asking));
    let database = Arc::clone(database);
    let (tell, told) = oneshot::channel();
    let thread = std::thread::Builder::new().name("sql-health".into()).spawn(move || {
        let found = ask(database.path(), deadline);
        drop(turn);
        // Nobody waits any more after the deadline.
        let _ = tell.send(found);
    });
    thread.map_err(Error::Thread)?;
    match tokio::time::timeout_at(deadline.into(), told).await {
        Ok(Ok(found)) => found.map_err(Error::Sqlite),
        Ok(Err(_)) => Err(Error::Broken("the probe ended without a word")),
        Err(_) => Err(Error::Timeout),
    }
}

/// Opens the file and reads from it.
fn ask(path: &Path, deadline: Instant) -> rusqlite::Result<()> {
    let mode = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, mode)?;
    // A lock held for longer is reported as a lock, not as a timeout.
    connection.busy_timeout(deadline.saturating_duration_since(Instant::now()) / 2)?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::Tuning;
    use rusqlite::ErrorCode;
    use std::time::Duration;

    /// Asks after a database of which `trouble` has made what it is.
    fn check(name: &str, trouble: fn(&Path) -> Option<Connection>, expected: Option<ErrorCode>) {
        let path = std::env::temp_dir().join(format!("weir-sqlite-health-{name}-{}.db", std::process::id()));
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE a (x INTEGER)").unwrap();
        let held = trouble(&path);
        let database = Database::new(&path, Tuning::USUAL);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let asking = Arc::default();
        let deadline = Instant::now() + Duration::from_secs(2);
        let found = runtime.block_on(async { probe(&database, &asking, deadline).await });
        drop(held);
        let _ = std::fs::remove_file(&path);
        let code = found.err().and_then(|it| match it {
            Error::Sqlite(error) => error.sqlite_error_code(),
            other => panic!("{name}: {other}"),
        });
        assert_eq!(code, expected, "{name}");
    }

    #[test]
    fn a_file_that_can_be_read_is_well() {
        check("well", |_| None, None);
    }

    #[test]
    fn a_file_that_is_locked_or_gone_or_something_else_is_not() {
        let locked = |path: &Path| {
            let other = Connection::open(path).unwrap();
            other.execute_batch("BEGIN EXCLUSIVE").unwrap();
            Some(other)
        };
        check("locked", locked, Some(ErrorCode::DatabaseBusy));
        let gone = |path: &Path| {
            std::fs::remove_file(path).unwrap();
            None
        };
        check("gone", gone, Some(ErrorCode::CannotOpen));
        let other = |path: &Path| {
            std::fs::write(path, "no database ".repeat(100)).unwrap();
            None
        };
        check("other", other, Some(ErrorCode::NotADatabase));
    }

    #[test]
    fn while_one_asks_no_other_thread_does() {
        let database = Database::new(Path::new("nowhere.db"), Tuning::USUAL);
        let asking = Arc::new(AtomicBool::new(true));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let found = runtime.block_on(async { probe(&database, &asking, Instant::now()).await });
        assert!(matches!(found, Err(Error::Timeout)), "{found:?}");
    }
}
