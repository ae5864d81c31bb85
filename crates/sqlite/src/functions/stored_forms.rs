//! Functions for columns that may hold one value in several ways: which values compare as what is given of them, which others an
//! equality has to look for, and how a new value is stored beside an old one.
//!
//! **Invariant:** `weir_as_…` and `weir_uuid_bytes` give the value itself where it has no other form: a list with a null in it would
//! be neither true nor false. What a value is given as is decided by [`given_text`], for readers and for comparisons.

use crate::functions::binary_json::{document, is_json};
use rusqlite::ToSql;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Result};
use std::borrow::Cow;
use weir_relational::values::hex::hex;

/// Words for truths, the short one first: of false, and of true.
const TRUTHS: [[&str; 2]; 2] = [["f", "false"], ["t", "true"]];

/// A value on its way to SQLite. A text may hold any bytes, as in SQLite.
#[derive(Clone, Debug, PartialEq)]
enum Form {
    Null,
    Integer(i64),
    Real(f64),
    Text(Vec<u8>),
    Blob(Vec<u8>),
}

impl Form {
    fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into().into_bytes())
    }
}

impl ToSql for Form {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(value) => ValueRef::Integer(*value),
            Self::Real(value) => ValueRef::Real(*value),
            Self::Text(text) => ValueRef::Text(text),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// Registers them.
pub(crate) fn register(connection: &Connection, flags: FunctionFlags) -> Result<()> {
    type Made = fn(ValueRef<'_>) -> Form;
    let forms: [(_, Made); 11] = [
        (c"weir_comparable", comparable),
        (c"weir_comparable_truth", comparable_truth),
        (c"weir_comparable_uuid", comparable_uuid),
        (c"weir_comparable_bytes", comparable_bytes),
        (c"weir_truth_words", truth_words),
        (c"weir_uuid_bytes", uuid_bytes),
        (c"weir_as_integer", as_integer),
        (c"weir_as_real", as_real),
        (c"weir_as_bytes", as_bytes),
        (c"weir_as_text", as_text),
        (c"weir_document_text", document_text),
    ];
    for (name, form) in forms {
        connection.create_scalar_function(name, 1, flags, move |context| Ok(form(context.get_raw(0))))?;
    }
    type Keep = fn(ValueRef<'_>, ValueRef<'_>) -> Form;
    let kept: [(_, Keep); 6] = [
        (c"weir_kept", keep_form),
        (c"weir_kept_text", kept_text),
        (c"weir_kept_truth", kept_truth),
        (c"weir_kept_uuid", kept_uuid),
        (c"weir_kept_bytes", kept_bytes),
        (c"weir_kept_document", kept_document),
    ];
    for (name, kept) in kept {
        connection.create_scalar_function(name, 2, flags, move |context| {
            Ok(kept(context.get_raw(0), context.get_raw(1)))
        })?;
    }
    connection.create_scalar_function(c"weir_is_binary_json", 1, flags, |context| {
        let ValueRef::Blob(bytes) = context.get_raw(0) else { return Ok(false) };
        Ok(!std::str::from_utf8(bytes).is_ok_and(is_json) && document(bytes).is_some())
    })
}

/// The text that is given of a value in a column of texts; `None`: it is null.
pub fn given_text(value: ValueRef<'_>) -> Option<Cow<'_, str>> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(value) => Some(value.to_string().into()),
        // The sum with zero turns -0 into 0.
        ValueRef::Real(value) => Some((value + 0.0).to_string().into()),
        ValueRef::Text(text) => Some(String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => Some(format!("\\x{}", hex(bytes)).into()),
    }
}

/// The UUID that 16 bytes are, as text; `None`: they are none.
pub fn uuid_text(bytes: &[u8]) -> Option<String> {
    let digits = hex(bytes);
    (bytes.len() == 16).then(|| {
        let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
        parts.join("-")
    })
}

/// The document that a value is, as text; `None`: it is null or no document.
pub fn given_document(value: ValueRef<'_>) -> Option<Cow<'_, str>> {
    match value {
        ValueRef::Blob(bytes) => document(bytes),
        value => given_text(value),
    }
}

/// A value as SQLite has it.
fn same(value: ValueRef<'_>) -> Form {
    match value {
        ValueRef::Text(text) => Form::Text(text.to_vec()),
        ValueRef::Null => Form::Null,
        ValueRef::Integer(value) => Form::Integer(value),
        ValueRef::Real(value) => Form::Real(value),
        ValueRef::Blob(bytes) => Form::Blob(bytes.to_vec()),
    }
}

fn str(value: ValueRef<'_>) -> Option<&str> {
    value.as_str().ok()
}

fn is_infinite(value: ValueRef<'_>) -> bool {
    matches!(value, ValueRef::Real(value) if value.is_infinite())
}

/// The number that is given as `text`; `None`: there is none.
fn number(text: &str) -> Option<Form> {
    if let Some(integer) = integer(text) {
        return Some(Form::Integer(integer));
    }
    real(text).map(Form::Real)
}

/// The integer that is given as `text`.
fn integer(text: &str) -> Option<i64> {
    text.parse().ok().filter(|it: &i64| it.to_string() == text)
}

/// The floating point number that is given as `text`.
fn real(text: &str) -> Option<f64> {
    text.parse().ok().filter(|it: &f64| it.is_finite() && it.to_string() == text)
}

/// The bytes that pairs of hexadecimal digits are; `None` if `digits` has anything else.
pub fn unhex(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|it| it as u8);
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?)).collect()
}

/// The bytes that are given as `text`.
fn bytes(text: &str) -> Option<Vec<u8>> {
    unhex(text.strip_prefix("\\x")?)
}

/// Numbers in the order of their values, texts of digits among them, then texts.
fn comparable(value: ValueRef<'_>) -> Form {
    match given_text(value) {
        // An infinity has no text form.
        _ if is_infinite(value) => same(value),
        Some(text) => number(&text).unwrap_or_else(|| Form::text(text.into_owned())),
        None => Form::Null,
    }
}

/// The truth that a value is given as.
fn truth(value: ValueRef<'_>) -> Option<bool> {
    match value {
        ValueRef::Integer(0) => Some(false),
        ValueRef::Integer(1) => Some(true),
        ValueRef::Text(text) => [false, true].into_iter().find(|truth| {
            let words = TRUTHS[usize::from(*truth)];
            words.iter().any(|it| text.eq_ignore_ascii_case(it.as_bytes()))
        }),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => None,
    }
}

fn comparable_truth(value: ValueRef<'_>) -> Form {
    truth(value).map_or_else(|| same(value), |it| Form::Integer(i64::from(it)))
}

/// All forms of a truth, as a list in JSON.
fn truth_words(value: ValueRef<'_>) -> Form {
    let Some(truth) = truth(value) else {
        // Null is neither in the list nor not in it.
        return Form::text(if let ValueRef::Integer(it) = value {
            format!("[{it}]")
        } else {
            "[null]".into()
        });
    };
    let mut out = format!("[{}", u8::from(truth));
    for word in TRUTHS[usize::from(truth)] {
        // Each letter is small or a capital.
        for capitals in 0..1_u32 << word.len() {
            let letter =
                |(at, it): (usize, char)| if capitals >> at & 1 == 1 { it.to_ascii_uppercase() } else { it };
            out.push_str(",\"");
            out.extend(word.chars().enumerate().map(letter));
            out.push('"');
        }
    }
    out.push(']');
    Form::text(out)
}

/// The 16 bytes of a UUID, with or without dashes.
fn uuid(text: &str) -> Option<Vec<u8>> {
    let digits: String = match text.len() {
        32 => text.to_owned(),
        36 if [8, 13, 18, 23].iter().all(|&at| text.as_bytes()[at] == b'-') => text.replace('-', ""),
        _ => return None,
    };
    unhex(&digits).filter(|it| it.len() == 16)
}

fn comparable_uuid(value: ValueRef<'_>) -> Form {
    let Some(text) = given_text(value).filter(|_| !is_infinite(value)) else { return same(value) };
    let dashed = bytes(&text).and_then(|it| uuid_text(&it));
    Form::text(dashed.unwrap_or_else(|| text.into_owned()))
}

fn uuid_bytes(value: ValueRef<'_>) -> Form {
    let found = str(value).and_then(|it| uuid(it).or_else(|| bytes(it)));
    found.map_or_else(|| same(value), Form::Blob)
}

fn comparable_bytes(value: ValueRef<'_>) -> Form {
    if let ValueRef::Text(text) = value { Form::Blob(text.to_vec()) } else { same(value) }
}

fn as_integer(value: ValueRef<'_>) -> Form {
    str(value).and_then(integer).map_or_else(|| same(value), Form::Integer)
}

fn as_real(value: ValueRef<'_>) -> Form {
    str(value).and_then(real).map_or_else(|| same(value), Form::Real)
}

fn as_bytes(value: ValueRef<'_>) -> Form {
    str(value).and_then(bytes).map_or_else(|| same(value), Form::Blob)
}

fn as_text(value: ValueRef<'_>) -> Form {
    if let ValueRef::Blob(bytes) = value { Form::Text(bytes.to_vec()) } else { same(value) }
}

fn document_text(value: ValueRef<'_>) -> Form {
    given_document(value).map_or(Form::Null, |it| Form::text(it.into_owned()))
}

fn keep_form(new: ValueRef<'_>, old: ValueRef<'_>) -> Form {
    match old {
        ValueRef::Integer(_) => str(new).and_then(number).unwrap_or_else(|| same(new)),
        ValueRef::Real(_) => as_real(new),
        ValueRef::Blob(_) => as_bytes(new),
        ValueRef::Null | ValueRef::Text(_) => same(new),
    }
}

fn kept_text(new: ValueRef<'_>, old: ValueRef<'_>) -> Form {
    if let ValueRef::Blob(_) = old { as_bytes(new) } else { same(new) }
}

fn kept_uuid(new: ValueRef<'_>, old: ValueRef<'_>) -> Form {
    if let ValueRef::Blob(_) = old { uuid_bytes(new) } else { same(new) }
}

fn kept_bytes(new: ValueRef<'_>, old: ValueRef<'_>) -> Form {
    match (old, new) {
        (ValueRef::Text(old), ValueRef::Blob(bytes))
            if old == bytes || std::str::from_utf8(bytes).is_ok() =>
        {
            as_text(new)
        }
        (_, new) => same(new),
    }
}

fn kept_document(new: ValueRef<'_>, old: ValueRef<'_>) -> Form {
    match (old, new) {
        (ValueRef::Blob(_), ValueRef::Text(text)) => Form::Blob(text.to_vec()),
        (_, new) => same(new),
    }
}

/// The word for the new truth that has the length and case of the old one.
fn kept_truth(new: ValueRef<'_>, old: ValueRef<'_>) -> Form {
    let (Some(is), Some(word)) = (truth(new), truth(old).and_then(|_| str(old))) else { return same(new) };
    if truth(old) == Some(is) {
        return same(old);
    }
    let new = TRUTHS[usize::from(is)][usize::from(word.len() > 1)];
    let is_capital = |at: usize| word.as_bytes().get(at).is_some_and(u8::is_ascii_uppercase);
    let letter = |(at, it): (usize, char)| if is_capital(at.min(1)) { it.to_ascii_uppercase() } else { it };
    Form::text(new.chars().enumerate().map(letter).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(form: fn(ValueRef<'_>) -> Form, value: ValueRef<'_>, expected: Form) {
        assert_eq!(form(value), expected, "{value:?}");
    }

    #[test]
    fn values_compare_as_what_is_given_of_them() {
        for (value, expected) in [
            (ValueRef::Integer(5), Form::Integer(5)),
            (ValueRef::Real(5.0), Form::Integer(5)),
            (ValueRef::Text(b"5"), Form::Integer(5)),
            (ValueRef::Text(b"5.0"), Form::text("5.0")),
            (ValueRef::Text(b"05"), Form::text("05")),
            (ValueRef::Real(0.1), Form::Real(0.1)),
            // It is given with the digits of another integer.
            (ValueRef::Real(4_611_686_018_427_387_904.0), Form::Integer(4_611_686_018_427_388_000)),
            (ValueRef::Text(b"NaN"), Form::text("NaN")),
            (ValueRef::Blob(b"\x00\xff"), Form::text("\\x00ff")),
            (ValueRef::Null, Form::Null),
        ] {
            check(comparable, value, expected);
        }
        for (text, expected) in [("t", 1), ("TRUE", 1), ("False", 0)] {
            check(comparable_truth, ValueRef::Text(text.as_bytes()), Form::Integer(expected));
        }
        check(comparable_truth, ValueRef::Integer(2), Form::Integer(2));
        check(
            comparable_uuid,
            ValueRef::Blob(&[0x11; 16]),
            Form::text("11111111-1111-1111-1111-111111111111"),
        );
        check(comparable_uuid, ValueRef::Blob(&[0x11; 3]), Form::text("\\x111111"));
    }

    #[test]
    fn every_spelling_of_a_truth_is_a_form_of_it() {
        let Form::Text(words) = truth_words(ValueRef::Text(b"T")) else { panic!("a list") };
        let words = String::from_utf8(words).unwrap();
        for word in ["[1,", "\"t\"", "\"T\"", "\"true\"", "\"TRUE\"", "\"tRuE\""] {
            assert!(words.contains(word), "{word}");
        }
        check(truth_words, ValueRef::Integer(2), Form::text("[2]"));
        check(truth_words, ValueRef::Null, Form::text("[null]"));
    }

    #[test]
    fn a_new_value_is_stored_as_the_old_one_was() {
        let text = |it: &'static str| ValueRef::Text(it.as_bytes());
        for (kept, new, old, expected) in [
            (
                keep_form as fn(ValueRef<'_>, ValueRef<'_>) -> Form,
                text("7"),
                ValueRef::Integer(5),
                Form::Integer(7),
            ),
            (keep_form, text("7"), ValueRef::Real(5.5), Form::Real(7.0)),
            (keep_form, text("7"), text("5"), Form::text("7")),
            (keep_form, text("\\x07"), ValueRef::Blob(b""), Form::Blob(vec![7])),
            (keep_form, text("many"), ValueRef::Integer(5), Form::text("many")),
            (kept_truth, ValueRef::Integer(0), text("T"), Form::text("F")),
            (kept_truth, ValueRef::Integer(0), text("True"), Form::text("False")),
            (kept_truth, ValueRef::Integer(1), text("FALSE"), Form::text("TRUE")),
            (kept_truth, ValueRef::Integer(1), ValueRef::Integer(0), Form::Integer(1)),
            (
                kept_uuid,
                text("11111111-1111-1111-1111-111111111111"),
                ValueRef::Blob(b""),
                Form::Blob(vec![17; 16]),
            ),
            (kept_bytes, ValueRef::Blob(b"a"), text("b"), Form::text("a")),
            (kept_document, text("{}"), ValueRef::Blob(b"[]"), Form::Blob(b"{}".to_vec())),
        ] {
            assert_eq!(kept(new, old), expected, "{new:?} {old:?}");
        }
    }
}
