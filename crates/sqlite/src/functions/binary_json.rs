//! SQLite's binary JSON as text, for documents that programs keep so.
//!
//! Source: sqlite.org/jsonb.html. Numbers and texts of JSON5 become those of JSON.
//!
//! **Invariant:** what is given is valid JSON. Containers are open on a stack of our own, as deep as the bytes are nested.
//!
//! **Cost:** linear in the bytes; one more look at the text, which says if it is JSON.

use std::borrow::Cow;
use weir_language::json::{Json, quote};

/// Maximum nesting of a document.
const DEPTH_MAX: u32 = 512;

/// The document in `bytes` as JSON: text that is kept as bytes, or SQLite's binary form; `None`: it is neither.
pub fn document(bytes: &[u8]) -> Option<Cow<'_, str>> {
    match std::str::from_utf8(bytes) {
        Ok(text) if is_json(text) => Some(text.into()),
        Ok(_) | Err(_) => text(bytes).map(Cow::Owned),
    }
}

/// True for text that is JSON.
pub(crate) fn is_json(text: &str) -> bool {
    // The reader allows a mark of byte order; inside an answer it would be no JSON.
    text.as_bytes().first().is_some_and(|&first| first < 0x80)
        && Json::parse(text.as_bytes(), DEPTH_MAX).is_ok()
}

/// An array or object that is being written.
struct OpenContainer {
    end: usize,
    is_object: bool,
    /// Elements that were written, keys among them.
    count: usize,
}

/// The text of a document in SQLite's binary form; `None`: it is none.
fn text(bytes: &[u8]) -> Option<String> {
    let mut out = String::new();
    let mut at = 0;
    let mut open: Vec<OpenContainer> = Vec::new();
    while at < bytes.len() {
        let element = Element::read(bytes, at)?;
        let mut is_key = false;
        if let Some(container) = open.last_mut() {
            is_key = container.is_object && container.count.is_multiple_of(2);
            match (container.count, is_key || !container.is_object) {
                (0, _) => {}
                (_, true) => out.push(','),
                (_, false) => out.push(':'),
            }
            container.count += 1;
            if element.end > container.end {
                return None;
            }
        } else if at > 0 {
            return None;
        }
        at = match element.kind {
            11 | 12 if !is_key && open.len() < DEPTH_MAX as usize => {
                let is_object = element.kind == 12;
                out.push(if is_object { '{' } else { '[' });
                open.push(OpenContainer { end: element.end, is_object, count: 0 });
                element.start
            }
            _ => {
                element.write(bytes, is_key, &mut out)?;
                element.end
            }
        };
        while let Some(container) = open.pop_if(|it| it.end == at) {
            if container.is_object && !container.count.is_multiple_of(2) {
                return None;
            }
            out.push(if container.is_object { '}' } else { ']' });
        }
    }
    is_json(&out).then_some(out)
}

/// An element: its kind, and where its content is.
struct Element {
    kind: u8,
    start: usize,
    end: usize,
}

impl Element {
    fn read(bytes: &[u8], at: usize) -> Option<Self> {
        let first = *bytes.get(at)?;
        let width = match first >> 4 {
            0..=11 => 0,
            12 => 1,
            13 => 2,
            14 => 4,
            _ => 8,
        };
        let start = at + 1 + width;
        let size = match width {
            0 => u64::from(first >> 4),
            _ => bytes.get(at + 1..start)?.iter().fold(0, |size, byte| size << 8 | u64::from(*byte)),
        };
        let end = start.checked_add(usize::try_from(size).ok()?)?;
        (end <= bytes.len()).then_some(Self { kind: first & 15, start, end })
    }

    /// Appends a value that holds no others; `None`: it is none.
    fn write(&self, bytes: &[u8], is_key: bool, out: &mut String) -> Option<()> {
        let content = std::str::from_utf8(&bytes[self.start..self.end]).ok()?;
        match self.kind {
            7 | 8 => out.extend(["\"", content, "\""]),
            9 => out.extend(["\"", &plain_escapes(content), "\""]),
            10 => quote(content, out),
            _ if is_key => return None,
            0 => out.push_str("null"),
            1 => out.push_str("true"),
            2 => out.push_str("false"),
            3 | 5 => out.push_str(content),
            4 => out.push_str(&plain_integer(content)?),
            6 => out.push_str(&plain_float(content)),
            _ => return None,
        }
        Some(())
    }
}

/// A hexadecimal integer in decimal digits.
fn plain_integer(text: &str) -> Option<String> {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    let digits = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"))?;
    Some(format!("{sign}{}", u64::from_str_radix(digits, 16).ok()?))
}

/// A number with digits on both sides of its point.
fn plain_float(text: &str) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    let (mantissa, power) = digits.split_at(digits.find(['e', 'E']).unwrap_or(digits.len()));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let or_zero = |it: &str| if it.is_empty() { "0".to_owned() } else { it.to_owned() };
    format!("{sign}{}.{}{power}", or_zero(whole), or_zero(part))
}

/// A text with the escapes of JSON in place of those that only JSON5 has.
fn plain_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('\'') => out.push('\''),
                Some('v') => out.push_str("\\u000b"),
                Some('0') => out.push_str("\\u0000"),
                Some('x') => out.push_str("\\u00"),
                // A line that goes on.
                Some('\n' | '\r' | '\u{2028}' | '\u{2029}') | None => {}
                Some(other) => out.extend(['\\', other]),
            },
            '"' => out.push_str("\\\""),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    /// SQLite's own binary form of `json` is read as SQLite reads it.
    fn check(json: &str) {
        let connection = Connection::open_in_memory().unwrap();
        let (bytes, expected): (Vec<u8>, String) = connection
            .query_row("SELECT jsonb(?1), json(?1)", [json], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        assert_eq!(text(&bytes).as_deref(), Some(expected.as_str()), "{json}");
    }

    #[test]
    fn documents_are_those_that_sqlite_wrote() {
        check("{\"a\": [1, 2.50, -3e10, null, true, false, \"x\\ny\", []], \"\": {}}");
        check("\"naïve \\u0041 \\\" / 🎵\"");
        check("[[[[{\"deep\": [{}]}]]]]");
        check(&format!("[\"{}\", {}]", "long ".repeat(20_000), "9".repeat(300)));
        check("{a: 0x1F, b: .5, c: 5., d: '\\x41\\'\"', e: +1.5}");
    }

    #[test]
    fn bytes_that_are_no_document_are_refused() {
        for bytes in
            [&b""[..], b"\xff\xff", b"\x1b", b"\x3b\x13", b"\x2c\x13\x31", b"\x00\x00", b"\x0d", b"\x1c\x00"]
        {
            assert_eq!(document(bytes), None, "{bytes:?}");
        }
        assert_eq!(document(b"{\"a\":10}").as_deref(), Some("{\"a\":10}"));
    }
}
