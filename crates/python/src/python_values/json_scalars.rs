//! Values of custom scalars as JSON.
//!
//! **Invariant:** digits of integers and decimals are written as Python shows them; nesting is bounded, so a value that holds itself is
//! an error.

use crate::registry::Registry;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use weir_language::json::quote;

const NESTING_MAX: u32 = 100;

/// Appends `value` to `out`.
/// # Errors
/// The reason why it is no JSON, or an exception of one of its methods.
pub(crate) fn write(
    out: &mut String,
    value: &Bound<'_, PyAny>,
    registry: &Registry,
    depth: u32,
) -> Result<(), String> {
    if depth > NESTING_MAX {
        return Err(format!("it is nested deeper than {NESTING_MAX} levels"));
    }
    let exception = |error: PyErr| error.to_string();
    if value.is_none() {
        out.push_str("null");
    } else if let Ok(text) = value.cast::<PyString>() {
        quote(text.to_str().map_err(exception)?, out);
    } else if let Ok(value) = value.cast::<PyBool>() {
        out.push_str(if value.is_true() { "true" } else { "false" });
    } else if value.is_instance_of::<PyInt>() {
        out.push_str(value.str().and_then(|it| Ok(it.to_str()?.to_owned())).map_err(exception)?.as_str());
    } else if let Ok(number) = value.cast::<PyFloat>() {
        match number.value() {
            number if number.is_finite() => out.push_str(&format!("{number:?}")),
            number => return Err(format!("{number} is no JSON")),
        }
    } else if let Ok(members) = value.cast::<PyDict>() {
        object(out, members, registry, depth)?;
    } else if let Ok(items) = value.cast::<PyList>() {
        list(out, items.iter(), registry, depth)?;
    } else if let Ok(items) = value.cast::<PyTuple>() {
        list(out, items.iter(), registry, depth)?;
    } else {
        other(out, value, registry)?;
    }
    Ok(())
}

fn list<'py>(
    out: &mut String,
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    registry: &Registry,
    depth: u32,
) -> Result<(), String> {
    out.push('[');
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(out, &item, registry, depth + 1)?;
    }
    out.push(']');
    Ok(())
}

fn object(
    out: &mut String,
    members: &Bound<'_, PyDict>,
    registry: &Registry,
    depth: u32,
) -> Result<(), String> {
    out.push('{');
    for (index, (key, value)) in members.iter().enumerate() {
        let Ok(key) = key.cast_into::<PyString>() else { return Err("a key is no text".into()) };
        if index > 0 {
            out.push(',');
        }
        quote(key.to_str().map_err(|it| it.to_string())?, out);
        out.push(':');
        write(out, &value, registry, depth + 1)?;
    }
    out.push('}');
    Ok(())
}

/// Decimals as numbers; UUIDs, dates and times as texts.
fn other(out: &mut String, value: &Bound<'_, PyAny>, registry: &Registry) -> Result<(), String> {
    let py = value.py();
    let exception = |error: PyErr| error.to_string();
    let text = |value: &Bound<'_, PyAny>| -> Result<String, String> {
        value.str().and_then(|it| Ok(it.to_str()?.to_owned())).map_err(exception)
    };
    if value.is_instance(registry.decimal.bind(py)).map_err(exception)? {
        let digits = text(value)?;
        if !digits.ends_with(|it: char| it.is_ascii_digit()) {
            return Err(format!("{digits} is no JSON"));
        }
        out.push_str(&digits);
    } else if value.is_instance(registry.uuid.bind(py)).map_err(exception)? {
        quote(&text(value)?, out);
    } else if let Ok(formatted) = value.call_method0("isoformat") {
        quote(&text(&formatted)?, out);
    } else {
        return Err("it is no JSON: give the scalar a writer".into());
    }
    Ok(())
}
