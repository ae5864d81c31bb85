//! The schema `hdb_catalog` of a PostgreSQL, which the log of events and the state share: how it is made, and what is said where it is
//! another server's.
//!
//! **Invariant:** whoever makes tables in it begins with [`MAKE_SCHEMA`], so that servers, and the parts of one, that start together wait
//! for each other.

/// Statements that make the schema, for the beginning of a transaction. `CREATE SCHEMA IF NOT EXISTS` would ask for the right to make it
/// where it is there already, and two of them at once fail.
pub const MAKE_SCHEMA: [&str; 2] = [
    "SELECT pg_catalog.pg_advisory_xact_lock(8462193711)::text",
    "DO $weir$ BEGIN IF pg_catalog.to_regnamespace('hdb_catalog') IS NULL THEN CREATE SCHEMA hdb_catalog; END IF; END $weir$",
];

/// The reason why `subject` wait beside a schema of another server; `left` adds the work that waits, in words.
pub fn foreign_words(subject: &str, left: &str) -> String {
    format!(
        "{subject} wait, as `hdb_catalog` is another server's{left}; when that server is gone, take them over by `weir events take-over`, \
         or `events: take_over` in weir.yaml"
    )
}
