//! Weir's type for a column type that SQLite declares.
//!
//! By the declaration alone, never by what is stored. One rule: a declaration means what PostgreSQL would take it
//! for, so that a schema that moves from one to the other keeps its GraphQL types. What PostgreSQL does not know
//! goes by SQLite's own affinity rules, and what they leave open keeps its own name.
//!
//! | declared | type |
//! |---|---|
//! | `INT INTEGER INT4 MEDIUMINT TINYINT SERIAL` | `Int` |
//! | `SMALLINT INT2` | `smallint` |
//! | `BIGINT INT8 BIGSERIAL UNSIGNED BIG INT` | `bigint` |
//! | `REAL FLOAT4` | `Float` |
//! | `DOUBLE FLOAT FLOAT8 DOUBLE PRECISION` | `float8` |
//! | `NUMERIC DECIMAL DEC NUMBER MONEY` | `numeric` |
//! | `BOOLEAN BOOL` | `Boolean` |
//! | `TEXT VARCHAR NVARCHAR CLOB STRING`, no type at all | `String` |
//! | `CHAR CHARACTER NCHAR` | `bpchar` |
//! | `DATE`, `DATETIME TIMESTAMP`, `TIMESTAMPTZ`, `TIME`, `TIMETZ`, `INTERVAL` | `date`, `timestamp`, … |
//! | `JSON`, `JSONB`, `UUID GUID`, `BLOB BINARY VARBINARY BYTEA` | `json`, `jsonb`, `uuid`, `bytea` |

use crate::catalog::ColumnType;

/// Width of integers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Integers {
    /// As declared: `INTEGER` has 32 bits, `BIGINT` 64.
    #[default]
    Declared,
    /// All have 64 bits, as SQLite stores them.
    BigInt,
}

/// The type for a declaration such as `NVARCHAR(160)`.
#[must_use]
pub fn column_type(declared: &str, integers: Integers) -> ColumnType {
    let name = normal(declared);
    let ty = by_name(&name).unwrap_or_else(|| by_affinity(name));
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

fn by_name(name: &str) -> Option<ColumnType> {
    Some(match name {
        "INT" | "INTEGER" | "INT4" | "MEDIUMINT" | "TINYINT" | "SERIAL" => ColumnType::Int,
        "SMALLINT" | "INT2" | "SMALLSERIAL" => ColumnType::SmallInt,
        "BIGINT" | "INT8" | "BIGSERIAL" => ColumnType::BigInt,
        "REAL" | "FLOAT4" => ColumnType::Real,
        "DOUBLE" | "DOUBLE PRECISION" | "FLOAT" | "FLOAT8" => ColumnType::Double,
        "NUMERIC" | "DECIMAL" | "DEC" | "NUMBER" | "MONEY" => ColumnType::Numeric,
        "BOOLEAN" | "BOOL" => ColumnType::Boolean,
        "" | "STRING" => ColumnType::Text,
        "CHAR" | "CHARACTER" | "NCHAR" | "BPCHAR" | "NATIVE CHARACTER" => ColumnType::Char,
        "CITEXT" => ColumnType::CiText,
        "UUID" | "GUID" | "UNIQUEIDENTIFIER" => ColumnType::Uuid,
        "DATE" => ColumnType::Date,
        "DATETIME" | "TIMESTAMP" | "TIMESTAMP WITHOUT TIME ZONE" => ColumnType::Timestamp,
        "TIMESTAMPTZ" | "TIMESTAMP WITH TIME ZONE" => ColumnType::TimestampTz,
        "TIME" | "TIME WITHOUT TIME ZONE" => ColumnType::Time,
        "TIMETZ" | "TIME WITH TIME ZONE" => ColumnType::TimeTz,
        "INTERVAL" => ColumnType::Interval,
        "JSON" => ColumnType::Json,
        "JSONB" => ColumnType::Jsonb,
        "BLOB" | "BINARY" | "VARBINARY" | "BYTEA" => ColumnType::Bytes,
        _ => return None,
    })
}

/// SQLite's rules, in SQLite's order. Source: sqlite.org/datatype3.html, section 3.1.
fn by_affinity(name: String) -> ColumnType {
    let has = |part: &str| name.contains(part);
    if has("INT") {
        return if has("BIG") { ColumnType::BigInt } else { ColumnType::Int };
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
