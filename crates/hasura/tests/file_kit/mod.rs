//! Files of SQLite that go with their tests.

#![allow(dead_code, unreachable_pub, reason = "every test that has it uses a part of it")]

use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// Runs statements beside a source; gives the first column of the first row.
pub type Beside = Box<dyn FnMut(&str) -> String>;

/// The path of a file, which goes with it, as do those that SQLite puts beside it.
pub struct DatabaseFile(pub PathBuf);

impl DatabaseFile {
    /// A path of its own, where nothing is yet.
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(std::env::temp_dir().join(format!("weir-test-{}-{number}.db", std::process::id())))
    }

    /// A connection to it.
    pub fn open(&self) -> Connection {
        Connection::open(&self.0).unwrap()
    }

    /// A connection to a new file made by `sql`, which need not outlive the machine.
    pub fn fill(&self, sql: &str) -> Connection {
        let connection = self.open();
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF").unwrap();
        connection.execute_batch(sql).unwrap();
        connection
    }
}

impl Drop for DatabaseFile {
    fn drop(&mut self) {
        for end in ["", "-wal", "-shm", "-journal"] {
            let _ = std::fs::remove_file(format!("{}{end}", self.0.display()));
        }
    }
}

/// Statements on `connection`.
pub fn beside(connection: Connection) -> Beside {
    Box::new(move |sql| {
        if sql.starts_with("SELECT") {
            connection.query_row(sql, [], |row| row.get(0)).unwrap()
        } else {
            connection.execute_batch(sql).unwrap();
            String::new()
        }
    })
}
