//! JSON as PostgreSQL's text of a type: array literals, row literals, shapes.
//!
//! Source: PostgreSQL's manual, 8.15.6 and 8.16.6. What stands between quotes is never taken for anything else, so every
//! element is quoted.
//!
//! **Invariant:** recursion follows the type, which cannot hold itself, and the dimensions of an array, of which PostgreSQL
//! takes six.

use super::decimal;
use super::decode::delimiter;
use super::geojson;
use super::labels;
use weir_language::json::{Json, JsonKind, JsonRef};
pub(super) use weir_postgres::array_literal::quote;
use weir_postgres::statement::Buffer;
use weir_relational::catalog::postgres_types::{Kind, Type, Types, oid};
use weir_relational::catalog::{ColumnType, LQUERY, LTXTQUERY};

/// Maximum nesting of JSON in a request.
const JSON_DEPTH_MAX: u32 = 512;
/// PostgreSQL's bound on the dimensions of an array.
pub(crate) const DIMENSIONS_MAX: u32 = 6;
/// PostgreSQL's message beyond it.
pub(crate) const TOO_MANY_DIMENSIONS: &str = "the number of array dimensions exceeds the maximum allowed (6)";

/// Appends JSON as the text of the type with number `of`.
/// # Errors
/// The part of the JSON that does not fit the type, as a message for clients.
pub fn write(types: &Types, of: u32, json: &str, out: &mut Buffer) -> Result<(), String> {
    if matches!(types.base(of), oid::JSON | oid::JSONB) {
        out.extend_from_slice(json.as_bytes());
        return Ok(());
    }
    let parsed = Json::parse(json.as_bytes(), JSON_DEPTH_MAX).map_err(|_| "expected JSON".to_owned())?;
    value(types, of, parsed.root(), out)
}

/// Appends GeoJSON, once it is checked, or another text of a shape, which the database reads.
/// # Errors
/// The part that is no shape, as a message for clients.
pub fn shape(json: &str, out: &mut Buffer) -> Result<(), String> {
    let parsed = Json::parse(json.as_bytes(), JSON_DEPTH_MAX).map_err(|_| "expected JSON".to_owned())?;
    if let Some(text) = parsed.root().as_str() {
        if text.contains('\0') {
            return Err("a text must not contain the character U+0000".to_owned());
        }
        let text = text.trim_start();
        // A text of another notation is no JSON, and the database judges one that is broken.
        if let Ok(shape) = Json::parse(text.as_bytes(), JSON_DEPTH_MAX) {
            geojson::check_system(shape.root())?;
        }
        out.extend_from_slice(text.as_bytes());
        return Ok(());
    }
    geojson::check(parsed.root())?;
    out.extend_from_slice(json.as_bytes());
    Ok(())
}

/// Refuses a text that is no value of `ty`, where the database would do so in words that name no place of the request.
/// # Errors
/// Hasura's words for the client.
pub(crate) fn check(ty: &ColumnType, text: &str) -> Result<(), String> {
    let (fits, words) = match ty {
        ColumnType::Ltree => (labels::is_path(text), NO_LABEL_PATH),
        ColumnType::Other(name) if name == LQUERY => (labels::is_lquery(text), NO_LQUERY),
        ColumnType::Other(name) if name == LTXTQUERY => (labels::is_ltxtquery(text), NO_LTXTQUERY),
        ColumnType::Raster => (is_raster(text), NO_RASTER),
        _ => return Ok(()),
    };
    if fits { Ok(()) } else { Err(words.to_owned()) }
}

const NO_LABEL_PATH: &str =
    "Expecting label path: a sequence of zero or more labels separated by dots, for example L1.L2.L3";
const NO_LQUERY: &str = "expected an lquery: labels or `*` separated by dots, for example Top.*{0,2}.Astro*@";
const NO_LTXTQUERY: &str =
    "expected an ltxtquery: labels joined by `&`, `|` and `!`, for example Astro*@ & !pictures";
const NO_RASTER: &str = "invalid hexadecimal representation of raster well known binary format";
/// Bytes before the bands of a raster.
const RASTER_HEAD_BYTES: usize = 61;

fn is_raster(text: &str) -> bool {
    let bytes = text.len() / 2;
    text.len().is_multiple_of(2)
        && bytes >= RASTER_HEAD_BYTES
        && text.bytes().all(|it| it.is_ascii_hexdigit())
}

fn value(types: &Types, of: u32, json: JsonRef<'_>, out: &mut Buffer) -> Result<(), String> {
    let of = types.base(of);
    if matches!(of, oid::JSON | oid::JSONB) {
        out.extend_from_slice(json.raw().as_bytes());
        return Ok(());
    }
    let ty = types.by_oid(of);
    match (json.kind(), ty.map(|it| &it.kind)) {
        (JsonKind::Array, _) if is_vector(of) => vector(json, out),
        (JsonKind::Array, Some(Kind::Array { element })) => array(types, *element, json, 1, out),
        (JsonKind::Object, Some(Kind::Composite { fields })) => row(types, fields, json, out),
        (JsonKind::Object, Some(Kind::Base)) if ty.is_some_and(is_shape) => {
            geojson::check(json)?;
            out.extend_from_slice(json.raw().as_bytes());
            Ok(())
        }
        (JsonKind::Array | JsonKind::Object, _) => Err(match ty {
            Some(ty) => format!("expected a value of type \"{}\"", ty.name),
            None => "expected a scalar".to_owned(),
        }),
        (JsonKind::String { .. }, _) => {
            let text = json.as_str().unwrap_or_default();
            if text.contains('\0') {
                return Err("a text must not contain the character U+0000".to_owned());
            }
            decimal::push(of, &text, out);
            Ok(())
        }
        (JsonKind::Number, _) => {
            decimal::push(of, json.raw(), out);
            Ok(())
        }
        (JsonKind::Null | JsonKind::True | JsonKind::False, _) => {
            out.extend_from_slice(json.raw().as_bytes());
            Ok(())
        }
    }
}

/// True for lists of numbers that are no arrays.
fn is_vector(of: u32) -> bool {
    matches!(of, oid::INT2VECTOR | oid::OIDVECTOR)
}

/// Numbers with blanks between them. Those of objects of the catalog are answered as strings.
fn vector(json: JsonRef<'_>, out: &mut Buffer) -> Result<(), String> {
    for (at, item) in json.items().enumerate() {
        out.extend_from_slice(if at == 0 { b"" } else { b" " });
        let text = item.as_str().filter(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()));
        match (item.as_number(), text) {
            (Some(number), _) => out.extend_from_slice(number.as_bytes()),
            (None, Some(text)) => out.extend_from_slice(text.as_bytes()),
            (None, None) => return Err("expected a list of numbers".to_owned()),
        }
    }
    Ok(())
}

/// True for PostGIS types, which take GeoJSON.
fn is_shape(ty: &Type) -> bool {
    matches!(ty.name.as_str(), "geometry" | "geography")
}

fn array(
    types: &Types,
    element: u32,
    json: JsonRef<'_>,
    dimension: u32,
    out: &mut Buffer,
) -> Result<(), String> {
    if dimension > DIMENSIONS_MAX {
        return Err(TOO_MANY_DIMENSIONS.to_owned());
    }
    let base = types.base(element);
    let is_document = matches!(base, oid::JSON | oid::JSONB) || is_vector(base);
    let delimiter = delimiter(types, element);
    let mut text = Buffer::new();
    out.push(b'{');
    for (at, item) in json.items().enumerate() {
        if at != 0 {
            out.push(delimiter);
        }
        if item.is_null() {
            out.extend_from_slice(b"NULL");
        } else if item.is_array() && !is_document {
            array(types, element, item, dimension + 1, out)?;
        } else {
            text.clear();
            value(types, element, item, &mut text)?;
            quote(&text, out);
        }
    }
    out.push(b'}');
    Ok(())
}

fn row(types: &Types, fields: &[(String, u32)], json: JsonRef<'_>, out: &mut Buffer) -> Result<(), String> {
    if let Some((key, _)) = json.members().find(|(key, _)| fields.iter().all(|(name, _)| name != key)) {
        return Err(format!("field '{key}' not found in the composite type"));
    }
    let mut text = Buffer::new();
    out.push(b'(');
    for (at, (name, of)) in fields.iter().enumerate() {
        if at != 0 {
            out.push(b',');
        }
        if let Some(field) = json.get(name).filter(|it| !it.is_null()) {
            text.clear();
            value(types, *of, field, &mut text)?;
            quote(&text, out);
        }
    }
    out.push(b')');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_labels_and_rasters_are_checked() {
        let other = |name: &str| ColumnType::Other(name.to_owned());
        for (ty, right, wrong, words) in [
            (ColumnType::Ltree, "Top.L_2", "Top..L2", NO_LABEL_PATH),
            (other(LQUERY), "Top.*", "Top..*", NO_LQUERY),
            (other(LTXTQUERY), "Top & !L2", "Top L2", NO_LTXTQUERY),
        ] {
            assert_eq!(check(&ty, right), Ok(()), "{right}");
            assert_eq!(check(&ty, wrong), Err(words.to_owned()), "{wrong}");
            assert_eq!(check(&ColumnType::Text, wrong), Ok(()), "{wrong}");
        }
        assert_eq!(check(&ColumnType::Raster, &"0A".repeat(61)), Ok(()));
        for wrong in ["", "0", "xy", "0100"] {
            assert_eq!(check(&ColumnType::Raster, wrong), Err(NO_RASTER.to_owned()), "{wrong}");
        }
    }
}
