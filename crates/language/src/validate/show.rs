//! A literal as messages show it: on one line, spaced as graphql-js prints it, cut where it would flood the answer.
//!
//! **Cost:** bounded by [`BYTES_MAX`], however long the literal.

use crate::ast::{Document, ValueId, ValueKind};
use std::ops::Range;

/// Bytes of one literal in a message, about.
const BYTES_MAX: usize = 1000;

/// What is still to be written of a list or object.
enum Rest {
    Items(Range<usize>),
    Fields(Range<usize>),
}

/// `value` as text.
pub(super) fn value(document: &Document<'_>, value: ValueId) -> String {
    let mut out = String::new();
    let mut stack = Vec::new();
    begin(document, value, &mut out, &mut stack);
    while let Some(rest) = stack.last_mut() {
        if out.len() > BYTES_MAX {
            return format!("{}", super::context::Quoted(&out));
        }
        let next = match rest {
            Rest::Items(range) => range.next().map(|at| ValueId(at as u32)),
            Rest::Fields(range) => range.next().map(|at| {
                let field = &document.object_fields[at];
                separate(&mut out, "{ ");
                out.push_str(document.str(field.name));
                out.push_str(": ");
                field.value
            }),
        };
        match (next, &*rest) {
            (Some(value), Rest::Items(_)) => {
                separate(&mut out, "[");
                begin(document, value, &mut out, &mut stack);
            }
            (Some(value), Rest::Fields(_)) => begin(document, value, &mut out, &mut stack),
            (None, Rest::Items(_)) => {
                out.push(']');
                stack.pop();
            }
            (None, Rest::Fields(_)) => {
                out.push_str(" }");
                stack.pop();
            }
        }
    }
    format!("{}", super::context::Quoted(&out))
}

/// A comma, unless the list or object was opened just now with `opening`.
fn separate(out: &mut String, opening: &str) {
    if !out.ends_with(opening) {
        out.push_str(", ");
    }
}

fn begin(document: &Document<'_>, value: ValueId, out: &mut String, stack: &mut Vec<Rest>) {
    let value = document.value(value);
    match value.kind {
        ValueKind::List(items) => {
            out.push('[');
            stack.push(Rest::Items(items.range()));
        }
        ValueKind::Object(fields) => {
            out.push_str("{ ");
            stack.push(Rest::Fields(fields.range()));
        }
        ValueKind::Variable(_)
        | ValueKind::Int
        | ValueKind::Float
        | ValueKind::String { .. }
        | ValueKind::Block
        | ValueKind::Boolean(_)
        | ValueKind::Null
        | ValueKind::Enum => {
            let text = document.str(value.span);
            let end = (0..=text.len().min(BYTES_MAX + 1)).rev().find(|&at| text.is_char_boundary(at));
            out.push_str(&text[..end.unwrap_or(0)]);
        }
    }
}
