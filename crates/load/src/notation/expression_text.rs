//! Texts with expressions `$(…)` in them, and their values as JSON or plain text.

use super::expression::{Expression, Known, Value};
use super::yaml::Mistake;
use serde_saphyr::Location;
use std::io::Write;

/// A piece of a text.
#[derive(Debug)]
pub(crate) enum Piece<N> {
    Plain(String),
    Value(Expression<N>),
}

/// Appends a value as text; null is empty.
pub(crate) fn write_value(value: &Value<'_>, out: &mut String) {
    match value {
        Value::Null => {}
        Value::Bool(it) => out.push_str(if *it { "true" } else { "false" }),
        Value::Int(it) => out.push_str(&it.to_string()),
        Value::Decimal(it) => out.push_str(&it.to_string()),
        Value::Text(it) | Value::Json(it) => out.push_str(it),
    }
}

/// Appends the text.
pub(crate) fn write_text<N>(pieces: &[Piece<N>], known: &dyn Known<N>, out: &mut String) {
    for piece in pieces {
        match piece {
            Piece::Plain(it) => out.push_str(it),
            Piece::Value(it) => write_value(&it.value(known), out),
        }
    }
}

/// True if `holds` is true of a name in the text.
pub(crate) fn has_name<N>(pieces: &[Piece<N>], holds: &dyn Fn(&N) -> bool) -> bool {
    pieces.iter().any(|it| matches!(it, Piece::Value(value) if value.any_name(holds)))
}

/// Appends a value as JSON. Writing to memory does not fail, nor does serialising what is no map.
pub(crate) fn write_json(value: &Value<'_>, out: &mut Vec<u8>) {
    let written = match value {
        Value::Null => out.write_all(b"null"),
        Value::Bool(it) => write!(out, "{it}"),
        Value::Int(it) => write!(out, "{it}"),
        Value::Decimal(it) => write!(out, "{it}"),
        Value::Json(it) => out.write_all(it.as_bytes()),
        Value::Text(it) => serde_json::to_writer(out, it.as_ref()).map_err(Into::into),
    };
    debug_assert!(written.is_ok(), "{written:?}");
}

/// Cuts a text at its expressions; `$$(` is a plain `$(`.
pub(crate) fn pieces<N>(
    text: &str,
    place: Location,
    resolve: &dyn Fn(&str) -> Result<N, String>,
    calls: &mut u64,
) -> Result<Vec<Piece<N>>, Mistake> {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("$(") {
        plain.push_str(&rest[..start]);
        if rest[..start].ends_with('$') {
            plain.push('(');
            rest = &rest[start + 2..];
            continue;
        }
        let inner = &rest[start + 2..];
        let end = closing_parenthesis(inner)
            .ok_or_else(|| Mistake::at(place, format!("`$({inner}` has no closing `)`")))?;
        if !plain.is_empty() {
            pieces.push(Piece::Plain(std::mem::take(&mut plain)));
        }
        let read = Expression::read(&inner[..end], resolve, calls);
        let read =
            read.map_err(|message| Mistake::at(place, format!("in `$({})`: {message}", &inner[..end])))?;
        pieces.push(Piece::Value(read));
        rest = &inner[end + 1..];
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        pieces.push(Piece::Plain(plain));
    }
    Ok(pieces)
}

/// Byte offset of the parenthesis that closes the one opened before `text`.
fn closing_parenthesis(text: &str) -> Option<usize> {
    let mut open = 0;
    for (at, sign) in text.bytes().enumerate() {
        match sign {
            b'(' => open += 1,
            b')' if open == 0 => return Some(at),
            b')' => open -= 1,
            _ => {}
        }
    }
    None
}
