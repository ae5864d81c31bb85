//! A value of a database on its way out, whichever database it is from.
//!
//! Each driver reads what its database gives into a [`Value`]; what writes answers knows only these.
//!
//! **Invariant:** a text is UTF-8 and JSON is valid: who makes the value has checked it, or its database promises it.

use std::borrow::Cow;

/// A value ready to be written.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'v> {
    /// No value.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// Up to 64 bits.
    Int(i64),
    /// Finite.
    Float(f64),
    /// UTF-8.
    Text(Cow<'v, [u8]>),
    /// Valid JSON.
    Json(&'v [u8]),
}

/// Why a stored value cannot be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Stable code, of `docs/errors.md`.
    pub code: &'static str,
    /// Words for the client.
    pub message: Cow<'static, str>,
}

/// Appends `bytes` as PostgreSQL writes a `bytea`.
pub(crate) fn hex(out: &mut Vec<u8>, bytes: &[u8]) {
    let digits = b"0123456789abcdef";
    out.reserve(2 + 2 * bytes.len());
    out.extend_from_slice(b"\\x");
    for byte in bytes {
        out.extend([digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]);
    }
}

/// Whether `text` is a JSON number. Source: RFC 8259, section 6.
pub(crate) fn is_number(text: &[u8]) -> bool {
    let digits = |from: usize| text[from..].iter().take_while(|it| it.is_ascii_digit()).count();
    let mut at = usize::from(text.first() == Some(&b'-'));
    let whole = digits(at);
    if whole == 0 || (whole > 1 && text[at] == b'0') {
        return false;
    }
    at += whole;
    if text.get(at) == Some(&b'.') {
        let part = digits(at + 1);
        if part == 0 {
            return false;
        }
        at += 1 + part;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        at += 1 + usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let part = digits(at);
        if part == 0 {
            return false;
        }
        at += part;
    }
    at == text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_what_json_says() {
        for (text, expected) in [
            ("0", true),
            ("-1.5e+3", true),
            ("01", false),
            ("1.", false),
            ("", false),
            ("-", false),
            ("1e", false),
        ] {
            assert_eq!(is_number(text.as_bytes()), expected, "{text}");
        }
    }
}
