//! Metadata of a store: its format, its texts of types by version, the next number, indexes still to be built,
//! and the progress of a bulk load.
//!
//! **Invariant:** a version is written in the transaction that makes the tables what it says.

use super::database::{self, Value};
use super::{Error, Types};
use crate::layout::Database;
use sha2::{Digest, Sha256};
use weir_relational::catalog::ColumnType;
use weir_relational::plan::ddl::{ColumnDefinition, Definition, Numbers, TableDefinition};

/// The format of a store's tables and values; a store of a later one is not opened, one of an earlier one is brought to this
/// one by a migration.
pub const FORMAT: i64 = 3;
/// The earliest format that is converted.
const FORMAT_MIN: i64 = 2;

/// The greatest number that an object may bring along: as many again are left for new ones.
pub(crate) const ID_MAX: i64 = i64::MAX / 2;

/// The source of object numbers.
pub(crate) const NUMBERS: Numbers = Numbers { sequence: "weir_ids", table: "weir_store", column: "next_id" };

/// A version of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Version number, counted from 1.
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

/// Definitions of the tables of this module.
pub(super) fn create(kind: Database) -> Vec<Definition> {
    let dialect = kind.store_dialect();
    let declared = |ty: &ColumnType| dialect.type_declaration(ty).0;
    let text = |name: &str| ColumnDefinition::not_null(name, declared(&ColumnType::Text));
    let small = |name: &str| ColumnDefinition::not_null(name, declared(&ColumnType::Int));
    let number = |name: &str| ColumnDefinition::not_null(name, declared(&ColumnType::BigInt));
    let table = |name: &str, columns: Vec<ColumnDefinition>| {
        Definition::CreateTable(TableDefinition { name: name.to_owned(), columns, key: Vec::new() })
    };
    let one = ColumnDefinition { only: Some(1), ..small("one").key() };
    let mut store = vec![one, small("format")];
    let sequence = dialect.create_numbers(&NUMBERS);
    let next = if sequence.is_none() { (", next_id", ", 1") } else { ("", "") };
    store.extend(sequence.is_none().then(|| number(NUMBERS.column)));
    let texts = ["hash", "sdl", "changes", "made_at"].map(text);
    vec![
        table("weir_store", store),
        table("weir_versions", [number("version").key()].into_iter().chain(texts).collect()),
        table("weir_builds", vec![text("name").key(), number("done")]),
        table(
            "weir_loads",
            vec![text("file").key(), text("mark"), number("bytes"), number("line"), number("objects")],
        ),
        Definition::CreateNumbers(NUMBERS),
        Definition::Run(format!(
            "INSERT INTO weir_store (one, format{}) VALUES (1, {FORMAT}{})",
            next.0, next.1
        )),
    ]
}

/// The version in force, or nothing where there is no store yet.
/// # Errors
/// The database holds other things, or a store of a format that is not known.
pub(super) fn current(database: &mut database::Database) -> Result<Option<Version>, Error> {
    if !database.has_table("weir_store")? {
        return Ok(None);
    }
    let format = database.query_value("SELECT format FROM weir_store", &[])?.int();
    if !(FORMAT_MIN..=FORMAT).contains(&format) {
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

/// Records that the store now has the tables of `types`.
pub(super) fn record(
    database: &mut database::Database,
    types: &Types,
    number: i64,
    changes: &[String],
) -> Result<(), Error> {
    let dialect = database.kind().store_dialect();
    let now = dialect.now();
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
    if let Some(announcing) = dialect.announce_version(number) {
        database.execute(&announcing, &[])?;
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
pub(crate) fn advance(database: &mut database::Database, id: i64) -> Result<(), Error> {
    let sql = database.kind().store_dialect().advance(&NUMBERS);
    database.query(&sql, &[id.into()], 1).map(drop)
}
