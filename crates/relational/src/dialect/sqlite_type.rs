//! Weir's type for a column type that SQLite declares.
//!
//! By the declaration alone, never by what is stored. One rule: a declaration means what PostgreSQL would take it
//! for, so that a schema that moves from one to the other keeps its GraphQL types. What PostgreSQL does not know
//! goes by the words of the declaration, and what they leave open keeps its own name. SQLite's affinity is no type: it
//! makes `POINT` an integer, because the letters `INT` are in it.
//!
//! | declared | type |
//! |---|---|
//! | `INT INTEGER INT4 MEDIUMINT TINYINT SERIAL` | `Int` |
//! | `SMALLINT INT2` | `smallint` |
//! | `BIGINT INT8 BIGSERIAL UNSIGNED BIG INT INT64 UINT32` | `bigint` |
//! | `REAL FLOAT4` | `Float` |
//! | `DOUBLE FLOAT FLOAT8 DOUBLE PRECISION` | `float8` |
//! | `NUMERIC DECIMAL DEC NUMBER MONEY NUM` | `numeric` |
//! | `BOOLEAN BOOL` | `Boolean` |
//! | `TEXT VARCHAR NVARCHAR CLOB STRING`, no type at all | `String` |
//! | `CHAR CHARACTER NCHAR` | `bpchar` |
//! | `DATE`, `DATETIME TIMESTAMP`, `TIMESTAMPTZ`, `TIME`, `TIMETZ`, `INTERVAL` | `date`, `timestamp`, … |
//! | `JSON`, `JSONB`, `UUID GUID UUID_TEXT`, `BLOB BINARY VARBINARY BYTEA` | `json`, `jsonb`, `uuid`, `bytea` |

use crate::catalog::facts::Cell;
use crate::catalog::{ColumnType, Storage};

/// Width of integers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Integers {
    /// The declared width: `INTEGER` has 32 bits, `BIGINT` 64.
    #[default]
    Declared,
    /// All have 64 bits, as SQLite stores them.
    BigInt,
}

/// The type for a declaration such as `NVARCHAR(160)`.
pub fn column_type(declared: &str, integers: Integers) -> ColumnType {
    let name = normal(declared);
    let ty = by_name(&name).or_else(|| by_integer_words(&name)).unwrap_or_else(|| by_affinity(name));
    match (integers, ty) {
        (Integers::BigInt, ColumnType::SmallInt | ColumnType::Int) => ColumnType::BigInt,
        (Integers::BigInt | Integers::Declared, ty) => ty,
    }
}

/// Upper case, one blank between words, nothing in parentheses.
fn normal(declared: &str) -> String {
    let mut out = String::with_capacity(declared.len());
    let mut depth = 0_u32;
    for c in declared.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            c if c.is_whitespace() => {
                if !out.is_empty() && !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            c => out.push(c.to_ascii_uppercase()),
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Declarations that name a type, in capitals and without parentheses.
pub static NAMED: [(ColumnType, &[&str]); 20] = [
    (ColumnType::Int, &["INT", "INTEGER", "INT4", "MEDIUMINT", "TINYINT", "SERIAL"]),
    (ColumnType::SmallInt, &["SMALLINT", "INT2", "SMALLSERIAL"]),
    (ColumnType::BigInt, &["BIGINT", "INT8", "BIGSERIAL"]),
    (ColumnType::Real, &["REAL", "FLOAT4"]),
    (ColumnType::Double, &["DOUBLE", "DOUBLE PRECISION", "FLOAT", "FLOAT8"]),
    (ColumnType::Numeric, &["NUMERIC", "DECIMAL", "DEC", "NUMBER", "MONEY", "NUM"]),
    (ColumnType::Boolean, &["BOOLEAN", "BOOL"]),
    (ColumnType::Text, &["", "STRING", "TEXT", "VARCHAR", "NVARCHAR", "CLOB"]),
    (ColumnType::Char, &["CHAR", "CHARACTER", "NCHAR", "BPCHAR", "NATIVE CHARACTER"]),
    (ColumnType::CiText, &["CITEXT"]),
    (ColumnType::Uuid, &["UUID", "GUID", "UNIQUEIDENTIFIER", "UUID_TEXT"]),
    (ColumnType::Date, &["DATE"]),
    (ColumnType::Timestamp, &["DATETIME", "TIMESTAMP", "TIMESTAMP WITHOUT TIME ZONE"]),
    (ColumnType::TimestampTz, &["TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE"]),
    (ColumnType::Time, &["TIME", "TIME WITHOUT TIME ZONE"]),
    (ColumnType::TimeTz, &["TIMETZ", "TIME WITH TIME ZONE"]),
    (ColumnType::Interval, &["INTERVAL"]),
    (ColumnType::Json, &["JSON"]),
    (ColumnType::Jsonb, &["JSONB"]),
    (ColumnType::Bytes, &["BLOB", "BINARY", "VARBINARY", "BYTEA"]),
];

fn by_name(name: &str) -> Option<ColumnType> {
    NAMED.iter().find(|(_, names)| names.contains(&name)).map(|(ty, _)| ty.clone())
}

/// The integer that a word of a declaration names, as MySQL, Go and others spell it; `None`: no word does, or another one names
/// a type that is no integer.
fn by_integer_words(name: &str) -> Option<ColumnType> {
    let words = || name.split([' ', '_']).filter(|it| !it.is_empty());
    let others = ["CHAR", "CLOB", "TEXT", "STRING", "BLOB", "REAL", "FLOAT", "DOUBLE", "NUMERIC", "DECIMAL"];
    if words().any(|word| others.iter().any(|it| word.contains(it))) {
        return None;
    }
    let found = words().find_map(integer_word)?;
    Some(if words().any(|it| matches!(it, "BIG" | "LONG")) { ColumnType::BigInt } else { found })
}

/// The integer that one word names: `INT`, `UINT8`, `INT24`, `MEDIUMINT`, `LONGINT` and the like.
fn integer_word(word: &str) -> Option<ColumnType> {
    Some(match word.strip_prefix("UNSIGNED").unwrap_or(word) {
        "INT" | "INTEGER" | "TINYINT" | "MEDIUMINT" | "INT1" | "INT3" | "INT4" | "INT16" | "INT24"
        | "INT32" | "UINT" | "UINT8" | "UINT16" | "SERIAL" => ColumnType::Int,
        "SMALLINT" | "INT2" => ColumnType::SmallInt,
        // An integer of 32 bits without a sign has one bit more than `Int`.
        "BIGINT" | "LONGINT" | "INT8" | "INT64" | "UINT32" | "UINT64" => ColumnType::BigInt,
        _ => return None,
    })
}

/// SQLite's rules for what is no integer, in SQLite's order. Source: sqlite.org/datatype3.html, section 3.1. A declaration of
/// integers by its letters alone has no type of ours: its values are given as they are stored.
fn by_affinity(name: String) -> ColumnType {
    let has = |part: &str| name.contains(part);
    if has("FLOA") {
        // With `INT` in it, as in `FLOATING POINT`, whole numbers keep all their digits.
        return if has("INT") { ColumnType::Numeric } else { ColumnType::Double };
    }
    if name.starts_with("INTERVAL ") {
        return ColumnType::Interval;
    }
    if has("INT") && !has("CHAR") {
        return ColumnType::Other(name.to_ascii_lowercase());
    }
    if has("CHAR") || has("CLOB") || has("TEXT") {
        ColumnType::Text
    } else if has("BLOB") {
        ColumnType::Bytes
    } else if has("REAL") || has("FLOA") || has("DOUB") {
        ColumnType::Double
    } else {
        ColumnType::Other(name.to_ascii_lowercase())
    }
}

/// Ways in which the values of a column declared so may be stored. Tables that are `STRICT` hold what they declare.
pub fn storage(declared: &str, ty: &ColumnType, is_strict: bool) -> Storage {
    let has_no_type = declared.is_empty() || declared.eq_ignore_ascii_case("any");
    match ty.facts().cell {
        Cell::Text | Cell::Capitals if has_no_type => Storage::Anything,
        _ if is_strict => Storage::Exact,
        Cell::Boolean => Storage::Truths,
        Cell::Uuid => Storage::Uuids,
        Cell::Bytes => Storage::Bytes,
        Cell::Json => Storage::Documents,
        Cell::Text | Cell::Capitals => Storage::Texts,
        // Numbers compare by value in every form, and other values in such a column are errors.
        Cell::Int | Cell::BigInt | Cell::Float | Cell::Numeric | Cell::Id => Storage::Exact,
    }
}

/// True if the programs that declare a UUID so keep its 16 bytes: `uuid_text` is SeaORM's word for them.
pub fn keeps_bytes(declared: &str) -> bool {
    normal(declared) == "UUID_TEXT"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(declared: &str, expected: ColumnType) {
        assert_eq!(column_type(declared, Integers::Declared), expected, "{declared}");
    }

    #[test]
    fn a_declaration_means_what_postgresql_would_take_it_for() {
        check("INTEGER", ColumnType::Int);
        check("int", ColumnType::Int);
        check("TinyInt(1)", ColumnType::Int);
        check("smallint", ColumnType::SmallInt);
        check("BIGINT", ColumnType::BigInt);
        check("REAL", ColumnType::Real);
        check("double  precision", ColumnType::Double);
        check("NUMERIC(10,2)", ColumnType::Numeric);
        check("decimal (10, 5)", ColumnType::Numeric);
        check("NVARCHAR(160)", ColumnType::Text);
        check("CHARACTER VARYING(20)", ColumnType::Text);
        check("char(3)", ColumnType::Char);
        check("DATETIME", ColumnType::Timestamp);
        check("timestamp with time zone", ColumnType::TimestampTz);
        check("jsonb", ColumnType::Jsonb);
        check("", ColumnType::Text);
    }

    #[test]
    fn what_is_unknown_goes_by_affinity_and_else_keeps_its_name() {
        check("UNSIGNED BIG INT", ColumnType::BigInt);
        check("INTEGER UNSIGNED", ColumnType::Int);
        check("INT(11)", ColumnType::Int);
        check("UINT8", ColumnType::Int);
        check("INT IDENTITY(1, 1)", ColumnType::Int);
        check("INTEGER OR TEXT", ColumnType::Other("integer or text".into()));
        check("interval day to second", ColumnType::Interval);
        check("uint32", ColumnType::BigInt);
        check("int16", ColumnType::Int);
        check("BIGINT UNSIGNED", ColumnType::BigInt);
        check("tinyint(1) unsigned", ColumnType::Int);
        check("FLOATING POINT", ColumnType::Numeric);
        check("POINT", ColumnType::Other("point".into()));
        check("MULTIPOINT", ColumnType::Other("multipoint".into()));
        check("INTEGER_OR_TEXT", ColumnType::Other("integer_or_text".into()));
        check("uuid_text", ColumnType::Uuid);
        check("NUM", ColumnType::Numeric);
        check("MEDIUMTEXT", ColumnType::Text);
        check("LONGBLOB", ColumnType::Bytes);
        check("FLOATING", ColumnType::Double);
        check("Geometry(POINT)", ColumnType::Other("geometry".into()));
    }

    #[test]
    fn integers_widen_when_the_source_says_so() {
        for declared in ["INTEGER", "SMALLINT", "BIGINT"] {
            assert_eq!(column_type(declared, Integers::BigInt), ColumnType::BigInt, "{declared}");
        }
        assert_eq!(column_type("TEXT", Integers::BigInt), ColumnType::Text);
    }
}
