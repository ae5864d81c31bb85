//! Splits a batch answer into items and finds the key of each.
//!
//! **Invariant:** an item and a row of keys have equal key bytes exactly if all their keys read the same: `1`, `1.0` and `"1"` do.

use crate::sdl::{ItemKey, Items, Matching};
use crate::selection::eval::eval;
use crate::selection::inputs::{Inputs, KeyField, cell};
use crate::selection::value::Value;
use crate::selection::{Selection, canonical_number};
use weir_engine::rows::{Column, Data};
use weir_language::json::JsonRef;

impl Items {
    /// Items of an answer; a single object counts as a list. Null items are skipped.
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

    /// Items of an answer in the order of `count` parents; `None` if it is not a list of that length.
    pub fn items_in_order<'t>(&self, answer: JsonRef<'t>, count: usize) -> Option<Vec<JsonRef<'t>>> {
        let value = self.path.iter().try_fold(answer, |value, key| value.get(key))?;
        let items: Vec<JsonRef<'t>> = value.is_array().then(|| value.items().collect())?;
        (items.len() == count).then_some(items)
    }

    /// Appends the key of an item of an answer that `selection` maps. Returns `false` and appends nothing if a part is missing or not a
    /// single value.
    pub fn key(
        &self,
        item: JsonRef<'_>,
        selection: &Selection,
        inputs: &Inputs<'_>,
        out: &mut Vec<u8>,
    ) -> bool {
        let start = out.len();
        let Matching::Keys(keys) = &self.matching else { return false };
        let mut is_part = |key: &ItemKey| match key {
            ItemKey::At(path) => {
                let found = path.iter().try_fold(item, |value, key| value.get(key));
                found.is_some_and(|value| part(&Value::of(value), out))
            }
            ItemKey::Made(id) => {
                let made = eval(selection, *id, usize::MAX, &Value::of(item), inputs);
                made.is_ok_and(|value| part(&value, out))
            }
        };
        let is_whole = keys.iter().all(&mut is_part);
        if !is_whole {
            out.truncate(start);
        }
        is_whole
    }
}

/// Appends the key of a row of parents' keys, which are called `names`.
pub fn row_key(columns: &[Column], names: &[KeyField], row: usize, out: &mut Vec<u8>) {
    for (at, column) in columns.iter().enumerate() {
        match names.get(at).map_or(&[][..], |it| it.parts.as_slice()) {
            [] => mark_null(column_key(column, row, out), out),
            parts => {
                let whole = cell(column, row);
                for path in parts {
                    let value = path.iter().fold(whole.clone(), |value, key| value.get(key));
                    mark_null(part(&value, out), out);
                }
            }
        }
    }
}

/// Appends that a value is null, if it is not there.
fn mark_null(is_there: bool, out: &mut Vec<u8>) {
    if !is_there {
        // No text is so long.
        out.extend_from_slice(&u32::MAX.to_le_bytes());
    }
}

/// Appends one value; `false`, with nothing appended, if it is null.
fn column_key(column: &Column, row: usize, out: &mut Vec<u8>) -> bool {
    match &column.data {
        // Fast path: digits are written without an allocation.
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
    }
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
