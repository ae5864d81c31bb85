//! SQL functions for checks of written rows.
//!
//! `weir_check` fails unless its condition is true, in a column of `RETURNING`. An upsert that has one check for a new row and
//! another for a row that was there notes its branch on the connection: `weir_begin_upsert` stands around its first value,
//! `weir_mark_update` in the condition of its `DO UPDATE`.
//!
//! **Invariant:** a statement that asks `weir_is_updated` inserts one row, and has begun with `weir_begin_upsert`.

use rusqlite::functions::FunctionFlags;
use rusqlite::types::Value;
use rusqlite::{Connection, Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use weir_relational::dialect::CHECK_FAILED;

pub(crate) fn register(connection: &Connection) -> Result<()> {
    // Not deterministic, so SQLite calls them once per row.
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function(c"weir_check", 1, flags, |context| match context.get_raw(0) {
        rusqlite::types::ValueRef::Integer(0) | rusqlite::types::ValueRef::Null => {
            Err(Error::UserFunctionError(CHECK_FAILED.into()))
        }
        _ => Ok(true),
    })?;
    let is_updated = Arc::new(AtomicBool::new(false));
    let [begun, marked] = [Arc::clone(&is_updated), Arc::clone(&is_updated)];
    connection.create_scalar_function(c"weir_begin_upsert", 1, flags, move |context| {
        begun.store(false, Ordering::Relaxed);
        context.get::<Value>(0)
    })?;
    connection.create_scalar_function(c"weir_mark_update", 0, flags, move |_| {
        marked.store(true, Ordering::Relaxed);
        Ok(true)
    })?;
    connection
        .create_scalar_function(c"weir_is_updated", 0, flags, move |_| Ok(is_updated.load(Ordering::Relaxed)))
}
