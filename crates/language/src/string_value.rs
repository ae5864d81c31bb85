//! Decodes string literals: `"…"` with its escapes, `"""…"""` with its indentation; and quotes texts.
//!
//! **Invariant:** what the lexer accepted decodes; bytes that no escape touches come out unaltered.
//!
//! **Cost:** linear, also for block strings of many lines; a literal that is its own value is borrowed.
//! Source: GraphQL specification, section 2.9.4.

use std::borrow::Cow;

/// The value of the literal `raw`, quotes included, as the lexer accepted it.
#[must_use]
pub fn decode(raw: &str) -> Cow<'_, str> {
    match raw.strip_prefix(r#"""""#).and_then(|rest| rest.strip_suffix(r#"""""#)) {
        Some(inner) => block(inner),
        None => unescape(raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default()),
    }
}

/// The value of a text between quotes, with its escapes resolved; JSON's are among them.
pub(crate) fn unescape(inner: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Cow::Borrowed(inner);
    }
    let mut out = String::with_capacity(inner.len());
    unescape_to(inner, &mut out);
    Cow::Owned(out)
}

/// Appends what stands between quotes to `out`, with its escapes resolved.
pub(crate) fn unescape_to(inner: &str, out: &mut String) {
    let mut rest = inner;
    let mut next = memchr::memchr(b'\\', rest.as_bytes());
    while let Some(at) = next {
        out.push_str(&rest[..at]);
        // A literal that the lexer did not accept keeps its backslash.
        let (letter, size) = escape(rest.as_bytes(), at).unwrap_or(('\\', 1));
        out.push(letter);
        rest = &rest[at + size..];
        next = memchr::memchr(b'\\', rest.as_bytes());
    }
    out.push_str(rest);
}

/// The character that the escape at `at` (a `\`) stands for, and the bytes it takes; `None` if it is none.
pub(crate) fn escape(bytes: &[u8], at: usize) -> Option<(char, usize)> {
    let simple = |letter| Some((letter, 2));
    match bytes.get(at + 1)? {
        b'"' => simple('"'),
        b'\\' => simple('\\'),
        b'/' => simple('/'),
        b'b' => simple('\u{8}'),
        b'f' => simple('\u{C}'),
        b'n' => simple('\n'),
        b'r' => simple('\r'),
        b't' => simple('\t'),
        b'u' if bytes.get(at + 2) == Some(&b'{') => braced_escape(bytes, at),
        b'u' => {
            let unit = four_digits(bytes, at + 2)?;
            if let Some(letter) = char::from_u32(unit) {
                return Some((letter, 6));
            }
            if !(0xD800..0xDC00).contains(&unit) || bytes.get(at + 6..at + 8)? != br"\u" {
                return None;
            }
            let low = four_digits(bytes, at + 8)?;
            if !(0xDC00..0xE000).contains(&low) {
                return None;
            }
            Some((char::from_u32(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))?, 12))
        }
        _ => None,
    }
}

/// `\u{…}`: at most eight digits.
fn braced_escape(bytes: &[u8], at: usize) -> Option<(char, usize)> {
    let mut point = 0_u32;
    for size in 3..12 {
        match bytes.get(at + size)? {
            b'}' if size > 3 => return Some((char::from_u32(point)?, size + 1)),
            &byte => point = point << 4 | (byte as char).to_digit(16)?,
        }
    }
    None
}

fn four_digits(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?;
    digits.iter().try_fold(0, |unit, &byte| Some(unit << 4 | (byte as char).to_digit(16)?))
}

/// The value of a block string: common indentation and blank lines at both ends are taken away.
///
/// Source: GraphQL specification, BlockStringValue.
fn block(inner: &str) -> Cow<'_, str> {
    let mut indent_min = usize::MAX;
    let mut first = usize::MAX;
    let mut last = 0;
    let mut plain = true;
    for (number, line) in Lines::new(inner).enumerate() {
        let indent = indent(line);
        if indent == line.len() {
            continue;
        }
        first = first.min(number);
        last = number;
        if number > 0 {
            indent_min = indent_min.min(indent);
            plain = false;
        }
    }
    if first == usize::MAX {
        return Cow::Borrowed("");
    }
    if plain && memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        // The block has only the first line.
        return Cow::Borrowed(Lines::new(inner).next().unwrap_or_default());
    }
    let mut out = String::with_capacity(inner.len());
    for (number, line) in Lines::new(inner).enumerate().take(last + 1).skip(first) {
        if number > first {
            out.push('\n');
        }
        let line = if number == 0 { line } else { line.get(indent_min..).unwrap_or_default() };
        push_unescaped(&mut out, line);
    }
    Cow::Owned(out)
}

fn push_unescaped(out: &mut String, mut line: &str) {
    while let Some(at) = line.find(r#"\""""#) {
        out.push_str(&line[..at]);
        out.push_str(r#"""""#);
        line = &line[at + 4..];
    }
    out.push_str(line);
}

/// Bytes of space and tab that `line` begins with.
fn indent(line: &str) -> usize {
    line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Lines that end at `\n`, `\r\n` or `\r`; a text that ends with one of them has an empty last line.
struct Lines<'t> {
    rest: Option<&'t str>,
}

impl<'t> Lines<'t> {
    const fn new(text: &'t str) -> Self {
        Self { rest: Some(text) }
    }
}

impl<'t> Iterator for Lines<'t> {
    type Item = &'t str;
    fn next(&mut self) -> Option<&'t str> {
        let rest = self.rest.take()?;
        let Some(at) = memchr::memchr2(b'\n', b'\r', rest.as_bytes()) else {
            return Some(rest);
        };
        let end = if rest[at..].starts_with("\r\n") { 2 } else { 1 };
        self.rest = Some(&rest[at + end..]);
        Some(&rest[..at])
    }
}

/// Appends `text` in quotes, escaped so that both JSON and GraphQL read it back.
pub fn write_quoted(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            control @ ('\0'..='\u{1f}' | '\u{7f}') => {
                const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
                let byte = control as usize;
                out.push_str("\\u00");
                out.push(DIGITS[byte >> 4] as char);
                out.push(DIGITS[byte & 15] as char);
            }
            plain => out.push(plain),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: &str, expected: &str) {
        assert_eq!(decode(raw), expected, "{raw:?}");
    }

    #[test]
    fn escapes_become_their_characters() {
        check(r#""""#, "");
        check(r#""plain é ✓""#, "plain é ✓");
        check(r#""a\"b\\c\/d""#, "a\"b\\c/d");
        check(r#""\b\f\n\r\t""#, "\u{8}\u{C}\n\r\t");
        check(r#""\u00e9\u{1F600}\uD83D\uDE00.""#, "é😀😀.");
        check(r#""\u{0}\u{00000041}""#, "\0A");
    }

    #[test]
    fn half_pairs_and_points_beyond_unicode_are_no_escapes() {
        for text in
            [r"\uD800", r"\uDC00", r"\uD800\u0041", r"\u{110000}", r"\u{D800}", r"\u{}", r"\u12g4", r"\x"]
        {
            assert_eq!(escape(text.as_bytes(), 0), None, "{text}");
        }
    }

    #[test]
    fn block_strings_lose_common_indentation_and_blank_ends() {
        check("\"\"\"\"\"\"", "");
        check("\"\"\" one \"\"\"", " one ");
        check(
            "\"\"\"\n    Hello,\n      World!\n\n    Yours,\n      GraphQL.\n  \"\"\"",
            "Hello,\n  World!\n\nYours,\n  GraphQL.",
        );
        check("\"\"\"a\r\n  b\r  c\n\"\"\"", "a\nb\nc");
        check("\"\"\"\n  \n\t\n\"\"\"", "");
        check("\"\"\"\n\ta\n    b\n\"\"\"", "a\n   b");
        check("\"\"\"x\n\n\"\"\"", "x");
        check("\"\"\"raw \\n \\u00e9 \\\"\"\" end\"\"\"", "raw \\n \\u00e9 \"\"\" end");
    }

    #[test]
    fn a_hundred_thousand_lines_of_differing_indents_decode() {
        let lines: Vec<String> = (0..100_000).map(|n| format!("{}x", " ".repeat(1 + n % 7))).collect();
        let raw = format!("\"\"\"{}\"\"\"", lines.join("\n"));
        let value = decode(&raw);
        assert_eq!(value.lines().count(), 100_000);
        assert!(value.starts_with(" x\n x\n  x\n"));
    }
}
