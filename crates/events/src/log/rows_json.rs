//! Rows of SQLite's log as JSON text, in the shapes that PostgreSQL's have.

use rusqlite::types::ValueRef;
use rusqlite::{Result, Row};
use weir_language::json::{Json, quote};

/// Deepest JSON of a payload that is shown as JSON.
const DEPTH_MAX: u32 = 512;

/// The form of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A text, or null.
    Text,
    /// A number, or null.
    Number,
    /// 0 or 1.
    Truth,
    /// JSON text.
    Document,
}

/// Columns of an event.
pub(super) const EVENT: [(&str, Shape); 12] = [
    ("id", Shape::Text),
    ("schema_name", Shape::Text),
    ("table_name", Shape::Text),
    ("trigger_name", Shape::Text),
    ("payload", Shape::Document),
    ("delivered", Shape::Truth),
    ("error", Shape::Truth),
    ("tries", Shape::Number),
    ("created_at", Shape::Text),
    ("locked", Shape::Text),
    ("next_retry_at", Shape::Text),
    ("archived", Shape::Truth),
];

/// Columns of a call.
pub(super) const CALL: [(&str, Shape); 7] = [
    ("id", Shape::Text),
    ("trigger_name", Shape::Text),
    ("event_id", Shape::Text),
    ("http_status", Shape::Number),
    ("request", Shape::Document),
    ("response", Shape::Document),
    ("created_at", Shape::Text),
];

/// The text of a cell; bytes that are no UTF-8 are replaced.
pub(super) fn lossy_text(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// `text`, or null in JSON if it is no JSON.
pub(super) fn valid_json(text: String) -> String {
    if Json::parse(text.as_bytes(), DEPTH_MAX).is_ok() { text } else { "null".to_owned() }
}

/// Appends a row whose columns are `columns`.
pub(super) fn write_row(row: &Row<'_>, columns: &[(&str, Shape)], out: &mut String) -> Result<()> {
    for (at, (name, shape)) in columns.iter().enumerate() {
        out.push(if at == 0 { '{' } else { ',' });
        quote(name, out);
        out.push(':');
        match (row.get_ref(at)?, shape) {
            (ValueRef::Null, _) => out.push_str("null"),
            (value, Shape::Text) => quote(&lossy_text(value), out),
            (ValueRef::Integer(number), Shape::Number) => out.push_str(&number.to_string()),
            (ValueRef::Integer(number), Shape::Truth) => {
                out.push_str(if number == 0 { "false" } else { "true" });
            }
            (_, Shape::Number | Shape::Truth) => out.push_str("null"),
            (value, Shape::Document) => out.push_str(&valid_json(lossy_text(value))),
        }
    }
    out.push('}');
    Ok(())
}
