//! Texts in rows of SQLite's own tables.

use rusqlite::{Result, Row};

/// A text that may be stored as anything; SQLite lets names be bytes. Null is empty.
pub(crate) fn text(row: &Row<'_>, at: usize) -> Result<String> {
    Ok(String::from_utf8_lossy(row.get_ref(at)?.as_bytes_or_null()?.unwrap_or_default()).into_owned())
}
