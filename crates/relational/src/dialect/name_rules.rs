//! Rules for names of tables, columns and indexes that every database accepts.

/// Maximum length of a name in PostgreSQL, in bytes.
pub const NAME_BYTES_MAX: usize = 63;

/// Beginnings of names that belong to databases. Case makes no difference.
pub const RESERVED_PREFIXES: [&str; 2] = ["sqlite_", "pg_"];

/// Suffixes that SQLite appends to the name of a virtual table for its shadow tables.
pub const SHADOW_SUFFIXES: [&str; 8] =
    ["_data", "_idx", "_content", "_docsize", "_config", "_node", "_parent", "_rowid"];
