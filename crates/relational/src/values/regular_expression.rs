//! Regular expressions in one language, whatever the database: that of Rust's `regex`, near RE2.
//!
//! SQLite runs them by that crate. PostgreSQL's own language gives the same letters other meanings (`\b` is a backspace there), so
//! a pattern is parsed here and said anew in it; what cannot be said there is refused for both databases.
//!
//! **Invariant:** what is said to PostgreSQL holds no letter of the client's that has a meaning there.
//!
//! **Cost:** the pattern is parsed once and walked once. The parser bounds its depth, so the walk may recurse.

use crate::values::text_search;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};
use std::borrow::Cow;

/// The longest pattern that is taken.
const PATTERN_BYTES_MAX: usize = 1 << 15;

/// The longest pattern that PostgreSQL is sent: `\w` alone is some thousand bytes.
const SAID_BYTES_MAX: usize = 1 << 20;

/// PostgreSQL repeats a part no more often.
const REPEATS_MAX: u32 = 255;

/// The deepest nesting of groups.
const DEPTH_MAX: u32 = 100;

/// Fits nothing.
const NOTHING: &str = "(?!)";

const NO_RANGE: &str = r"a letter stands at both ends of a range: write `[a\d]` for either of two";
const LITERALLY: &str = r"write `\` before each letter that has a meaning";
const LEFT_OUT: &str = "leave it out";

const TOO_LONG: &str = "the pattern is too long";

/// `/pattern/flags` as an expression of Rust's.
///
/// # Errors
/// Errors of the pattern, or parts that not every database supports.
pub fn rust(text: &str) -> Result<String, String> {
    translate_pattern(text).map(|it| it.0)
}

/// `/pattern/flags` as an expression of PostgreSQL's.
///
/// # Errors
/// See [`rust`].
pub fn postgres(text: &str) -> Result<String, String> {
    translate_pattern(text).map(|it| it.1)
}

/// PostgreSQL's expression for texts that contain the words of `text` in sequence.
///
/// # Errors
/// The words are too many, or too long.
pub fn sequence(text: &str) -> Result<String, String> {
    short_sequence(text)?;
    let mut out = String::new();
    write_expression(&parse(&text_search::sequence(text))?, &mut out)?;
    Ok(out)
}

/// `text`, if its words can be asked for one after another.
///
/// # Errors
/// See [`sequence`].
pub fn short_sequence(text: &str) -> Result<&str, String> {
    if text.len() <= PATTERN_BYTES_MAX && text_search::is_short(text) {
        Ok(text)
    } else {
        Err(TOO_LONG.into())
    }
}

fn translate_pattern(text: &str) -> Result<(String, String), String> {
    let pattern = text_search::pattern(text).ok_or(text_search::NO_PATTERN)?;
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(TOO_LONG.into());
    }
    let mut out = String::new();
    write_expression(&parse(&pattern)?, &mut out)?;
    Ok((pattern, out))
}

fn parse(pattern: &str) -> Result<Hir, String> {
    let parsed = ParserBuilder::new().nest_limit(DEPTH_MAX).dot_matches_new_line(true).build().parse(pattern);
    parsed.map_err(|error| format!("invalid regular expression: {}", cause(&error)))
}

/// Message for an invalid pattern.
pub fn complaint(pattern: &str) -> String {
    parse(pattern).err().unwrap_or_else(|| "invalid regular expression".into())
}

/// The first line of a message.
pub fn one_line(message: &str) -> &str {
    message.lines().next().unwrap_or_default()
}

/// The parser's message for a part of a pattern, without its offset, which is not that in the whole.
pub fn cause_without_place(error: &regex_syntax::Error) -> String {
    cause(error).split(", at byte").next().unwrap_or_default().to_owned()
}

/// A message for the first part of `pattern` that only PostgreSQL supports, with a replacement; `None`: there is no such part.
pub fn find_unsupported(pattern: &str) -> Option<String> {
    let said = |what: &str, instead: &str| Some(format!("{what} is not supported: {instead}"));
    if pattern.starts_with("***=") {
        return said("`***=`", LITERALLY);
    }
    if pattern.starts_with("***:") {
        return said("`***:`", LEFT_OUT);
    }
    let flags = pattern.strip_prefix("(?").and_then(|it| it.split_once(')')).map_or("", |it| it.0);
    let is_flags = flags.bytes().all(|it| it.is_ascii_lowercase());
    if let Some(flag) = flags.chars().find(|it| is_flags && "bcenpqtw".contains(*it)) {
        let instead = match flag {
            'n' => "write `(?m-s)`",
            'p' => "write `(?-s)`",
            'w' => "write `(?m)`",
            'q' => LITERALLY,
            _ => LEFT_OUT,
        };
        return said(&format!("the flag `{flag}`"), instead);
    }
    has_comment(pattern).then(|| said("`(?#`, a comment,", LEFT_OUT)).flatten()
}

/// True if a pattern has a comment `(?#…)`, outside of classes and not after a backslash.
fn has_comment(pattern: &str) -> bool {
    let mut rest = pattern;
    let mut in_class = false;
    while let Some(at) = rest.find(['\\', '(', '[', ']']) {
        let tail = &rest[at..];
        match tail.as_bytes()[0] {
            b'\\' => {
                let skipped = tail[1..].chars().next().map_or(0, char::len_utf8);
                rest = &tail[1 + skipped..];
                continue;
            }
            b'(' if !in_class && tail.starts_with("(?#") => return true,
            b'[' => in_class = true,
            b']' => in_class = false,
            _ => {}
        }
        rest = &tail[1..];
    }
    false
}

/// `pattern` with PostgreSQL's names for the bounds of words and texts, `\y \Y \m \M \Z`, said as Rust's.
pub fn without_postgres_places(pattern: &str) -> Cow<'_, str> {
    if pattern.contains("[[:") {
        let plain = pattern.replace("[[:<:]]", r"\m").replace("[[:>:]]", r"\M");
        if plain != pattern {
            return without_postgres_places(&plain).into_owned().into();
        }
    }
    let mut out = String::new();
    let mut done = 0;
    let mut letters = pattern.char_indices();
    while let Some((at, letter)) = letters.next() {
        let Some((_, escaped)) = (letter == '\\').then(|| letters.next()).flatten() else { continue };
        let place = match escaped {
            'y' => r"\b",
            'Y' => r"\B",
            'm' => r"\<",
            'M' => r"\>",
            'Z' => r"\z",
            _ => continue,
        };
        out.push_str(&pattern[done..at]);
        out.push_str(place);
        done = at + 2;
    }
    match done {
        0 => pattern.into(),
        _ => (out + &pattern[done..]).into(),
    }
}

/// True if a pattern of PostgreSQL's has look-around or back references, and nothing else beyond a regular language.
pub fn needs_backtracking(pattern: &str) -> bool {
    let mut looks = false;
    let mut rest = pattern;
    while let Some(at) = rest.find(['\\', '(']) {
        let is_group = rest[at..].starts_with('(');
        rest = &rest[at + 1..];
        let next = rest.chars().next();
        if is_group {
            let Some(special) = rest.strip_prefix('?') else { continue };
            let is_look_around = ["=", "!", "<=", "<!"].iter().any(|it| special.starts_with(it));
            let flags = special.trim_start_matches(|it: char| "imsxuU-".contains(it));
            if !is_look_around && !flags.starts_with([':', ')']) {
                return false;
            }
            looks |= is_look_around;
        } else if let Some(letter) = next {
            if matches!(letter, 'g' | 'k' | 'K' | 'G') {
                return false;
            }
            looks |= matches!(letter, '1'..='9');
            rest = &rest[letter.len_utf8()..];
        }
    }
    looks
}

/// The parser's error, in one line.
fn cause(error: &regex_syntax::Error) -> String {
    use regex_syntax::ast::ErrorKind::{ClassRangeLiteral, UnsupportedBackreference, UnsupportedLookAround};
    match error {
        regex_syntax::Error::Parse(it) if *it.kind() == UnsupportedLookAround => {
            format!(
                "{}, at byte {}; join filters by `and` and `not` instead",
                it.kind(),
                it.span().start.offset
            )
        }
        regex_syntax::Error::Parse(it) if *it.kind() == UnsupportedBackreference => {
            format!("{}, at byte {}; write what is repeated out", it.kind(), it.span().start.offset)
        }
        regex_syntax::Error::Parse(it) if *it.kind() == ClassRangeLiteral => NO_RANGE.into(),
        regex_syntax::Error::Parse(it) => format!("{}, at byte {}", it.kind(), it.span().start.offset),
        regex_syntax::Error::Translate(it) => format!("{}, at byte {}", it.kind(), it.span().start.offset),
        other => other.to_string().lines().last().unwrap_or_default().into(),
    }
}

fn write_expression(hir: &Hir, out: &mut String) -> Result<(), String> {
    match hir.kind() {
        HirKind::Empty => out.push_str("(?:)"),
        HirKind::Literal(it) => {
            let text = std::str::from_utf8(&it.0).map_err(|_| "a pattern fits letters, not bytes")?;
            text.chars().for_each(|it| letter(it, out));
        }
        HirKind::Class(class) => self::class(class, out),
        HirKind::Look(look) => out.push_str(place(*look)?),
        HirKind::Repetition(it) => repetition(it, out)?,
        HirKind::Capture(it) => group(std::slice::from_ref(&*it.sub), "", out)?,
        HirKind::Concat(parts) => parts.iter().try_for_each(|it| write_expression(it, out))?,
        HirKind::Alternation(parts) => group(parts, "|", out)?,
    }
    if out.len() > SAID_BYTES_MAX { Err(TOO_LONG.into()) } else { Ok(()) }
}

fn group(parts: &[Hir], between: &str, out: &mut String) -> Result<(), String> {
    out.push_str("(?:");
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            out.push_str(between);
        }
        write_expression(part, out)?;
    }
    out.push(')');
    Ok(())
}

/// Greedy or not is all one where only whether a text fits is asked; PostgreSQL has one kind for a whole expression.
fn repetition(it: &Repetition, out: &mut String) -> Result<(), String> {
    if it.min.max(it.max.unwrap_or(0)) > REPEATS_MAX {
        return Err(format!("a part of a pattern repeats {REPEATS_MAX} times at most"));
    }
    group(std::slice::from_ref(&*it.sub), "", out)?;
    match (it.min, it.max) {
        (0, None) => out.push('*'),
        (1, None) => out.push('+'),
        (0, Some(1)) => out.push('?'),
        (min, None) => out.push_str(&format!("{{{min},}}")),
        (min, Some(max)) => out.push_str(&format!("{{{min},{max}}}")),
    }
    Ok(())
}

fn class(class: &Class, out: &mut String) {
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(it) => it.iter().map(|it| (it.start(), it.end())).collect(),
        // Only those of ASCII come here: the parser takes no others.
        Class::Bytes(it) => it.iter().map(|it| (it.start().into(), it.end().into())).collect(),
    };
    match ranges.as_slice() {
        [] => out.push_str(NOTHING),
        [('\0', char::MAX)] => out.push('.'),
        ranges => {
            out.push('[');
            for &(first, last) in ranges {
                letter_of_class(first, out);
                if first != last {
                    out.push('-');
                    letter_of_class(last, out);
                }
            }
            out.push(']');
        }
    }
}

fn letter_of_class(it: char, out: &mut String) {
    if it.is_ascii_alphanumeric() || it > '\u{ff}' {
        out.push(it);
    } else {
        out.push_str(&format!("\\u{:04x}", u32::from(it)));
    }
}

fn letter(it: char, out: &mut String) {
    if it.is_ascii_punctuation() {
        out.push('\\');
        out.push(it);
    } else {
        letter_of_class(it, out);
    }
}

fn place(look: Look) -> Result<&'static str, String> {
    Ok(match look {
        Look::Start => "\\A",
        Look::End => "\\Z",
        Look::StartLF => "(?:\\A|(?<=\\u000a))",
        Look::EndLF => "(?:\\Z|(?=\\u000a))",
        Look::WordUnicode => "\\y",
        Look::WordUnicodeNegate => "\\Y",
        Look::WordStartUnicode => "\\m",
        Look::WordEndUnicode => "\\M",
        Look::StartCRLF | Look::EndCRLF => return Err("a pattern has no flag `R`".into()),
        Look::WordAscii | Look::WordAsciiNegate | Look::WordStartAscii | Look::WordEndAscii => {
            return Err("a pattern has no bounds of words of ASCII: write `\\b` without the flag `-u`".into());
        }
        Look::WordStartHalfAscii
        | Look::WordEndHalfAscii
        | Look::WordStartHalfUnicode
        | Look::WordEndHalfUnicode => {
            return Err("a pattern has no `\\b{start-half}` or `\\b{end-half}`".into());
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        assert_eq!(postgres(text).as_deref().map_err(String::as_str), expected, "{text}");
    }

    #[test]
    fn a_pattern_is_said_anew() {
        check("/dogs/", Ok("dogs"));
        check(r"/\bdogs\b/", Ok(r"\ydogs\y"));
        check(r"/^a.b$/", Ok(r"\Aa.b\Z"));
        check(r"/\x{64}\.\z/", Ok(r"d\.\Z"));
        check("/a b/i", Ok(r"[Aa]\u0020[Bb]"));
        check("/(?P<n>ab)+?c{2,3}/", Ok("(?:(?:ab))+(?:c){2,3}"));
        check("/(?:ab|cd)*/", Ok("(?:(?:ab|cd))*"));
        check("/[^a]/", Ok("[\\u0000-\\u0060b-\u{10ffff}]"));
        check("/[a&&b]/", Ok("(?!)"));
        check(r"/(?m)^a$/", Ok(r"(?:\A|(?<=\u000a))a(?:\Z|(?=\u000a))"));
        check("//", Ok("(?:)"));
    }

    #[test]
    fn what_is_none_or_cannot_be_said_is_refused_with_its_cause() {
        check("dogs", Err(text_search::NO_PATTERN));
        check("/(a/", Err("invalid regular expression: unclosed group, at byte 0"));
        check("/a{256}/", Err("a part of a pattern repeats 255 times at most"));
        check(
            r"/(?-u:\b)/",
            Err("a pattern has no bounds of words of ASCII: write `\\b` without the flag `-u`"),
        );
        for (text, word) in
            [(r"/(a)\1/", "backreferences"), ("/(?=a)/", "look-around"), ("/(?!a)/", "look-around")]
        {
            assert!(postgres(text).is_err_and(|it| it.contains(word)), "{text}: {:?}", postgres(text));
        }
        let long = format!("/{}/", r"\w".repeat(1000));
        check(&long, Err(TOO_LONG));
    }
}
