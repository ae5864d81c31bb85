//! Metadata of a store: its format, its texts of types by version, the next number, indexes still to be built,
//! and the progress of a bulk load.
//!
//! **Invariant:** a version is written in the transaction that makes the tables what it says.

use super::database::{Database, Value};
use super::{Error, Types};
use crate::layout;
use sha2::{Digest, Sha256};
use weir_relational::plan::ddl::Numbers;

/// The format of a store's tables and values; a store of a later one is not opened, one of an earlier one is brought to this
/// one by a migration.
pub const FORMAT: i64 = 2;

/// The greatest number that an object may bring along: as many again are left for new ones.
pub(crate) const ID_MAX: i64 = i64::MAX / 2;

/// PostgreSQL's sequence of object numbers. SQLite has the next one in `weir_store.next_id`.
pub const SEQUENCE: &str = "weir_ids";

/// The source of object numbers.
pub(crate) const NUMBERS: Numbers = Numbers { sequence: SEQUENCE, table: "weir_store", column: "next_id" };

const SQLITE: [&str; 5] = [
    "CREATE TABLE weir_store (one INTEGER PRIMARY KEY CHECK (one = 1), format INTEGER NOT NULL, \
     next_id INTEGER NOT NULL) STRICT",
    "CREATE TABLE weir_versions (version INTEGER PRIMARY KEY, hash TEXT NOT NULL, sdl TEXT NOT NULL, \
     changes TEXT NOT NULL, made_at TEXT NOT NULL) STRICT",
    "CREATE TABLE weir_builds (name TEXT PRIMARY KEY, done INTEGER NOT NULL) STRICT",
    "CREATE TABLE weir_loads (file TEXT PRIMARY KEY, mark TEXT NOT NULL, bytes INTEGER NOT NULL, \
     line INTEGER NOT NULL, objects INTEGER NOT NULL) STRICT",
    "INSERT INTO weir_store (one, format, next_id) VALUES (1, 2, 1)",
];

const POSTGRES: [&str; 6] = [
    "CREATE TABLE weir_store (one integer PRIMARY KEY CHECK (one = 1), format integer NOT NULL)",
    "CREATE TABLE weir_versions (version bigint PRIMARY KEY, hash text NOT NULL, sdl text NOT NULL, \
     changes text NOT NULL, made_at text NOT NULL)",
    "CREATE TABLE weir_builds (name text PRIMARY KEY, done bigint NOT NULL)",
    "CREATE TABLE weir_loads (file text PRIMARY KEY, mark text NOT NULL, bytes bigint NOT NULL, \
     line bigint NOT NULL, objects bigint NOT NULL)",
    "CREATE SEQUENCE weir_ids",
    "INSERT INTO weir_store (one, format) VALUES (1, 2)",
];

/// A version of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Counted from 1.
    pub number: i64,
    /// The format of the store.
    pub format: i64,
    /// SHA-256 of the text, in hexadecimal digits.
    pub hash: String,
    /// The text of types.
    pub sdl: String,
    /// Changes, a line each.
    pub changes: String,
    /// When, as RFC 3339 has it, in UTC.
    pub made_at: String,
}

/// The statements that make the tables of this module.
pub(super) fn create(kind: layout::Database) -> &'static [&'static str] {
    match kind {
        layout::Database::Sqlite => &SQLITE,
        layout::Database::Postgres => &POSTGRES,
    }
}

/// The version in force, or nothing where there is no store yet.
/// # Errors
/// The database holds other things, or a store of a later format.
pub(super) fn current(database: &mut Database) -> Result<Option<Version>, Error> {
    if !database.has_table("weir_store")? {
        return Ok(None);
    }
    let format = database.one("SELECT format FROM weir_store", &[])?.int();
    if !(1..=FORMAT).contains(&format) {
        return Err(Error::Format { found: format });
    }
    let sql = "SELECT version, hash, sdl, changes, made_at FROM weir_versions ORDER BY version DESC LIMIT 1";
    let rows = database.query(sql, &[], 5)?;
    Ok(rows.first().map(|row| Version {
        number: row[0].int(),
        format,
        hash: row[1].text(),
        sdl: row[2].text(),
        changes: row[3].text(),
        made_at: row[4].text(),
    }))
}

/// Writes that the store is now what `types` says.
pub(super) fn record(
    database: &mut Database,
    types: &Types,
    number: i64,
    changes: &[String],
) -> Result<(), Error> {
    let now = match database.kind() {
        layout::Database::Sqlite => "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')",
        layout::Database::Postgres => "to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')",
    };
    let sql = format!(
        "INSERT INTO weir_versions (version, hash, sdl, changes, made_at) VALUES ($1, $2, $3, $4, {now})"
    );
    let values: [Value; 4] = [
        number.into(),
        hash(&types.sdl).as_str().into(),
        types.sdl.as_str().into(),
        changes.join("\n").as_str().into(),
    ];
    database.execute(&sql, &values)?;
    if database.kind() == layout::Database::Sqlite {
        // Servers look at it before they write.
        database.execute(&format!("PRAGMA user_version = {number}"), &[])?;
    }
    Ok(())
}

/// SHA-256 in hexadecimal digits.
pub(crate) fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Makes sure that numbers given from now on are greater than `id`.
/// # Errors
/// The database refused it.
pub(crate) fn advance(database: &mut Database, id: i64) -> Result<(), Error> {
    match database.kind() {
        layout::Database::Sqlite => {
            database.execute("UPDATE weir_store SET next_id = max(next_id, $1 + 1)", &[id.into()])?;
        }
        layout::Database::Postgres => {
            let sql = "SELECT setval('weir_ids', greatest($1::bigint, (SELECT last_value FROM weir_ids)))";
            database.query(sql, &[id.into()], 1)?;
        }
    }
    Ok(())
}
