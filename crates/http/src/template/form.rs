//! Writes bodies as `application/x-www-form-urlencoded`, with brackets for nested names.
//!
//! `{a: 1, b: {c: [true, null]}}` is `a=1&b[c][0]=true&b[c][1]=`, with the brackets percent-encoded. An empty list or object
//! has no leaf and gives nothing. A list of objects is written one after another, so that a name may come again: `[{a: 1}, {a: 2}]` is
//! `a=1&a=2`.
//!
//! Source: URL Standard, section 5.2 (`application/x-www-form-urlencoded` serializing).

use super::RenderError;
use crate::selection::eval::{BYTES_MAX, Fault};
use crate::selection::value::Value;
use form_urlencoded::byte_serialize;
use http::HeaderName;
use http::header::CONTENT_TYPE;

const FORM: &str = "application/x-www-form-urlencoded";

/// True if `content_type` is a form's, ignoring parameters.
pub(crate) fn is_form_type(content_type: &str) -> bool {
    content_type.split(';').next().is_some_and(|it| it.trim().eq_ignore_ascii_case(FORM))
}

/// True if the headers declare a form.
pub(super) fn is_form<'h>(mut headers: impl Iterator<Item = (&'h HeaderName, &'h [u8])>) -> bool {
    let value = headers.find(|it| *it.0 == CONTENT_TYPE).map(|it| it.1);
    value.and_then(|it| std::str::from_utf8(it).ok()).is_some_and(is_form_type)
}

/// Appends `body` as a form. Recursion is bounded by the nesting of the value.
///
/// # Errors
/// The body is neither an object nor a list of objects, or it is too long.
pub(super) fn write(body: &Value<'_>, out: &mut Vec<u8>) -> Result<(), RenderError> {
    if let Some(items) = body.items() {
        return items.iter().filter(|it| !it.is_nothing()).try_for_each(|it| write(it, out));
    }
    let members = body.members().ok_or(RenderError::NoForm)?;
    let mut name = String::new();
    for (key, value) in members {
        name.clear();
        name.push_str(&key);
        pairs(&mut name, &value, out)?;
    }
    Ok(())
}

/// Appends the leaves of `value` under `name`. Recursion is bounded by the nesting of the value.
fn pairs(name: &mut String, value: &Value<'_>, out: &mut Vec<u8>) -> Result<(), RenderError> {
    let len = name.len();
    if let Some(items) = value.items() {
        for (at, item) in items.iter().enumerate() {
            name.push_str(&format!("[{at}]"));
            pairs(name, item, out)?;
            name.truncate(len);
        }
        return Ok(());
    }
    if let Some(members) = value.members() {
        for (key, value) in &members {
            name.push('[');
            name.push_str(key);
            name.push(']');
            pairs(name, value, out)?;
            name.truncate(len);
        }
        return Ok(());
    }
    let text = match value {
        Value::Text(text) | Value::Number(text) => text.as_ref(),
        Value::Bool(true) => "true",
        Value::Bool(false) => "false",
        Value::Null => "",
        Value::Missing | Value::Array(_) | Value::Object(_) | Value::Json(_) => return Ok(()),
    };
    if !out.is_empty() {
        out.push(b'&');
    }
    byte_serialize(name.as_bytes()).for_each(|it| out.extend_from_slice(it.as_bytes()));
    out.push(b'=');
    byte_serialize(text.as_bytes()).for_each(|it| out.extend_from_slice(it.as_bytes()));
    // Each leaf repeats the names above it, so a form may be longer than its value.
    if out.len() > BYTES_MAX { Err(Fault::TooMuch.into()) } else { Ok(()) }
}
