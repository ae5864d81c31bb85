//! Decodes string literals, `"…"` with its escapes and `"""…"""` with its indentation, and writes texts as such: the one home of the
//! escapes of JSON and GraphQL.
//!
//! **Invariant:** what the lexer accepted decodes; bytes that no escape touches come out unaltered.
//!
//! **Cost:** linear, also for block strings of many lines; a literal that is its own value is borrowed.
//! Source: GraphQL specification, section 2.9.4; graphql-js, `printString` and `printBlockString`.

use std::borrow::Cow;
use std::fmt::Write;

/// The value of the literal `raw`, quotes included, as the lexer accepted it.
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

/// By byte: its escape in JSON and the escape's length. Source: RFC 8259, section 7.
pub static JSON_ESCAPES: [([u8; 6], u8); 128] = {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut escapes = [([0; 6], 2); 128];
    let mut at = 0;
    while at < 128 {
        let letter = match at as u8 {
            b'"' => b'"',
            b'\\' => b'\\',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            8 => b'b',
            12 => b'f',
            _ => 0,
        };
        escapes[at] = if letter == 0 {
            ([b'\\', b'u', b'0', b'0', HEX[at >> 4], HEX[at & 15]], 6)
        } else {
            ([b'\\', letter, 0, 0, 0, 0], 2)
        };
        at += 1;
    }
    escapes
};

/// The first `"`, `\` or control character of `bytes`.
pub(crate) fn first_escaped(bytes: &[u8]) -> Option<usize> {
    let plain = plain_prefix(bytes);
    let rest = bytes[plain..].iter().position(|&byte| byte == b'"' || byte == b'\\' || byte < b' ');
    rest.map(|at| plain + at)
}

/// Length of the prefix of `bytes` that contains no `"`, `\` or control character. A rest shorter than a word is not counted.
///
/// Most strings end within two words; longer ones are searched four words at a time, which compilers make wide
/// instructions of.
#[inline]
pub(crate) fn plain_prefix(bytes: &[u8]) -> usize {
    let mut count = 0;
    while let Some(word) = bytes.get(count..).and_then(<[u8]>::first_chunk::<8>) {
        let stops = stops(u64::from_le_bytes(*word));
        if stops != 0 {
            return count + stops.trailing_zeros() as usize / 8;
        }
        count += 8;
        if count == 16 {
            count += 32 * plain_blocks(&bytes[count..]);
        }
    }
    count
}

/// The high bit of each byte of `word` that ends or breaks a string; of bytes above such a one it may be wrong.
#[inline]
const fn stops(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 0xFF;
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    let zeros = (quote.wrapping_sub(ONES) & !quote) | (backslash.wrapping_sub(ONES) & !backslash);
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (zeros | control) & (ONES * 0x80)
}

/// Number of leading blocks of 32 bytes of `bytes` without `"`, `\` and control characters.
fn plain_blocks(bytes: &[u8]) -> usize {
    let is_plain = |block: &&[u8; 32]| {
        !block.iter().fold(false, |stops, &byte| stops | (byte == b'"') | (byte == b'\\') | (byte < 0x20))
    };
    bytes.as_chunks::<32>().0.iter().take_while(is_plain).count()
}

/// Appends `text` as a JSON string, escaped in the shortest form, which GraphQL reads too.
pub fn write_json(text: &str, out: &mut String) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut rest = text;
    while let Some(at) = first_escaped(rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let (escape, len) = &JSON_ESCAPES[usize::from(rest.as_bytes()[at])];
        out.extend(escape[..usize::from(*len)].iter().map(|&it| char::from(it)));
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

/// Appends `text` as a JSON string to bytes, see [`write_json`].
pub fn push_json(text: &str, out: &mut Vec<u8>) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = first_escaped(rest) {
        out.extend_from_slice(&rest[..at]);
        let (escape, len) = &JSON_ESCAPES[usize::from(rest[at])];
        out.extend_from_slice(&escape[..usize::from(*len)]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// Appends `text` as a GraphQL literal in the form of graphql-js's `printString`: that of [`write_json`], with the characters from
/// U+007F to U+009F escaped and digits in upper case.
pub fn write_graphql(text: &str, out: &mut String) {
    out.reserve(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' | '\u{8}' | '\u{C}' | '\n' | '\r' | '\t' => {
                out.extend(['\\', char::from(JSON_ESCAPES[letter as usize].0[1])]);
            }
            // Writing to a string cannot fail.
            '\0'..' ' | '\u{7F}'..='\u{9F}' => drop(write!(out, "\\u{:04X}", letter as u32)),
            _ => out.push(letter),
        }
    }
    out.push('"');
}

/// Appends `text` as a `"""…"""` literal, its lines ended by `\n` and not indented.
pub fn write_block(text: &str, out: &mut String) {
    let is_blank = |line: &str| matches!(line.bytes().next(), None | Some(b' ' | b'\t'));
    let single = !text.contains(['\n', '\r']);
    // Else the first line would lend its lack of indentation to no one, and the others would lose theirs.
    let leading = !single && text.split(['\n', '\r']).skip(1).all(is_blank);
    let triple_at_end = text.ends_with(r#"""""#);
    let trailing = text.ends_with('\\') || text.ends_with('"') && !triple_at_end;
    let tall = !single || trailing || leading || triple_at_end || text.encode_utf16().nth(70).is_some();
    out.push_str(r#"""""#);
    if tall && !(single && text.starts_with([' ', '\t'])) || leading {
        out.push('\n');
    }
    let mut rest = text;
    while let Some(at) = rest.find(r#"""""#) {
        out.push_str(&rest[..at]);
        out.push_str(r#"\""""#);
        rest = &rest[at + 3..];
    }
    out.push_str(rest);
    if tall {
        out.push('\n');
    }
    out.push_str(r#"""""#);
}

/// True if the block string of `text` decodes to `text` again.
pub fn is_block_printable(text: &str) -> bool {
    if text.is_empty() {
        return true;
    }
    let control = |byte: u8| byte < b' ' && !matches!(byte, b'\t' | b'\n');
    if text.bytes().any(control) {
        return false;
    }
    let is_empty = |line: &str| line.bytes().all(|byte| matches!(byte, b' ' | b'\t'));
    let mut lines = text.split('\n');
    let first_is_empty = lines.next().is_none_or(is_empty);
    let last_is_empty = lines.next_back().map_or(first_is_empty, is_empty);
    let indented = |line: &str| is_empty(line) || line.starts_with([' ', '\t']);
    !(first_is_empty || last_is_empty || text.contains('\n') && text.split('\n').all(indented))
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
    fn what_is_written_is_read_back() {
        let text: String = (0..0xA1).filter_map(char::from_u32).chain("é\u{2028}😀".chars()).collect();
        let mut json = String::new();
        write_json(&text, &mut json);
        let mut bytes = Vec::new();
        push_json(&text, &mut bytes);
        assert_eq!(json.as_bytes(), bytes);
        let mut graphql = String::new();
        write_graphql(&text, &mut graphql);
        for written in [&json, &graphql] {
            assert_eq!(decode(written), text, "{written}");
        }
        assert!(json.contains("\\u001f") && json.contains('\u{7f}') && json.contains("\\b\\t\\n"));
        assert!(graphql.contains("\\u001F") && graphql.contains("\\u007F\\u0080"));
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

    fn check_written(text: &str, quoted: &str, block: &str, printable: bool) {
        let mut short = String::new();
        let mut tall = String::new();
        write_graphql(text, &mut short);
        write_block(text, &mut tall);
        assert_eq!((short.as_str(), tall.as_str()), (quoted, block));
        assert_eq!(is_block_printable(text), printable, "{text:?}");
        assert_eq!(decode(&short), text);
        assert_eq!(decode(&tall) == text, printable, "{text:?}");
    }

    #[test]
    fn strings_are_printed_as_graphql_js_prints_them() {
        check_written("", r#""""#, r#""""""""#, true);
        check_written("a\"b\\", r#""a\"b\\""#, "\"\"\"\na\"b\\\n\"\"\"", true);
        check_written("a\nb", r#""a\nb""#, "\"\"\"\na\nb\n\"\"\"", true);
        check_written(" a", r#"" a""#, "\"\"\" a\"\"\"", true);
        check_written("a\n b", r#""a\n b""#, "\"\"\"\na\n b\n\"\"\"", true);
        check_written("\n", r#""\n""#, "\"\"\"\n\n\n\"\"\"", false);
        check_written("a\n", r#""a\n""#, "\"\"\"\na\n\n\"\"\"", false);
        check_written("say \"\"\"", r#""say \"\"\"""#, "\"\"\"\nsay \\\"\"\"\n\"\"\"", true);
    }
}
