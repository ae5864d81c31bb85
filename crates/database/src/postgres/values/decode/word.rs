//! PostgreSQL's text of a value becomes JSON: for types that have parts without a binary form of ours.
//!
//! **Cost:** an item whose text has escapes is unescaped into a buffer of its own; all others are slices.

use super::plain::quote;
use super::wrong_form_fault;
use crate::exec::cell_value::{CellValue, Fault, is_number};
use std::borrow::Cow;

/// JSON kind of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// A string.
    Text,
    /// A number, or a string where JSON has no such number.
    Number,
    /// `t` or `f`.
    Bool,
    /// JSON, copied.
    Json,
    /// A date, a blank and a time, perhaps a zone.
    Timestamp,
    /// `{a,"b",NULL}`, in any number of dimensions.
    Array { element: Box<Word>, delimiter: u8 },
    /// `(a,"b",)`: keys of an object and their types.
    Composite(Box<[(Box<[u8]>, Word)]>),
}

impl Word {
    /// Reads a value of a result column.
    pub(super) fn read<'v>(&self, text: &'v [u8], scratch: &'v mut Vec<u8>) -> Result<CellValue<'v>, Fault> {
        scratch.clear();
        match self {
            Self::Text => Ok(CellValue::Text(Cow::Borrowed(text))),
            Self::Number if is_number(text) => Ok(CellValue::Json(Cow::Borrowed(text))),
            Self::Number => Ok(CellValue::Text(Cow::Borrowed(text))),
            Self::Json => Ok(CellValue::Json(Cow::Borrowed(text))),
            Self::Timestamp => {
                timestamp(text, scratch);
                Ok(CellValue::Text(Cow::Borrowed(scratch)))
            }
            Self::Bool | Self::Array { .. } | Self::Composite(_) => {
                self.json(text, scratch)?;
                Ok(CellValue::Json(Cow::Borrowed(scratch)))
            }
        }
    }

    /// Appends the value as JSON.
    fn json(&self, text: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        match self {
            Self::Number if is_number(text) => out.extend_from_slice(text),
            Self::Text | Self::Number => quote(out, text),
            Self::Bool => out.extend_from_slice(if text == b"t" { b"true" } else { b"false" }),
            Self::Json => out.extend_from_slice(text),
            Self::Timestamp => {
                out.push(b'"');
                timestamp(text, out);
                out.push(b'"');
            }
            Self::Array { element, delimiter } => array(element, *delimiter, text, out)?,
            Self::Composite(fields) => composite(fields, text, out)?,
        }
        Ok(())
    }
}

/// `2015-10-17 14:42:43+02` as ISO 8601 has it: a `T` for the blank, minutes in the zone.
fn timestamp(text: &[u8], out: &mut Vec<u8>) {
    let Some(blank) = text.iter().position(|&it| it == b' ') else {
        // Infinity.
        return out.extend_from_slice(text);
    };
    let date = &text[..blank];
    let time = &text[blank + 1..];
    let (time, era) = time.split_at(time.iter().position(|&it| it == b' ').unwrap_or(time.len()));
    out.extend_from_slice(date);
    out.push(b'T');
    out.extend_from_slice(time);
    let zone = time.iter().position(|it| matches!(it, b'+' | b'-'));
    if zone.is_some_and(|at| time.len() == at + 3) {
        out.extend_from_slice(b":00");
    }
    out.extend_from_slice(era);
}

/// `[2:3]={{a,b},{"c d",NULL}}`.
fn array(element: &Word, delimiter: u8, text: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    let start = if text.first() == Some(&b'[') { text.iter().position(|&it| it == b'{') } else { Some(0) };
    let mut rest = &text[start.ok_or_else(wrong_form_fault)?..];
    loop {
        match *rest {
            [] => return Ok(()),
            [b'{', ..] => out.push(b'['),
            [b'}', ..] => out.push(b']'),
            [byte, ..] if byte == delimiter => out.push(b','),
            [b'"', ..] => {
                let (item, after) = read_quoted(rest)?;
                element.json(&item, out)?;
                rest = after;
                continue;
            }
            [_, ..] => {
                let ends = |byte: &u8| matches!(byte, b'{' | b'}' | b'"') || *byte == delimiter;
                let (item, after) = rest.split_at(rest.iter().position(ends).ok_or_else(wrong_form_fault)?);
                match item {
                    b"NULL" => out.extend_from_slice(b"null"),
                    item => element.json(item, out)?,
                }
                rest = after;
                continue;
            }
        }
        rest = &rest[1..];
    }
}

/// `(a,"b ""c""",)`; an empty field is null.
fn composite(fields: &[(Box<[u8]>, Word)], text: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    let mut rest = text.strip_prefix(b"(").ok_or_else(wrong_form_fault)?;
    out.push(b'{');
    for (at, (key, word)) in fields.iter().enumerate() {
        if at != 0 {
            out.push(b',');
            rest = rest.strip_prefix(b",").ok_or_else(wrong_form_fault)?;
        }
        out.extend_from_slice(key);
        if rest.first() == Some(&b'"') {
            let (value, after) = read_quoted(rest)?;
            word.json(&value, out)?;
            rest = after;
        } else {
            let end = rest.iter().position(|it| matches!(it, b',' | b')')).ok_or_else(wrong_form_fault)?;
            match &rest[..end] {
                b"" => out.extend_from_slice(b"null"),
                value => word.json(value, out)?,
            }
            rest = &rest[end..];
        }
    }
    out.push(b'}');
    if rest == b")" { Ok(()) } else { Err(wrong_form_fault()) }
}

/// Reads the quoted text at the start of `text`, and returns it with the rest. A quote or backslash inside is doubled or
/// preceded by a backslash.
fn read_quoted(text: &[u8]) -> Result<(Cow<'_, [u8]>, &[u8]), Fault> {
    let mut built = Vec::new();
    let mut start = 1;
    loop {
        let found =
            text[start..].iter().position(|it| matches!(it, b'"' | b'\\')).ok_or_else(wrong_form_fault)?;
        let at = start + found;
        let is_end = text[at] == b'"' && text.get(at + 1) != Some(&b'"');
        if is_end && built.is_empty() {
            return Ok((Cow::Borrowed(&text[1..at]), &text[at + 1..]));
        }
        built.extend_from_slice(&text[start..at]);
        if is_end {
            return Ok((Cow::Owned(built), &text[at + 1..]));
        }
        built.push(*text.get(at + 1).ok_or_else(wrong_form_fault)?);
        start = at + 2;
    }
}
