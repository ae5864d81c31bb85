//! Writes a literal of a document as GraphQL or as JSON, without recursion.
//!
//! GraphQL in the one form that graphql-js prints: `[1, 2]`, `{ a: 1 }`, strings in one line.

use crate::string_value::{self, write_graphql, write_json};
use crate::syntax::ast::{Document, ValueId, ValueKind};

/// The language to write.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    GraphQl,
    Json,
}

/// A list or object that is being written.
struct OpenValue {
    object: bool,
    first: bool,
    next: u32,
    end: u32,
}

/// Appends the literal `value` to `out`. In JSON enum values become strings.
/// # Errors
/// The place of a variable, when JSON is wanted.
pub(crate) fn literal(
    document: &Document<'_>,
    value: ValueId,
    style: Style,
    out: &mut String,
) -> Result<(), ValueId> {
    write(document, value, style, &mut |_, _| false, out)
}

/// Appends the literal `value` as JSON with nothing where variables stand: their places and the bytes of `out` before them go to `gap`.
/// # Errors
/// The place of a variable that `gap` does not take.
pub(super) fn with_gaps(
    document: &Document<'_>,
    value: ValueId,
    gap: &mut dyn FnMut(ValueId, u32) -> bool,
    out: &mut String,
) -> Result<(), ValueId> {
    write(document, value, Style::Json, gap, out)
}

fn write(
    document: &Document<'_>,
    mut value: ValueId,
    style: Style,
    gap: &mut dyn FnMut(ValueId, u32) -> bool,
    out: &mut String,
) -> Result<(), ValueId> {
    let mut open: Vec<OpenValue> = Vec::new();
    loop {
        open.extend(start(document, value, style, gap, out)?);
        while let Some(ended) = open.pop_if(|top| top.next == top.end) {
            out.push_str(match (ended.object, style) {
                (true, Style::GraphQl) => " }",
                (true, Style::Json) => "}",
                (false, _) => "]",
            });
        }
        let Some(top) = open.last_mut() else { return Ok(()) };
        if !std::mem::take(&mut top.first) {
            out.push_str(if style == Style::Json { "," } else { ", " });
        }
        let at = top.next;
        top.next += 1;
        value = if top.object {
            let field = &document.object_fields[at as usize];
            let name = document.str(field.name);
            match style {
                Style::GraphQl => out.extend([name, ": "]),
                Style::Json => out.extend(["\"", name, "\":"]),
            }
            field.value
        } else {
            ValueId(at)
        };
    }
}

/// Writes a leaf, or the bracket that opens a container.
fn start(
    document: &Document<'_>,
    id: ValueId,
    style: Style,
    gap: &mut dyn FnMut(ValueId, u32) -> bool,
    out: &mut String,
) -> Result<Option<OpenValue>, ValueId> {
    let value = document.value(id);
    match value.kind {
        ValueKind::Variable(name) => match style {
            Style::GraphQl => out.extend(["$", document.str(name)]),
            Style::Json if gap(id, out.len() as u32) => {}
            Style::Json => return Err(id),
        },
        ValueKind::Int | ValueKind::Float => out.push_str(document.str(value.span)),
        ValueKind::String { .. } | ValueKind::Block => {
            let text = string_value::decode(document.str(value.span));
            match style {
                Style::GraphQl => write_graphql(&text, out),
                Style::Json => write_json(&text, out),
            }
        }
        ValueKind::Boolean(true) => out.push_str("true"),
        ValueKind::Boolean(false) => out.push_str("false"),
        ValueKind::Null => out.push_str("null"),
        ValueKind::Enum => match style {
            Style::GraphQl => out.push_str(document.str(value.span)),
            Style::Json => write_json(document.str(value.span), out),
        },
        ValueKind::List(items) if items.is_empty() => out.push_str("[]"),
        ValueKind::Object(fields) if fields.is_empty() => out.push_str("{}"),
        ValueKind::List(items) => {
            out.push('[');
            return Ok(Some(open_value(false, items.range())));
        }
        ValueKind::Object(fields) => {
            out.push_str(if style == Style::Json { "{" } else { "{ " });
            return Ok(Some(open_value(true, fields.range())));
        }
    }
    Ok(None)
}

fn open_value(object: bool, range: std::ops::Range<usize>) -> OpenValue {
    OpenValue { object, first: true, next: range.start as u32, end: range.end as u32 }
}
