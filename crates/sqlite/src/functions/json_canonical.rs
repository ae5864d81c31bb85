//! One spelling for each JSON value, so that equal documents are equal texts: PostgreSQL's `=` on `jsonb`.
//!
//! Members are sorted by key, blanks are gone, strings are escaped one way, and numbers are written as digits and a
//! power of ten, so `1.50`, `15e-1` and `1.5` are one. Digits never pass through a float.
//!
//! **Cost:** `n log n` in the document, for the keys; depth by [`DEPTH_MAX`].

use crate::functions::json_writer::JsonText;
use std::collections::BTreeMap;
use weir_language::json::{Json, JsonKind, JsonRef};

const DEPTH_MAX: u32 = 100;

/// The canonical text of a document; `None` if it is no JSON.
pub(crate) fn canonical(text: &str) -> Option<String> {
    let json = Json::parse(text.as_bytes(), DEPTH_MAX).ok()?;
    Some(to_canonical_text(json.root()))
}

/// Writes `value` as canonical JSON text.
pub(crate) fn to_canonical_text(value: JsonRef<'_>) -> String {
    let mut out = JsonText::default();
    write(&mut out, value);
    let mut text = out.finish();
    text.pop();
    text
}

/// Appends a value and a comma.
fn write(out: &mut JsonText, value: JsonRef<'_>) {
    match value.kind() {
        JsonKind::Object => {
            out.open('{');
            let sorted: BTreeMap<_, _> = value.members().collect();
            for (key, inner) in sorted {
                out.key(&key);
                write(out, inner);
            }
            out.close('}');
        }
        JsonKind::Array => {
            out.open('[');
            value.items().for_each(|item| write(out, item));
            out.close(']');
        }
        JsonKind::String { .. } => out.string(&value.as_str().unwrap_or_default()),
        JsonKind::Number => out.raw(&number(value.raw())),
        JsonKind::Null | JsonKind::True | JsonKind::False => out.raw(value.raw()),
    }
    out.comma();
}

/// A number as its digits without zeros at the ends, and the power of ten of the last one.
fn number(written: &str) -> String {
    let (sign, digits) = written.strip_prefix('-').map_or(("", written), |rest| ("-", rest));
    let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let joined = format!("{whole}{fraction}");
    let significant = joined.trim_start_matches('0');
    let shortest = significant.trim_end_matches('0');
    if shortest.is_empty() {
        return "0".into();
    }
    // An exponent beyond 64 bits stands for itself: no such number has a second spelling anyone writes.
    let Ok(exponent) = exponent.trim_start_matches('+').parse::<i64>() else { return written.into() };
    let power = exponent.saturating_sub(fraction.len() as i64);
    let power = power.saturating_add((significant.len() - shortest.len()) as i64);
    format!("{sign}{shortest}e{power}")
}

#[cfg(test)]
mod tests {
    use super::canonical;

    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(canonical(text).as_deref(), expected, "{text}");
    }

    #[test]
    fn equal_documents_have_one_spelling() {
        check(
            r#"{ "b": [1, {"z": null, "y": true}], "a": "x" }"#,
            Some(r#"{"a":"x","b":[1e0,{"y":true,"z":null}]}"#),
        );
        check("[ ]", Some("[]"));
        check("{}", Some("{}"));
        check(r#""\u00e9\/""#, Some("\"é/\""));
        check("[[],{}]", Some("[[],{}]"));
        check("{", None);
    }

    #[test]
    fn equal_numbers_have_one_spelling_and_near_ones_two() {
        for same in ["1.5", "1.50", "15e-1", "0.15E+1"] {
            check(same, Some("15e-1"));
        }
        for zero in ["0", "-0", "0.00", "0e9"] {
            check(zero, Some("0"));
        }
        check("-100", Some("-1e2"));
        check("12345678901234567890", Some("1234567890123456789e1"));
        check("12345678901234567891", Some("12345678901234567891e0"));
    }
}
