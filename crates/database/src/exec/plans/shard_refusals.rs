//! Errors for requests that a sharded database cannot run, each with a remedy.
//!
//! **Invariant:** a table and its columns are named only to callers who may see them.

use crate::exec::errors::error_with_code;
use crate::frontend::ApiFrontend;
use weir_engine::source::{FieldError, Protocol};
use weir_relational::plan::write::{Refusal, Unsupported};

/// The code of these errors, for both protocols.
pub(crate) const CODES: (&str, &str) = ("NOT_SUPPORTED", "not-supported");

/// The error of a change that a sharded database refuses, for callers with these facts.
#[cold]
pub(crate) fn shard_refusal(
    refusal: &Unsupported,
    frontend: &dyn ApiFrontend,
    facts: &[u64],
    protocol: Protocol,
) -> FieldError {
    let table = frontend.relations().catalog.table(refusal.table);
    let column = &table.column(refusal.column).name;
    let (table, column) = if frontend.is_exposed(refusal.table, Some(column), facts) {
        (format!("`{}`", table.name), format!("`{column}`"))
    } else {
        ("the table".to_owned(), "its distribution column".to_owned())
    };
    let message = match refusal.reason {
        Refusal::Moves => format!(
            "the rows of {table} are spread over shards by {column}, which a change cannot set to another value: leave {column} \
             out, or set it to the value by which the rows are found; to move a row, delete it and insert it anew"
        ),
        Refusal::UpsertReads => format!(
            "the rows of {table} are spread over shards, where the condition of `on_conflict` cannot read other tables: compare \
             columns of {table} alone, in `where` and in the permission to update"
        ),
    };
    error_with_code(protocol, CODES.0, CODES.1, message)
}
