//! Converts leaves: checks their type and copies their JSON text.
//!
//! Values for the client are [`Data::Json`]: digits and quoted texts with their escapes, which are JSON already. Values for
//! keys are decoded, so that equal values have equal bytes.
//!
//! Source: GraphQL specification, section 3.5 (result coercion).

use super::fail;
use crate::selection::canonical_number;
use crate::selection::eval::Fault;
use std::borrow::Cow;
use weir_engine::rows::{Column, Data, Texts};
use weir_engine::source::FieldError;
use weir_language::json::{JsonKind, JsonRef};
use weir_language::schema::{Schema, TypeId, TypeKind, builtin};

/// Conversion of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaf {
    Int,
    Float,
    String,
    Boolean,
    Id,
    Enum(TypeId),
    /// Any JSON value.
    Any,
    /// A key in text form.
    KeyText(KeyOf),
    /// A key of a custom scalar: text if all values are text, else JSON.
    KeyAny,
}

/// Type of a text key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyOf {
    String,
    Id,
    Enum(TypeId),
}

impl Leaf {
    /// Conversion of type `ty` for the client.
    pub(super) fn of(schema: &Schema, ty: TypeId) -> Self {
        match ty {
            builtin::INT => Self::Int,
            builtin::FLOAT => Self::Float,
            builtin::STRING => Self::String,
            builtin::BOOLEAN => Self::Boolean,
            builtin::ID => Self::Id,
            _ if schema.ty(ty).kind == TypeKind::Enum => Self::Enum(ty),
            _ => Self::Any,
        }
    }

    /// Conversion of this type if the value is a key for other sources.
    pub(super) const fn key(self) -> Self {
        match self {
            Self::String => Self::KeyText(KeyOf::String),
            Self::Id => Self::KeyText(KeyOf::Id),
            Self::Enum(ty) => Self::KeyText(KeyOf::Enum(ty)),
            Self::Any => Self::KeyAny,
            Self::Int | Self::Float | Self::Boolean | Self::KeyText(_) | Self::KeyAny => self,
        }
    }
}

/// Converts the values of a column.
pub(super) fn column(leaf: Leaf, schema: &Schema, rows: &[Option<JsonRef<'_>>]) -> Column {
    match leaf {
        Leaf::Int => ints(rows),
        Leaf::Boolean => booleans(rows),
        Leaf::Float => json_column(rows, |it, (kind, raw), out| match kind {
            JsonKind::Number => float(raw, out),
            _ => Err(wrong("Float", it)),
        }),
        Leaf::String => json_column(rows, |it, (kind, raw), out| match kind {
            JsonKind::String { .. } => {
                out.extend_from_slice(raw);
                Ok(())
            }
            _ => Err(wrong("String", it)),
        }),
        Leaf::Id => json_column(rows, |it, (kind, raw), out| match kind {
            JsonKind::String { .. } => {
                out.extend_from_slice(raw);
                Ok(())
            }
            _ => {
                out.push(b'"');
                out.extend_from_slice(id_digits(it)?.as_bytes());
                out.push(b'"');
                Ok(())
            }
        }),
        Leaf::Enum(ty) => json_column(rows, |it, _, out| {
            out.push(b'"');
            out.extend_from_slice(enum_value(schema, ty, it)?.as_bytes());
            out.push(b'"');
            Ok(())
        }),
        Leaf::Any => json_column(rows, copy_raw),
        Leaf::KeyText(of) => {
            let mut column = texts(rows, |it, _, out| key_text(of, schema, it, out));
            if of == KeyOf::Id {
                let is_number = |it: JsonRef<'_>| it.as_number().is_some();
                let numbers = rows.iter().enumerate().filter(|it| it.1.is_some_and(is_number));
                numbers.for_each(|it| column.digits.set(it.0));
            }
            column
        }
        Leaf::KeyAny if rows.iter().flatten().all(|it| it.is_null() || it.as_str().is_some()) => {
            texts(rows, |it, _, out| key_text(KeyOf::String, schema, it, out))
        }
        Leaf::KeyAny => json_column(rows, copy_raw),
    }
}

fn ints(rows: &[Option<JsonRef<'_>>]) -> Column {
    let mut column = Column::default();
    let mut values = Vec::with_capacity(rows.len());
    for (row, value) in rows.iter().enumerate() {
        let read = value.map(|value| (value, value.kind_and_bytes()));
        values.push(match read {
            Some((value, (JsonKind::Number, digits))) => {
                match short_int(digits).map_or_else(|| int(value), Ok) {
                    Ok(value) => value,
                    Err(error) => {
                        fail(&mut column, row as u32, &error);
                        0
                    }
                }
            }
            Some((_, (JsonKind::Null, _))) | None => {
                column.nulls.set(row);
                0
            }
            Some((value, _)) => {
                fail(&mut column, row as u32, &wrong("Int", value));
                0
            }
        });
    }
    column.data = Data::Int(values);
    column
}

/// An integer of up to nine digits, which fits 32 bits; `None` for any other number.
#[inline]
fn short_int(number: &[u8]) -> Option<i64> {
    let digits = number.strip_prefix(b"-").unwrap_or(number);
    if digits.len() > 9 {
        return None;
    }
    let mut value = 0;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    Some(if digits.len() < number.len() { -value } else { value })
}

/// A 32-bit integer. Numbers with an integral value (`1.0`, `1e2`) are accepted.
fn int(value: JsonRef<'_>) -> Result<i64, FieldError> {
    let Some(digits) = value.as_number() else { return Err(wrong("Int", value)) };
    let whole = match digits.parse::<i64>() {
        Ok(number) => Some(i128::from(number)),
        Err(_) => crate::selection::whole_number(digits),
    };
    match whole {
        Some(number) => i32::try_from(number).map(i64::from).map_err(|_| wide()),
        None if digits.bytes().any(|it| matches!(it, b'.' | b'e' | b'E')) => {
            Err(error(format!("Int cannot represent the non-integer value {}.", shorten_digits(digits))))
        }
        None => Err(wide()),
    }
}

fn booleans(rows: &[Option<JsonRef<'_>>]) -> Column {
    let mut column = Column::default();
    let mut values = Vec::with_capacity(rows.len());
    for (row, value) in rows.iter().enumerate() {
        let found = value.and_then(JsonRef::as_bool);
        match value {
            Some(value) if found.is_none() && !value.is_null() => {
                fail(&mut column, row as u32, &wrong("Boolean", *value));
            }
            Some(_) | None if found.is_none() => column.nulls.set(row),
            Some(_) | None => {}
        }
        values.push(found.unwrap_or(false));
    }
    column.data = Data::Bool(values);
    column
}

type Copied = Result<(), FieldError>;

/// Copies one value that is not null, given with its kind and its bytes.
trait CopyValue: Fn(JsonRef<'_>, (JsonKind, &[u8]), &mut Vec<u8>) -> Copied {}

impl<F: Fn(JsonRef<'_>, (JsonKind, &[u8]), &mut Vec<u8>) -> Copied> CopyValue for F {}

fn copy_raw(_: JsonRef<'_>, (_, raw): (JsonKind, &[u8]), out: &mut Vec<u8>) -> Copied {
    out.extend_from_slice(raw);
    Ok(())
}

/// A column of JSON: raw, or as `copy` writes it.
fn json_column(rows: &[Option<JsonRef<'_>>], copy: impl CopyValue) -> Column {
    let (mut column, texts) = copy_values(rows, copy);
    column.data = Data::Json(texts);
    column
}

/// A column of decoded text.
fn texts(rows: &[Option<JsonRef<'_>>], copy: impl CopyValue) -> Column {
    let (mut column, texts) = copy_values(rows, copy);
    column.data = Data::Text(texts);
    column
}

fn copy_values(rows: &[Option<JsonRef<'_>>], copy: impl CopyValue) -> (Column, Texts) {
    let mut column = Column::default();
    let bytes = rows.iter().flatten().map(|it| it.kind_and_bytes().1.len() + 2).sum();
    let mut texts = Texts { bytes: Vec::with_capacity(bytes), ends: Vec::with_capacity(rows.len()) };
    for (row, value) in rows.iter().enumerate() {
        match value.map(|value| (value, value.kind_and_bytes())) {
            Some((_, (JsonKind::Null, _))) | None => column.nulls.set(row),
            Some((value, read)) => {
                let start = texts.bytes.len();
                if let Err(error) = copy(value, read, &mut texts.bytes) {
                    texts.bytes.truncate(start);
                    fail(&mut column, row as u32, &error);
                }
            }
        }
        texts.ends.push(texts.bytes.len() as u32);
    }
    (column, texts)
}

fn key_text(of: KeyOf, schema: &Schema, value: JsonRef<'_>, out: &mut Vec<u8>) -> Copied {
    match (of, value.as_str()) {
        (KeyOf::Enum(ty), _) => out.extend_from_slice(enum_value(schema, ty, value)?.as_bytes()),
        (KeyOf::String | KeyOf::Id, Some(text)) => out.extend_from_slice(text.as_bytes()),
        (KeyOf::Id, None) => out.extend_from_slice(id_digits(value)?.as_bytes()),
        (KeyOf::String, None) => return Err(wrong("String", value)),
    }
    Ok(())
}

/// Appends the digits of a number, or refuses it if it exceeds a `Float`.
fn float(raw: &[u8], out: &mut Vec<u8>) -> Copied {
    // Only an exponent or very many digits can exceed the range.
    let far = raw.len() > 300 || raw.iter().any(|it| matches!(it, b'e' | b'E'));
    let digits = if far { std::str::from_utf8(raw).unwrap_or_default() } else { "" };
    if far && !digits.parse::<f64>().is_ok_and(f64::is_finite) {
        let message =
            format!("Float cannot represent the number {}, which is too large.", shorten_digits(digits));
        return Err(FieldError {
            code: "FLOAT_RANGE",
            message: message.into(),
            hasura_path: None,
            extensions: None,
        });
    }
    out.extend_from_slice(raw);
    Ok(())
}

/// Digits of an integral ID: `1` also for `1.0`.
fn id_digits(value: JsonRef<'_>) -> Result<Cow<'_, str>, FieldError> {
    let digits = value.as_number().map(canonical_number);
    let whole = |it: &Cow<'_, str>| it.bytes().all(|it| it.is_ascii_digit() || it == b'-');
    digits.filter(whole).ok_or_else(|| wrong("ID", value))
}

fn enum_value<'s>(schema: &'s Schema, ty: TypeId, value: JsonRef<'_>) -> Result<&'s str, FieldError> {
    let Some(text) = value.as_str() else { return Err(wrong(schema.type_name(ty), value)) };
    let run = schema.ty(ty).members.range();
    let found = schema.enum_values[run].iter().map(|it| schema.str(it.name)).find(|it| **it == *text);
    found.ok_or_else(|| {
        let message = format!("Enum \"{}\" cannot represent the value it was given.", schema.type_name(ty));
        FieldError { code: "ENUM_VALUE", message: message.into(), hasura_path: None, extensions: None }
    })
}

/// Shortens digits for a message.
fn shorten_digits(digits: &str) -> &str {
    digits.get(..40).unwrap_or(digits)
}

fn wide() -> FieldError {
    let message = "Int cannot represent a number of more than 32 bits.";
    FieldError { code: "INT_RANGE", message: message.into(), hasura_path: None, extensions: None }
}

fn error(message: String) -> FieldError {
    FieldError { code: "SERVICE_VALUE", message: message.into(), hasura_path: None, extensions: None }
}

fn wrong(ty: &str, value: JsonRef<'_>) -> FieldError {
    let kind = match value.kind() {
        JsonKind::Null => "null",
        JsonKind::True | JsonKind::False => "a boolean",
        JsonKind::Number => "a number",
        JsonKind::String { .. } => "a string",
        JsonKind::Object => "an object",
        JsonKind::Array => "a list",
    };
    error(format!("{ty} cannot represent {kind}."))
}

/// Error for a value in place of a list.
pub(super) fn not_list() -> FieldError {
    error("A list was expected, and the service gave another value.".into())
}

/// Error for a value in place of an object.
pub(super) fn not_object() -> FieldError {
    error("An object was expected, and the service gave another value.".into())
}

/// Error for an object whose concrete type is unknown.
pub(super) fn no_type() -> FieldError {
    error("An object with its `__typename` was expected, and the service gave another value.".into())
}

/// Error for a failed method.
pub(super) fn fault(fault: &Fault) -> FieldError {
    error(format!("The value cannot be made of what the service gave: {fault}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_language::json::Json;

    #[test]
    fn short_integers_read_like_all_others() {
        let check = |text: &str, is_short: bool| {
            let json = Json::parse(text.as_bytes(), 1).unwrap();
            let found = short_int(text.as_bytes());
            assert_eq!(found.is_some(), is_short, "{text}");
            assert!(found.is_none_or(|it| int(json.root()) == Ok(it)), "{text}");
        };
        for text in ["0", "-0", "7", "-7", "10", "999999999", "-999999999"] {
            check(text, true);
        }
        for text in ["1000000000", "-2147483648", "1.0", "1e2", "-1E1", "0.5", "12345678901234567890"] {
            check(text, false);
        }
    }
}
