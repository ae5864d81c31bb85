//! Casts texts of session variables and policies to values of SQLite: it accepts the same texts as PostgreSQL's casts.

use std::borrow::Cow;
use weir_language::json::Json;
use weir_relational::catalog::ColumnType;
use weir_relational::catalog::facts::Cell;

/// Maximum nesting of JSON in a text.
const JSON_DEPTH_MAX: u32 = 512;

/// A reason for which a text is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The text does not have the syntax of the type.
    Syntax,
    /// The type is too small for it.
    Range,
}

/// An integer of at most `bits` bits, with the syntax of `'17'::integer`.
pub(crate) fn integer(text: &str, bits: Option<u8>) -> Result<i64, Refusal> {
    let digits = text.trim();
    let digits = digits.strip_prefix('+').filter(|it| !it.starts_with('-')).unwrap_or(digits);
    let whole = digits.strip_prefix('-').unwrap_or(digits);
    if whole.is_empty() || !whole.bytes().all(|it| it.is_ascii_digit()) {
        return Err(Refusal::Syntax);
    }
    let number: i64 = digits.parse().map_err(|_| Refusal::Range)?;
    let least = i64::MIN >> (64 - u32::from(bits.unwrap_or(64)).clamp(1, 64));
    if (least..=!least).contains(&number) { Ok(number) } else { Err(Refusal::Range) }
}

/// A decimal number as JSON writes it: `+.5` is `0.5`. `None`: it is none.
pub(crate) fn decimal(text: &str) -> Option<Cow<'_, str>> {
    let text = text.trim();
    if crate::exec::cell_value::is_number(text.as_bytes()) {
        return Some(text.into());
    }
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, power) = rest.split_at(rest.find(['e', 'E']).unwrap_or(rest.len()));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && part.is_empty() {
        return None;
    }
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let point = if part.is_empty() { "" } else { "." };
    let number = format!("{sign}{whole}{point}{part}{power}");
    crate::exec::cell_value::is_number(number.as_bytes()).then(|| number.into())
}

/// A boolean, by any unambiguous beginning of its word.
pub(crate) fn boolean(text: &str) -> Option<bool> {
    let word = text.trim().to_ascii_lowercase();
    let begins = |whole: &str, least: usize| word.len() >= least && whole.starts_with(&word);
    if begins("true", 1) || begins("yes", 1) || word == "on" || word == "1" {
        Some(true)
    } else if begins("false", 1) || begins("no", 1) || begins("off", 2) || word == "0" {
        Some(false)
    } else {
        None
    }
}

/// True if a column of type `ty` holds documents and `text` is none.
pub(crate) fn is_no_document(text: &str, ty: &ColumnType) -> bool {
    ty.facts().cell == Cell::Json && Json::parse(text.as_bytes(), JSON_DEPTH_MAX).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_those_of_postgresql() {
        for (text, bits, expected) in [
            ("17", Some(32), Ok(17)),
            (" +17 ", Some(32), Ok(17)),
            ("-0017", None, Ok(-17)),
            ("2147483648", Some(32), Err(Refusal::Range)),
            ("-32768", Some(16), Ok(-32768)),
            ("32768", Some(16), Err(Refusal::Range)),
            ("9223372036854775808", Some(64), Err(Refusal::Range)),
            ("", Some(32), Err(Refusal::Syntax)),
            ("+-1", Some(32), Err(Refusal::Syntax)),
            ("1.0", Some(32), Err(Refusal::Syntax)),
            ("x", Some(32), Err(Refusal::Syntax)),
        ] {
            assert_eq!(integer(text, bits), expected, "{text}");
        }
    }

    #[test]
    fn decimals_and_truths_are_those_of_postgresql() {
        for (text, expected) in [
            ("1.50", Some("1.50")),
            (" +.5", Some("0.5")),
            ("-7.", Some("-7")),
            ("007e2", Some("7e2")),
            ("", None),
            (".", None),
            ("NaN", None),
            ("1e", None),
        ] {
            assert_eq!(decimal(text).as_deref(), expected, "{text}");
        }
        for (text, expected) in [
            ("t", Some(true)),
            (" TRUE ", Some(true)),
            ("ye", Some(true)),
            ("on", Some(true)),
            ("o", None),
            ("of", Some(false)),
            ("n", Some(false)),
            ("0", Some(false)),
            ("2", None),
            ("", None),
        ] {
            assert_eq!(boolean(text), expected, "{text}");
        }
    }
}
