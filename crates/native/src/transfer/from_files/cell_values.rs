//! Texts and JSON to the cells of a row, checked as a mutation's input is.
//!
//! **Invariant:** digits of whole numbers never pass through floating point; texts are stored as they are given, but for those of a
//! `DateTime`, which are normal.

use super::slots::{SlotKind, Slots};
use crate::model::{FieldId, Scalar};
use crate::store::Types;
use crate::store::versions::ID_MAX;
use crate::transfer::edge_fields::field_name;
use crate::transfer::parcel::{Batch, BulkCell, Item, boolean};
use std::borrow::Cow;
use weir_language::json::{Json, JsonRef};
use weir_relational::values::geometry::{BoundingBox, Geometry, is_on_globe};
use weir_relational::values::instant;
use weir_relational::values::text_search::{WORDS_BYTES_MAX, excess};

/// Maximum nesting of a line of JSON.
pub(crate) const DEPTH_MAX: u32 = 16;

/// An object's number: decimal digits, or hexadecimal ones after `0x`.
pub(crate) fn id(text: &str) -> Result<i64, String> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    match number {
        Ok(0) | Err(_) => Err(format!("`{text}` is no ID")),
        Ok(id) => i64::try_from(id).ok().filter(|it| *it <= ID_MAX).ok_or_else(|| {
            format!("`{text}` is greater than {ID_MAX:#x}: no numbers would be left for new objects")
        }),
    }
}

/// Writes the one value of `field`, if it has none yet; it begins at place `at` of the row that begins at `first`.
pub(crate) fn set(
    slots: &Slots<'_>,
    batch: &mut Batch,
    first: usize,
    field: FieldId,
    kind: SlotKind,
    at: usize,
    text: &str,
) -> Result<(), String> {
    check_length(slots.types, field, text)?;
    if text.is_empty() && slots.types.model.field(field).key.is_some() {
        return Err(format!("`{}` is an `@id`, which is not empty", field_name(slots.types, field)));
    }
    match kind {
        SlotKind::Scalar(Scalar::DateTime) => {
            let (normal, micros) = moment(text)?;
            let cell = batch.put(&normal);
            batch.set_once(first + at, cell)?;
            batch.cells[first + slots.further_columns(field)[0]] = BulkCell::Int(micros);
        }
        SlotKind::Scalar(Scalar::Point) => {
            let [x, y] = point(text)?;
            batch.set_once(first + at, BulkCell::Real(x))?;
            batch.set_once(first + slots.further_columns(field)[0], BulkCell::Real(y))?;
        }
        SlotKind::Scalar(shape @ (Scalar::Polygon | Scalar::MultiPolygon)) => {
            let (words, bounds) = shape_of(text, shape)?;
            let cell = batch.put(&words);
            batch.set_once(first + at, cell)?;
            for (place, bound) in slots.further_columns(field).into_iter().zip(bounds) {
                batch.cells[first + place] = BulkCell::Real(bound);
            }
        }
        SlotKind::Scalar(Scalar::String | Scalar::Int | Scalar::Int64 | Scalar::Float | Scalar::Boolean)
        | SlotKind::Enum(_) => {
            let cell = plain(slots.types, batch, kind, text)?;
            batch.set_once(first + at, cell)?;
        }
    }
    Ok(())
}

/// Adds an item to the list `field` of the last row.
pub(crate) fn add(
    slots: &Slots<'_>,
    batch: &mut Batch,
    field: FieldId,
    kind: SlotKind,
    text: &str,
) -> Result<(), String> {
    check_length(slots.types, field, text)?;
    let row = batch.ids.len() as u32 - 1;
    let (value, at) = match kind {
        SlotKind::Scalar(Scalar::DateTime) => {
            let (normal, micros) = moment(text)?;
            (batch.put(&normal), BulkCell::Int(micros))
        }
        SlotKind::Scalar(_) | SlotKind::Enum(_) => (plain(slots.types, batch, kind, text)?, BulkCell::Null),
    };
    batch.items.push(Item { row, field, value, at });
    Ok(())
}

fn check_length(types: &Types, field: FieldId, text: &str) -> Result<(), String> {
    if let Some(max) = types.layout.bytes_max[field.index()].filter(|it| text.len() > *it) {
        return Err(format!(
            "`{}` takes {max} bytes at most, because an index holds it whole; these are {}",
            field_name(types, field),
            text.len()
        ));
    }
    match types.model.field(field).has_words().then(|| excess(text)).flatten() {
        None => Ok(()),
        Some(bytes) => Err(format!(
            "the words of `{}` take {bytes} bytes, and its index of words holds {WORDS_BYTES_MAX} of a text",
            field_name(types, field)
        )),
    }
}

/// A DateTime's normal text and its microseconds.
fn moment(text: &str) -> Result<(Cow<'_, str>, i64), String> {
    instant::normal(text).zip(instant::parse(text)).ok_or_else(|| format!("`{text}` is no DateTime"))
}

/// A value of one column.
fn plain(types: &Types, batch: &mut Batch, kind: SlotKind, text: &str) -> Result<BulkCell, String> {
    let no = |what: &str| format!("`{text}` is no {what}");
    match kind {
        SlotKind::Scalar(Scalar::Int) => {
            text.parse::<i32>().map(|it| BulkCell::Int(it.into())).map_err(|_| no("Int"))
        }
        SlotKind::Scalar(Scalar::Int64) => text.parse().map(BulkCell::Int).map_err(|_| no("Int64")),
        SlotKind::Scalar(Scalar::Float) => {
            let number = text.parse::<f64>().ok().filter(|it| it.is_finite());
            number.map(BulkCell::Real).ok_or_else(|| no("Float"))
        }
        SlotKind::Scalar(Scalar::Boolean) => {
            let value = match text {
                "true" | "1" | "True" | "TRUE" => true,
                "false" | "0" | "False" | "FALSE" => false,
                _ => return Err(no("Boolean")),
            };
            Ok(boolean(types, value))
        }
        SlotKind::Enum(id) => {
            let it = types.model.enumeration(id);
            let is_known = it.values.iter().any(|it| it.name == text);
            if is_known { Ok(batch.put(text)) } else { Err(no(&it.name)) }
        }
        SlotKind::Scalar(Scalar::String) if text.contains('\0') => Err("a text holds NUL".into()),
        SlotKind::Scalar(
            Scalar::String | Scalar::DateTime | Scalar::Point | Scalar::Polygon | Scalar::MultiPolygon,
        ) => Ok(batch.put(text)),
    }
}

/// `{"longitude": 1, "latitude": 2}`, or GeoJSON, which Dgraph writes with `'` for `"`.
fn point(text: &str) -> Result<[f64; 2], String> {
    let text = straight(text);
    let json = parse(&text)?;
    let number = |it: JsonRef<'_>| it.raw().parse::<f64>().ok();
    let member = |name: &str| json.root().get(name);
    let found = match (member("longitude"), member("latitude"), member("coordinates")) {
        (Some(x), Some(y), _) => number(x).zip(number(y)),
        (_, _, Some(pair)) => {
            let mut items = pair.items();
            let pair = (items.next(), items.next());
            // An altitude has no place in a store.
            let is_flat = items.next().is_none();
            pair.0.and_then(number).zip(pair.1.and_then(number)).filter(|_| is_flat)
        }
        (_, _, None) => None,
    };
    let [x, y] = found.map(<[f64; 2]>::from).ok_or_else(|| format!("`{text}` is no Point"))?;
    if is_on_globe([x, y]) { Ok([x, y]) } else { Err(format!("`{text}` is no place on the globe")) }
}

/// GeoJSON's coordinates, and the least longitude and latitude, the greatest longitude and latitude.
fn shape_of(text: &str, shape: Scalar) -> Result<(String, BoundingBox), String> {
    let text = straight(text);
    let json = parse(&text)?;
    let no = || format!("`{text}` is no {shape:?}");
    let coordinates = json.root().get("coordinates").ok_or_else(no)?;
    let depth = if shape == Scalar::Polygon { 3 } else { 4 };
    let mut words = String::new();
    rings(coordinates, depth, &mut words).ok_or_else(no)?;
    let geometry = Geometry::read(&words);
    match geometry.fault() {
        None => Ok((words, geometry.reach(0.0))),
        Some(fault) => Err(format!("`{text}` is no {fault}")),
    }
}

/// Writes lists of lists of points, `depth` deep. The depth is that of the type, so this cannot recurse further.
fn rings(json: JsonRef<'_>, depth: u32, out: &mut String) -> Option<()> {
    if !json.is_array() {
        return None;
    }
    out.push('[');
    for (place, item) in json.items().enumerate() {
        if place > 0 {
            out.push(',');
        }
        if depth > 1 {
            rings(item, depth - 1, out)?;
            continue;
        }
        item.raw().parse::<f64>().ok()?;
        out.push_str(item.raw());
    }
    out.push(']');
    Some(())
}

fn straight(text: &str) -> String {
    if text.contains('"') { text.to_owned() } else { text.replace('\'', "\"") }
}

fn parse(text: &str) -> Result<Json<'_>, String> {
    Json::parse(text.as_bytes(), DEPTH_MAX).map_err(|error| error.to_string())
}
