//! JSON as PostgreSQL's text of a type: array literals, row literals, shapes.
//!
//! Source: PostgreSQL's manual, 8.15.6 and 8.16.6. What stands between quotes is never taken for anything else, so every
//! element is quoted.
//!
//! **Invariant:** recursion follows the type, which cannot hold itself, and the dimensions of an array, of which PostgreSQL
//! takes six.

use super::decode::delimiter;
use super::statement::Buffer;
use super::types::{Kind, Type, Types, oid};
use super::{decimal, geojson};
use weir_language::json::{Json, JsonKind, JsonRef};

/// How deep JSON in a request may nest.
const JSON_DEPTH_MAX: u32 = 512;
/// PostgreSQL's bound on the dimensions of an array.
pub(super) const DIMENSIONS_MAX: u32 = 6;
/// What PostgreSQL says beyond it.
pub(super) const TOO_MANY_DIMENSIONS: &str = "the number of array dimensions exceeds the maximum allowed (6)";

/// Appends JSON as the text of the type with number `of`.
/// # Errors
/// Words for the client: what of the JSON does not fit the type.
pub fn write(types: &Types, of: u32, json: &str, out: &mut Buffer) -> Result<(), String> {
    if matches!(types.base(of), oid::JSON | oid::JSONB) {
        out.extend_from_slice(json.as_bytes());
        return Ok(());
    }
    let parsed = Json::parse(json.as_bytes(), JSON_DEPTH_MAX).map_err(|_| "expected JSON".to_owned())?;
    value(types, of, parsed.root(), out)
}

/// Appends GeoJSON, once it is checked.
/// # Errors
/// Words for the client: what of it is no shape.
pub fn shape(json: &str, out: &mut Buffer) -> Result<(), String> {
    let parsed = Json::parse(json.as_bytes(), JSON_DEPTH_MAX).map_err(|_| "expected JSON".to_owned())?;
    geojson::check(parsed.root())?;
    out.extend_from_slice(json.as_bytes());
    Ok(())
}

/// Appends `text` between quotes, as an element of an array or a field of a row.
pub(super) fn quote(text: &[u8], out: &mut Buffer) {
    out.push(b'"');
    let mut rest = text;
    while let Some(at) = rest.iter().position(|it| matches!(it, b'"' | b'\\')) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(&[b'\\', rest[at]]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

fn value(types: &Types, of: u32, json: JsonRef<'_>, out: &mut Buffer) -> Result<(), String> {
    let of = types.base(of);
    if matches!(of, oid::JSON | oid::JSONB) {
        out.extend_from_slice(json.raw().as_bytes());
        return Ok(());
    }
    let ty = types.by_oid(of);
    match (json.kind(), ty.map(|it| &it.kind)) {
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

/// Whether the type is one of PostGIS's, which take GeoJSON.
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
    let is_document = matches!(types.base(element), oid::JSON | oid::JSONB);
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
