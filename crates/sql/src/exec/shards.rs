//! Words for what a database of shards cannot do: what, where, and how to mend it.
//!
//! **Invariant:** a table and its columns are named only to callers who may see them.

use super::errors::coded;
use crate::frontend::ApiFrontend;
use weir_engine::source::{FieldError, Protocol};
use weir_relational::plan::write::{Refusal, Unsupported};

/// The code of all of them, for both protocols.
pub(crate) const CODES: (&str, &str) = ("NOT_SUPPORTED", "not-supported");

/// A change that a database of shards refuses, for callers with these facts.
#[cold]
pub(crate) fn refused(
    refusal: &Unsupported,
    frontend: &dyn ApiFrontend,
    facts: &[u64],
    protocol: Protocol,
) -> FieldError {
    let table = frontend.relations().catalog.table(refusal.table);
    let column = &table.column(refusal.column).name;
    let (table, column) = match frontend.is_exposed(refusal.table, Some(column), facts) {
        true => (format!("`{}`", table.name), format!("`{column}`")),
        false => ("the table".to_owned(), "its distribution column".to_owned()),
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
    coded(protocol, CODES.0, CODES.1, message)
}
