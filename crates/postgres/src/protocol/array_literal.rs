//! Texts in literals of arrays and rows. Source: PostgreSQL's manual, 8.15.6.
//!
//! **Cost:** a text without quotes and backslashes is copied at once.

use crate::protocol::statement::Buffer;

/// Appends `text` between quotes, as an element of an array or a field of a row: none is taken for `NULL`, a brace or a number.
pub fn quote(text: &[u8], out: &mut Buffer) {
    out.push(b'"');
    let mut rest = text;
    while let Some(at) = rest.iter().position(|it| matches!(it, b'"' | b'\\')) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(&[b'\\', rest[at]]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_backslashes_are_escaped() {
        for (text, expected) in [("", r#""""#), ("NULL", r#""NULL""#), (r#"a"b\c,{}"#, r#""a\"b\\c,{}""#)] {
            let mut out = Buffer::new();
            quote(text.as_bytes(), &mut out);
            assert_eq!(&*out, expected.as_bytes());
        }
    }
}
