//! A column of keys that is filled from JSON, value by value.
//!
//! **Invariant:** a column holds only values of its form, and each row has one or is null. Digits stay as they were written.

use crate::answer::rows::{Bitmap, Column, Data, Texts};
use crate::source::KeyForm;
use weir_language::json::{JsonKind, JsonRef};

/// Digits of a decimal number in a key.
const DIGITS_MAX: usize = 200;

/// A value of a key.
pub(super) enum KeyValue {
    Int(i64),
    Bool(bool),
    Text(Box<str>),
}

impl KeyForm {
    /// The value of a key, or the words for what would fit.
    pub(super) fn read(self, json: JsonRef<'_>) -> Result<KeyValue, &'static str> {
        let found = match self {
            Self::Int(bits) => integer(json, bits).map(KeyValue::Int),
            Self::Decimal => decimal(json).map(KeyValue::Text),
            Self::Boolean => json.as_bool().map(KeyValue::Bool),
            Self::Text => text(json).map(KeyValue::Text),
            Self::Id => json
                .as_number()
                .filter(|it| is_integer(it))
                .map(|it| KeyValue::Text(it.into()))
                .or_else(|| text(json).map(KeyValue::Text)),
            Self::Number => text(json).filter(|it| is_object_number(it)).map(KeyValue::Text),
            Self::Uuid => text(json).filter(|it| is_uuid(it)).map(KeyValue::Text),
        };
        found.ok_or(match self {
            Self::Int(16) => "an integer of 16 bits",
            Self::Int(32) => "an integer of 32 bits",
            Self::Int(_) => "an integer of 64 bits",
            Self::Decimal => "a decimal number of at most 200 digits",
            Self::Boolean => "a boolean",
            Self::Text => "a text without NUL",
            Self::Id => "a text without NUL, or an integer",
            Self::Number => "`0x` and up to 16 hexadecimal digits",
            Self::Uuid => "a UUID",
        })
    }
}

/// The digits of a number, or of a text.
fn digits<'t>(json: JsonRef<'t>) -> Option<std::borrow::Cow<'t, str>> {
    json.as_number().map(Into::into).or_else(|| json.as_str())
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.len() <= DIGITS_MAX && digits.bytes().all(|it| it.is_ascii_digit())
}

fn integer(json: JsonRef<'_>, bits: u8) -> Option<i64> {
    // Other subgraphs give integers of 64 bits as texts too; the others are never texts.
    let text = if bits == 64 { digits(json)? } else { json.as_number()?.into() };
    let value: i64 = Some(text).filter(|it| is_integer(it))?.parse().ok()?;
    let bound = 1_i128 << (bits - 1);
    (-bound..bound).contains(&i128::from(value)).then_some(value)
}

fn decimal(json: JsonRef<'_>) -> Option<Box<str>> {
    let text = digits(json)?;
    let unsigned = text.strip_prefix('-').unwrap_or(&text);
    let is_plain = weir_language::json::is_number(text.as_bytes()) && !unsigned.contains(['e', 'E']);
    (is_plain && text.len() <= DIGITS_MAX).then(|| text.into())
}

/// A text; databases have none with NUL.
fn text(json: JsonRef<'_>) -> Option<Box<str>> {
    matches!(json.kind(), JsonKind::String { .. })
        .then(|| json.as_str())
        .flatten()
        .filter(|it| !it.contains('\0'))
        .map(Into::into)
}

/// True for the number of an object, which has at most 63 bits.
fn is_object_number(text: &str) -> bool {
    let digits = text.strip_prefix("0x").filter(|it| it.bytes().all(|digit| digit.is_ascii_hexdigit()));
    digits.is_some_and(|it| i64::from_str_radix(it, 16).is_ok())
}

fn is_uuid(text: &str) -> bool {
    let fits = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.bytes().enumerate().all(fits)
}

/// A column that is being filled.
pub(super) struct KeyColumn {
    values: Data,
    nulls: Bitmap,
    rows: usize,
}

impl KeyColumn {
    pub(super) fn new(form: KeyForm) -> Self {
        let values = match form {
            KeyForm::Int(_) => Data::Int(Vec::new()),
            KeyForm::Boolean => Data::Bool(Vec::new()),
            KeyForm::Decimal => Data::Json(Texts::default()),
            KeyForm::Text | KeyForm::Id | KeyForm::Number | KeyForm::Uuid => Data::Text(Texts::default()),
        };
        Self { values, nulls: Bitmap::default(), rows: 0 }
    }

    /// Appends a value, or null.
    pub(super) fn push(&mut self, value: Option<&KeyValue>) {
        if value.is_none() {
            self.nulls.set(self.rows);
        }
        self.rows += 1;
        match (&mut self.values, value) {
            (Data::Int(to), Some(KeyValue::Int(value))) => to.push(*value),
            (Data::Int(to), _) => to.push(0),
            (Data::Bool(to), Some(KeyValue::Bool(value))) => to.push(*value),
            (Data::Bool(to), _) => to.push(false),
            (Data::Text(to) | Data::Json(to), Some(KeyValue::Text(value))) => to.push(value.as_bytes()),
            (Data::Text(to) | Data::Json(to), _) => to.push(b""),
            _ => {}
        }
    }

    pub(super) fn finish(self) -> Column {
        Column { data: self.values, nulls: self.nulls, ..Column::default() }
    }
}
