//! An answer of many entities, taken apart: its items, and by which key each was asked for.
//!
//! **Invariant:** an item and a row of keys have equal key bytes exactly if all their keys read the same: `1`, `1.0` and `"1"` do.

use crate::inputs::cell;
use crate::sdl::Items;
use crate::selection::canonical_number;
use crate::selection::value::Value;
use weir_engine::rows::{Column, Data};
use weir_language::json::JsonRef;

impl Items {
    /// The items of an answer; one object is a list of one. Null items are left out.
    #[must_use]
    pub fn of<'t>(&self, answer: JsonRef<'t>) -> Vec<JsonRef<'t>> {
        let mut value = answer;
        for key in &self.path {
            match value.get(key) {
                Some(below) => value = below,
                None => return Vec::new(),
            }
        }
        if value.is_array() {
            return value.items().filter(|it| !it.is_null()).collect();
        }
        if value.is_object() { vec![value] } else { Vec::new() }
    }

    /// Appends the key of an item; `false`, with nothing appended, if a part of it is missing or no single value.
    #[must_use]
    pub fn key(&self, item: JsonRef<'_>, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        for path in &self.keys {
            let found = path.iter().try_fold(item, |value, key| value.get(key));
            if !found.is_some_and(|value| part(&Value::of(value), out)) {
                out.truncate(start);
                return false;
            }
        }
        true
    }
}

/// Appends the key of a row of parents' keys; `false`, with nothing appended, if a part of it is null.
#[must_use]
pub fn row_key(columns: &[Column], row: usize, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let whole = columns.iter().all(|column| match &column.data {
        // As below, without a text of its own for each number.
        Data::Int(values) if !column.nulls.get(row) => {
            values.get(row).is_some_and(|&it| put(itoa::Buffer::new().format(it).as_bytes(), out))
        }
        Data::Bool(_)
        | Data::Int(_)
        | Data::Float(_)
        | Data::Text(_)
        | Data::Json(_)
        | Data::Empty
        | Data::List { .. }
        | Data::Object(_)
        | Data::Abstract(_)
        | Data::Foreign(_) => part(&cell(column, row), out),
    });
    if !whole {
        out.truncate(start);
    }
    whole
}

fn part(value: &Value<'_>, out: &mut Vec<u8>) -> bool {
    match value {
        Value::Text(text) => put(text.as_bytes(), out),
        Value::Number(digits) => put(canonical_number(digits).as_bytes(), out),
        Value::Bool(true) => put(b"true", out),
        Value::Bool(false) => put(b"false", out),
        Value::Missing | Value::Null | Value::Array(_) | Value::Object(_) | Value::Json(_) => false,
    }
}

fn put(text: &[u8], out: &mut Vec<u8>) -> bool {
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text);
    true
}
