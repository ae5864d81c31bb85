//! Reads values that SQLite stores, by the column's type.
//!
//! SQLite lets any value stand in any column; what does not fit the declared type is a field error, never a guess.
//! The table of all cases is in `docs/sources/sqlite-values.md`.
//!
//! **Cost:** no allocation, except for blobs, numbers in text columns and the check of stored JSON.

use crate::exec::cell_value::{CellValue, Fault, hex, is_number};
use rusqlite::types::ValueRef;
use std::borrow::Cow;
use weir_language::json::Json;
use weir_relational::catalog::facts::Cell;
use weir_sqlite::binary_json::document;
use weir_sqlite::stored_forms::uuid_text;

/// Maximum nesting of stored JSON.
const JSON_DEPTH_MAX: u32 = 512;

#[cold]
fn fault<'v>(code: &'static str, message: impl Into<Cow<'static, str>>) -> Result<CellValue<'v>, Fault> {
    Err(Fault { code, message: message.into() })
}

fn unfit_value<'v>(what: &'static str) -> Result<CellValue<'v>, Fault> {
    fault("INVALID_VALUE", format!("the stored value is not {what}"))
}

/// Reads `value` as `cell` says.
#[inline]
pub(crate) fn read(cell: Cell, value: ValueRef<'_>) -> Result<CellValue<'_>, Fault> {
    match (cell, value) {
        (_, ValueRef::Null) => Ok(CellValue::Null),
        (Cell::Int, ValueRef::Integer(value)) if i32::try_from(value).is_ok() => Ok(CellValue::Int(value)),
        (Cell::BigInt | Cell::Numeric | Cell::Float | Cell::Id, ValueRef::Integer(value)) => {
            Ok(CellValue::Int(value))
        }
        (Cell::Text | Cell::Uuid, ValueRef::Text(text)) => self::text(text),
        (Cell::Float | Cell::Numeric, ValueRef::Real(value)) => float(value),
        (Cell::Boolean, ValueRef::Integer(value @ (0 | 1))) => Ok(CellValue::Bool(value == 1)),
        _ => unusual(cell, value),
    }
}

fn text(text: &[u8]) -> Result<CellValue<'_>, Fault> {
    if text.is_ascii() || std::str::from_utf8(text).is_ok() {
        Ok(CellValue::Text(Cow::Borrowed(text)))
    } else {
        fault("INVALID_TEXT", "the stored text is not valid UTF-8")
    }
}

/// An infinity as PostgreSQL's JSON has it, for clients of Hasura's: there an error would take the whole answer, of every reader of
/// the table.
pub(crate) fn infinity(cell: Cell, value: ValueRef<'_>) -> Option<CellValue<'static>> {
    match (cell, value) {
        (Cell::Float | Cell::Numeric | Cell::Json, ValueRef::Real(value)) if value.is_infinite() => {
            let text: &[u8] = if value > 0.0 { b"Infinity" } else { b"-Infinity" };
            Some(CellValue::Text(Cow::Borrowed(text)))
        }
        _ => None,
    }
}

fn float<'v>(value: f64) -> Result<CellValue<'v>, Fault> {
    if value.is_finite() { Ok(CellValue::Float(value)) } else { Err(Fault::not_finite(value)) }
}

#[cold]
fn unusual(cell: Cell, value: ValueRef<'_>) -> Result<CellValue<'_>, Fault> {
    match (cell, value) {
        (Cell::Int, ValueRef::Integer(value)) => Err(Fault::beyond_declared_bits(value)),
        (Cell::Int | Cell::BigInt, ValueRef::Real(value)) if value.fract() == 0.0 && value.abs() < 9e15 => {
            read(cell, ValueRef::Integer(value as i64))
        }
        // A sum: in a column of integers no digits stay text.
        (Cell::BigInt, ValueRef::Text(digits)) if is_whole(digits) => {
            Err(Fault::beyond_64_bits(&String::from_utf8_lossy(digits)))
        }
        (Cell::Int | Cell::BigInt | Cell::Id, _) => unfit_value("an integer"),
        (Cell::Float | Cell::Numeric, ValueRef::Text(text)) if is_number(text) => {
            Ok(CellValue::Json(Cow::Borrowed(text)))
        }
        (Cell::Float | Cell::Numeric, _) => unfit_value("a number"),
        (Cell::Boolean, ValueRef::Text(text)) => match text.to_ascii_lowercase().as_slice() {
            b"true" | b"t" => Ok(CellValue::Bool(true)),
            b"false" | b"f" => Ok(CellValue::Bool(false)),
            _ => unfit_value("a boolean"),
        },
        (Cell::Boolean, _) => unfit_value("a boolean"),
        (Cell::Text | Cell::Uuid, ValueRef::Integer(value)) => {
            Ok(CellValue::Text(Cow::Owned(value.to_string().into_bytes())))
        }
        (Cell::Text | Cell::Uuid, ValueRef::Real(value)) if value.is_infinite() => {
            Err(Fault::not_finite(value))
        }
        // The sum with zero turns -0 into 0.
        (Cell::Text | Cell::Uuid, ValueRef::Real(value)) => {
            Ok(CellValue::Text(Cow::Owned((value + 0.0).to_string().into_bytes())))
        }
        (Cell::Capitals, ValueRef::Text(text)) => {
            self::text(text)?;
            Ok(CellValue::Text(Cow::Owned(text.to_ascii_uppercase())))
        }
        (Cell::Capitals, _) => unfit_value("a text"),
        (Cell::Json, ValueRef::Text(text)) => json(text),
        (Cell::Json, ValueRef::Integer(value)) => Ok(CellValue::Int(value)),
        (Cell::Json, ValueRef::Real(value)) => float(value),
        (Cell::Json, ValueRef::Blob(bytes)) => match document(bytes) {
            Some(Cow::Borrowed(text)) => Ok(CellValue::Json(Cow::Borrowed(text.as_bytes()))),
            Some(Cow::Owned(text)) => Ok(CellValue::Json(Cow::Owned(text.into_bytes()))),
            None => unfit_value("JSON"),
        },
        (Cell::Uuid, ValueRef::Blob(bytes)) if bytes.len() == 16 => {
            Ok(CellValue::Text(Cow::Owned(uuid_text(bytes).unwrap_or_default().into_bytes())))
        }
        (Cell::Bytes | Cell::Text | Cell::Uuid, ValueRef::Blob(bytes))
        | (Cell::Bytes, ValueRef::Text(bytes)) => {
            let mut text = Vec::new();
            hex(&mut text, bytes);
            Ok(CellValue::Text(Cow::Owned(text)))
        }
        (Cell::Bytes, _) => unfit_value("a blob"),
        (Cell::Text | Cell::Uuid, ValueRef::Text(text)) => self::text(text),
        (_, ValueRef::Null) => Ok(CellValue::Null),
    }
}

/// True for the digits of an integer.
fn is_whole(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

fn json(text: &[u8]) -> Result<CellValue<'_>, Fault> {
    // The reader allows a mark of byte order; inside an answer it would be no JSON.
    let plain = text.first().is_some_and(|&first| first < 0x80);
    if plain && Json::parse(text, JSON_DEPTH_MAX).is_ok() {
        Ok(CellValue::Json(Cow::Borrowed(text)))
    } else {
        fault("INVALID_VALUE", "the stored value is not valid JSON")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cell: Cell, stored: ValueRef<'_>, expected: &str) {
        let shown = match read(cell, stored) {
            Ok(CellValue::Null) => "null".to_owned(),
            Ok(CellValue::Bool(value)) => value.to_string(),
            Ok(CellValue::Int(value)) => value.to_string(),
            Ok(CellValue::Float(value)) => format!("float {value}"),
            Ok(CellValue::Text(text)) => format!("\"{}\"", String::from_utf8_lossy(&text)),
            Ok(CellValue::Json(text)) => String::from_utf8_lossy(&text).into_owned(),
            Err(fault) => fault.code.to_owned(),
        };
        assert_eq!(shown, expected, "{cell:?} {stored:?}");
    }

    #[test]
    fn numbers_keep_their_digits_or_are_refused() {
        check(Cell::Int, ValueRef::Integer(2_147_483_647), "2147483647");
        check(Cell::Int, ValueRef::Integer(2_147_483_648), "INT_RANGE");
        check(Cell::Int, ValueRef::Text(b"abc"), "INVALID_VALUE");
        check(Cell::BigInt, ValueRef::Integer(i64::MIN), "-9223372036854775808");
        check(Cell::BigInt, ValueRef::Text(b"9223372036854775808"), "INT_RANGE");
        check(Cell::BigInt, ValueRef::Text(b"many"), "INVALID_VALUE");
        check(Cell::Numeric, ValueRef::Real(0.99), "float 0.99");
        check(Cell::Numeric, ValueRef::Text(b"12344.5700"), "12344.5700");
        check(Cell::Numeric, ValueRef::Text(b"0x10"), "INVALID_VALUE");
        check(Cell::Float, ValueRef::Real(f64::INFINITY), "FLOAT_RANGE");
    }

    #[test]
    fn texts_booleans_documents_and_bytes_come_as_stored() {
        check(Cell::Text, ValueRef::Text("naïve".as_bytes()), "\"naïve\"");
        check(Cell::Text, ValueRef::Text(b"\xff"), "INVALID_TEXT");
        check(Cell::Text, ValueRef::Integer(7), "\"7\"");
        check(Cell::Boolean, ValueRef::Integer(1), "true");
        check(Cell::Boolean, ValueRef::Integer(2), "INVALID_VALUE");
        check(Cell::Boolean, ValueRef::Text(b"False"), "false");
        check(Cell::Json, ValueRef::Text(b"{ \"a\": 1.50 }"), "{ \"a\": 1.50 }");
        check(Cell::Json, ValueRef::Text(b"{a}"), "INVALID_VALUE");
        check(Cell::Bytes, ValueRef::Blob(b"\x00\xab"), "\"\\x00ab\"");
        check(Cell::Bytes, ValueRef::Null, "null");
        check(Cell::Json, ValueRef::Blob(b"{\"a\": 1}"), "{\"a\": 1}");
        check(Cell::Json, ValueRef::Blob(b"\x3b\x131"), "INVALID_VALUE");
        check(Cell::Json, ValueRef::Blob(b"\x2b\x131"), "[1]");
        check(Cell::Uuid, ValueRef::Blob(&[0xab; 16]), "\"abababab-abab-abab-abab-abababababab\"");
        check(Cell::Uuid, ValueRef::Blob(&[0xab; 3]), "\"\\xababab\"");
        check(Cell::Uuid, ValueRef::Text(b"none"), "\"none\"");
        check(Cell::Text, ValueRef::Real(f64::INFINITY), "FLOAT_RANGE");
    }
}
