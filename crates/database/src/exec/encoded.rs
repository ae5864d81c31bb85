//! Texts that clients get and send back: cursors and identifiers of rows, JSON in base64.
//!
//! An identifier is the list `[1, schema, table, key…]`, a cursor an object of the values that rows are sorted by. Both come back from
//! clients, so nothing in them is trusted: a value is checked by its column's type and bound like any other.
//!
//! **Invariant:** no byte of such a text becomes part of a statement; a cursor has exactly the values that the order at hand has.
//!
//! Source: RFC 4648, section 4: the standard alphabet, padded, without line breaks.

use super::cell_value::is_number;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use weir_engine::write::out::Out;
use weir_language::json::{Json, JsonKind, JsonRef};
use weir_relational::catalog::facts::Cell;
use weir_relational::catalog::{Catalog, ColumnType, TableId};
use weir_relational::plan::CursorPath;

/// Message for a text that is no cursor of the current order. Source: Hasura v2.
pub const NO_CURSOR: &str = "the \"after\" or \"before\" cursor is invalid";

/// The only version of identifiers.
const VERSION: &str = "1";

/// Maximum nesting of JSON in an encoded text.
const DEPTH_MAX: u32 = 100;

/// Items of an identifier before the values of the key.
const HEAD: usize = 3;

/// Characters of a client's text that a message repeats.
const QUOTED_MAX: usize = 100;

/// Bytes that become one piece of base64 without padding.
const PIECE_BYTES: usize = 48;

/// Appends `bytes` as a JSON string of base64.
pub(crate) fn push(bytes: &[u8], out: &mut Out) {
    out.raw(b"\"");
    for piece in bytes.chunks(PIECE_BYTES) {
        let mut letters = [0; PIECE_BYTES / 3 * 4];
        // The letters of a piece always fit.
        let len = STANDARD.encode_slice(piece, &mut letters).unwrap_or(0);
        out.raw(&letters[..len]);
    }
    out.raw(b"\"");
}

/// The bytes that `text` stands for; `None`: it is no base64, or has bits that stand for nothing.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// The table of an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identified {
    pub table: TableId,
    /// Number of values of its key.
    pub len: usize,
}

/// Finds the table of the identifier `text`.
/// # Errors
/// The reason for which it is none, in Hasura's words where there are such.
pub fn identify(text: &str, catalog: &Catalog) -> Result<Identified, String> {
    let unreadable = || "it is not base64 of JSON".to_owned();
    let bytes = decode(text).ok_or_else(unreadable)?;
    let json = Json::parse(&bytes, DEPTH_MAX).map_err(|_| unreadable())?;
    let items: Vec<JsonRef<'_>> = json.root().items().collect();
    match items.first() {
        None if json.root().is_array() => return Err("unexpected GUID format, found empty list".into()),
        Some(version) if version.as_number() == Some(VERSION) => {}
        Some(version) if version.as_number().is_some() => {
            let version: String = version.raw().chars().take(QUOTED_MAX).collect();
            return Err(format!("unsupported GUID version: {version}"));
        }
        _ => return Err("unexpected GUID format, needs to start with a version number".into()),
    }
    let texts = || Some((items.get(1)?.as_str()?, items.get(2)?.as_str()?));
    let (Some((schema, name)), true) = (texts(), items.len() > HEAD) else {
        return Err("GUID version 1: expecting schema name, table name and at least one column value".into());
    };
    let table = catalog.tables.iter().position(|it| it.name == name && it.schema == schema);
    match table {
        Some(at) => Ok(Identified { table: TableId(at as u32), len: items.len() - HEAD }),
        None => Err(no_table(&schema, &name)),
    }
}

/// Message for an identifier of a table that is not there, or that the caller does not know of.
pub fn no_table(schema: &str, name: &str) -> String {
    let qualified = if schema == "public" { name.to_owned() } else { format!("{schema}.{name}") };
    let qualified: String = qualified.chars().take(QUOTED_MAX).collect();
    format!("no such table found: \"{qualified}\"")
}

/// The values of an identifier from place `from` on, as they are written.
pub fn values_beyond(text: &str, from: usize) -> String {
    let bytes = decode(text).unwrap_or_default();
    let Ok(json) = Json::parse(&bytes, DEPTH_MAX) else { return String::new() };
    let values: Vec<&str> = json.root().items().skip(HEAD + from).map(JsonRef::raw).collect();
    values.join(", ").chars().take(QUOTED_MAX).collect()
}

/// A value of an encoded text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EncodedValue {
    Null,
    /// Text that a cast to the column's type accepts.
    Text(String),
}

/// Value `at` of the key in the identifier `text`, for a column of type `ty`; `None`: there is none of that type.
pub(crate) fn identifier_value(text: &str, at: usize, ty: &ColumnType) -> Option<EncodedValue> {
    let bytes = decode(text)?;
    let json = Json::parse(&bytes, DEPTH_MAX).ok()?;
    value(json.root().items().nth(HEAD + at)?, ty).filter(|it| *it != EncodedValue::Null)
}

/// Value `at` of those at `paths` in the cursor `text`, for an expression of type `ty`; `None`: it is no cursor with these values, or
/// the value is of another type.
pub fn cursor_value(text: &str, paths: &[CursorPath], at: usize, ty: &ColumnType) -> Option<EncodedValue> {
    let bytes = decode(text)?;
    let json = Json::parse(&bytes, DEPTH_MAX).ok()?;
    let all: Vec<&[Box<str>]> = paths.iter().map(AsRef::as_ref).collect();
    if !has_exactly(json.root(), &all) {
        return None;
    }
    let found = paths.get(at)?.iter().try_fold(json.root(), |of, key| of.get(key))?;
    value(found, ty)
}

/// True if the members of `of` are those that begin `paths`, and so on below. Recurses as deep as the paths are long.
fn has_exactly(of: JsonRef<'_>, paths: &[&[Box<str>]]) -> bool {
    let mut count = 0;
    let fits = of.members().all(|(key, below)| {
        count += 1;
        let rest: Vec<&[Box<str>]> = paths
            .iter()
            .filter(|it| it.first().is_some_and(|first| **first == *key))
            .map(|it| &it[1..])
            .collect();
        match rest.as_slice() {
            [] => false,
            [[]] => true,
            _ => has_exactly(below, &rest),
        }
    });
    let mut keys: Vec<&str> = paths.iter().filter_map(|it| it.first().map(AsRef::as_ref)).collect();
    keys.sort_unstable();
    keys.dedup();
    fits && of.is_object() && count == keys.len()
}

/// A JSON value as the text of a value of type `ty`; `None`: it is of another type.
fn value(of: JsonRef<'_>, ty: &ColumnType) -> Option<EncodedValue> {
    if of.is_null() {
        return Some(EncodedValue::Null);
    }
    let string = || of.as_str().filter(|it| !it.contains('\0'));
    let text = match ty.facts().cell {
        Cell::Int | Cell::BigInt => {
            let digits = of.as_number().map(str::to_owned).or_else(|| string().map(Into::into))?;
            let number: i64 = digits.parse().ok()?;
            let bits = u32::from(ty.facts().bits.unwrap_or(64)).clamp(1, 64);
            let least = i64::MIN >> (64 - bits);
            (least..=!least).contains(&number).then(|| number.to_string())?
        }
        Cell::Float | Cell::Numeric => match (of.as_number(), string()) {
            (Some(digits), _) => digits.to_owned(),
            (None, Some(text)) => Some(text.into_owned()).filter(|it| is_decimal(it))?,
            (None, None) => return None,
        },
        Cell::Boolean => of.as_bool()?.to_string(),
        // A document is kept as its text.
        Cell::Json => string()?.into_owned(),
        Cell::Bytes => string().filter(|it| is_hex(it))?.into_owned(),
        Cell::Text | Cell::Uuid | Cell::Capitals | Cell::Id => match of.kind() {
            JsonKind::String { .. } => string()?.into_owned(),
            _ => return None,
        },
    };
    Some(EncodedValue::Text(text))
}

fn is_decimal(text: &str) -> bool {
    is_number(text.as_bytes()) || ["NaN", "Infinity", "-Infinity"].contains(&text)
}

/// True for bytes as PostgreSQL writes them.
fn is_hex(text: &str) -> bool {
    let digits = text.strip_prefix("\\x");
    digits.is_some_and(|it| it.len().is_multiple_of(2) && it.bytes().all(|it| it.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(bytes: &[u8]) -> String {
        let mut out = Out::default();
        push(bytes, &mut out);
        let text = String::from_utf8(out.into_bytes()).unwrap();
        text.trim_matches('"').to_owned()
    }

    #[test]
    fn base64_is_read_as_it_is_written() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&all)), Some(all));
    }

    #[test]
    fn what_is_no_base64_is_refused() {
        for text in
            ["Zg", "Zg=", "Z===", "====", "Zm9v\n", "Zm9-", "Zm9_", "Zh==", "Zm9=", "Zg==Zg==", "Zm 9"]
        {
            assert_eq!(decode(text), None, "{text}");
        }
    }

    fn paths(of: &[&[&str]]) -> Vec<CursorPath> {
        of.iter().map(|it| it.iter().map(|it| (*it).into()).collect()).collect()
    }

    fn placed_in(json: &str, of: &[&[&str]], at: usize, ty: &ColumnType) -> Option<EncodedValue> {
        cursor_value(&encode(json.as_bytes()), &paths(of), at, ty)
    }

    #[test]
    fn a_cursor_has_exactly_the_values_of_the_order() {
        let of: &[&[&str]] = &[&["harbour", "code"], &["harbour", "id"], &["id"]];
        let json = r#"{"harbour" : {"code" : "HH", "id" : 3}, "id" : 7}"#;
        let text = |it: &str| Some(EncodedValue::Text(it.into()));
        assert_eq!(placed_in(json, of, 0, &ColumnType::Text), text("HH"));
        assert_eq!(placed_in(json, of, 1, &ColumnType::Int), text("3"));
        assert_eq!(placed_in(json, of, 2, &ColumnType::Int), text("7"));
        for other in [
            r#"{"harbour" : {"code" : "HH"}, "id" : 7}"#,
            r#"{"harbour" : {"code" : "HH", "id" : 3, "more" : 1}, "id" : 7}"#,
            r#"{"harbour" : {"code" : "HH", "id" : 3}, "id" : 7, "more" : 1}"#,
            r#"{"harbour" : "HH", "id" : 7}"#,
            r#"{"id" : 7}"#,
            r#"[{"id" : 7}]"#,
            "7",
            "{",
            "",
        ] {
            assert_eq!(placed_in(other, of, 2, &ColumnType::Int), None, "{other}");
        }
    }

    #[test]
    fn a_value_has_the_type_of_its_column() {
        for (json, ty, expected) in [
            ("null", ColumnType::Int, Some(EncodedValue::Null)),
            ("7", ColumnType::Int, Some(EncodedValue::Text("7".into()))),
            ("2147483648", ColumnType::Int, None),
            ("2147483648", ColumnType::BigInt, Some(EncodedValue::Text("2147483648".into()))),
            ("9223372036854775808", ColumnType::BigInt, None),
            ("1.5", ColumnType::Int, None),
            ("\"7' OR 1=1 --\"", ColumnType::Int, None),
            ("{}", ColumnType::Int, None),
            ("true", ColumnType::Boolean, Some(EncodedValue::Text("true".into()))),
            ("1", ColumnType::Boolean, None),
            ("0.30", ColumnType::Numeric, Some(EncodedValue::Text("0.30".into()))),
            ("\"NaN\"", ColumnType::Numeric, Some(EncodedValue::Text("NaN".into()))),
            ("\"x\"", ColumnType::Numeric, None),
            ("\"a\\u0000\"", ColumnType::Text, None),
            ("7", ColumnType::Text, None),
            ("\"x\"", ColumnType::Uuid, Some(EncodedValue::Text("x".into()))),
            ("1", ColumnType::Uuid, None),
        ] {
            let found = placed_in(&format!("{{\"a\" : {json}}}"), &[&["a"]], 0, &ty);
            assert_eq!(found, expected, "{json} {ty:?}");
        }
    }
}
