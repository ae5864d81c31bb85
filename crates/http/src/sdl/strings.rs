//! Maps byte offsets of a decoded string to its source text.
//!
//! **Cost:** linear in the string; used for errors only.
//! Source: GraphQL specification, section 2.9.4.

use weir_language::string_value::decode;

/// Offset in `raw` (a literal with quotes) of byte `offset` of its value. The end of the value maps to the closing quote.
pub(super) fn place(raw: &str, offset: usize) -> usize {
    match raw.strip_prefix(r#"""""#).and_then(|rest| rest.strip_suffix(r#"""""#)) {
        Some(inner) => 3 + in_block(inner, offset),
        None => 1 + in_line(&raw[1..raw.len().saturating_sub(1).max(1)], offset),
    }
}

fn in_line(inner: &str, offset: usize) -> usize {
    let mut at = 0;
    let mut decoded = 0;
    while at < inner.len() && decoded < offset {
        let size = piece(&inner[at..]);
        decoded += decode(&format!("\"{}\"", &inner[at..at + size])).len();
        at += size;
    }
    at
}

/// Length of the first character or escape; a surrogate pair counts as one.
fn piece(text: &str) -> usize {
    let unit = |text: &str| match text.as_bytes() {
        [b'\\', b'u', b'{', ..] => text.find('}').map_or(text.len(), |at| at + 1),
        [b'\\', b'u', ..] => 6.min(text.len()),
        [b'\\', _, ..] => 2,
        _ => text.chars().next().map_or(1, char::len_utf8),
    };
    let size = unit(text);
    let high =
        size == 6 && u16::from_str_radix(&text[2..6], 16).is_ok_and(|it| (0xD800..0xDC00).contains(&it));
    if high { 12.min(text.len()) } else { size }
}

fn in_block(inner: &str, offset: usize) -> usize {
    let lines = lines(inner);
    let indent = |line: &str| line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let blank = |line: &str| indent(line) == line.len();
    let common = lines.iter().skip(1).filter(|it| !blank(it.1)).map(|it| indent(it.1)).min().unwrap_or(0);
    let Some(first) = lines.iter().position(|it| !blank(it.1)) else { return 0 };
    let mut decoded = 0;
    for (number, &(start, line)) in lines.iter().enumerate().skip(first) {
        let skipped = if number == 0 { 0 } else { common.min(line.len()) };
        let mut at = skipped;
        while at < line.len() && decoded < offset {
            // `\"""` is the only escape in a block string.
            let quotes = line[at..].starts_with("\\\"\"\"");
            let (size, gives) = if quotes {
                (4, 3)
            } else {
                line[at..].chars().next().map_or((1, 1), |it| (it.len_utf8(), it.len_utf8()))
            };
            at += size;
            decoded += gives;
        }
        if decoded >= offset {
            return start + at;
        }
        // Count the line end.
        decoded += 1;
    }
    inner.len()
}

/// Lines with their byte offsets.
fn lines(text: &str) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    let mut start = 0;
    while let Some(at) = text[start..].find(['\n', '\r']) {
        let end = start + at;
        lines.push((start, &text[start..end]));
        start = end + if text[end..].starts_with("\r\n") { 2 } else { 1 };
    }
    lines.push((start, &text[start..]));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every character of the value is found where it was written.
    #[track_caller]
    fn check(raw: &str) {
        let value = decode(raw);
        for (offset, letter) in value.char_indices() {
            let rest = &raw[place(raw, offset)..];
            let found = match rest.as_bytes() {
                [b'\\', b'"', b'"', b'"', ..] if raw.starts_with("\"\"\"") => '"',
                [b'\\', ..] if !raw.starts_with("\"\"\"") => {
                    decode(&format!("\"{}\"", &rest[..piece(rest)])).chars().next().unwrap()
                }
                [b'\r', ..] => '\n',
                _ => rest.chars().next().unwrap(),
            };
            // The two quotes behind an escaped one have no place of their own.
            if !(letter == '"' && raw.starts_with("\"\"\"")) {
                assert_eq!(found, letter, "{raw:?} at {offset}");
            }
        }
    }

    #[test]
    fn characters_are_found_through_escapes_and_indentation() {
        check(r#""id name""#);
        check(r#""a\n\tb \u00e9\u{1F600}\uD83D\uDE00 \"x\" é""#);
        check("\"\"\"\n    id\n      name: $.x\n\n    é last\n  \"\"\"");
        check("\"\"\"first\r\n   second\r   third\"\"\"");
        check("\"\"\"  a \\\"\"\" b\"\"\"");
        assert_eq!(place("\"ab\"", 2), 3);
        assert_eq!(place("\"\"\"\n  ab\n  \"\"\"", 2), 8);
    }
}
