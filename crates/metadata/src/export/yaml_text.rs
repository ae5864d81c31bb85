//! YAML as the library of Hasura's command line writes it: plain where a reader would not take it for something else, in single quotes
//! where a sign stands against it, in double quotes where a word does, and several lines as a block.
//!
//! **Invariant:** a reader of YAML gets the texts back. What few readers agree about, such as signs that are not printable, is in
//! double quotes.

use crate::tree::{Node, Value};

/// Spaces of one level.
const INDENT: usize = 2;

/// The text of `node`.
pub(super) fn write(node: &Node) -> String {
    let mut out = String::new();
    if is_block(node) {
        write_block(node, 0, &mut out);
    } else {
        write_leaf(node, 0, &mut out);
        out.push('\n');
    }
    out
}

/// True for a list or object that is not empty.
fn is_block(node: &Node) -> bool {
    match &node.value {
        Value::List(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => false,
    }
}

/// Writes a list or object that is not empty, each line behind `indent` spaces.
fn write_block(node: &Node, indent: usize, out: &mut String) {
    let blanks = " ".repeat(indent);
    match &node.value {
        Value::List(items) => {
            for item in items {
                let start = out.len() + indent;
                if is_block(item) {
                    write_block(item, indent + INDENT, out);
                } else {
                    out.push_str(&blanks);
                    out.push_str("  ");
                    write_leaf(item, indent + INDENT, out);
                    out.push('\n');
                }
                out.replace_range(start..=start, "-");
            }
        }
        Value::Object(members) => {
            for member in members {
                out.push_str(&blanks);
                write_key(&member.key, out);
                out.push(':');
                if is_block(&member.node) {
                    out.push('\n');
                    write_block(&member.node, indent + INDENT, out);
                } else {
                    out.push(' ');
                    write_leaf(&member.node, indent + INDENT, out);
                    out.push('\n');
                }
            }
        }
        _ => {}
    }
}

/// Writes a value without members or items; lines of a block stand behind `indent` spaces.
fn write_leaf(node: &Node, indent: usize, out: &mut String) {
    match &node.value {
        // Exports are made of typed entries and of parts without broken files.
        Value::Null | Value::Broken(_) => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(digits) => out.push_str(digits),
        Value::Text(text) => match style_of(text) {
            Style::Block => write_lines(text, indent, out),
            style => write_line(text, &style, out),
        },
        Value::Include(file) => write_double(&format!("!include {file}"), out),
        Value::List(_) => out.push_str("[]"),
        Value::Object(_) => out.push_str("{}"),
    }
}

fn write_key(key: &str, out: &mut String) {
    match style_of(key) {
        // A reader would merge the value.
        _ if key == "<<" => write_double(key, out),
        Style::Block => write_double(key, out),
        style => write_line(key, &style, out),
    }
}

fn write_line(text: &str, style: &Style, out: &mut String) {
    match style {
        Style::Plain => out.push_str(text),
        Style::Single => out.push_str(&format!("'{}'", text.replace('\'', "''"))),
        Style::Double | Style::Block => write_double(text, out),
    }
}

/// Writes several lines, which end as the sign behind the bar says.
fn write_lines(text: &str, indent: usize, out: &mut String) {
    let indent = indent.max(INDENT);
    out.push('|');
    if text.starts_with(' ') {
        out.push_str(&INDENT.to_string());
    }
    let body = match text.strip_suffix('\n') {
        None => {
            out.push('-');
            text
        }
        Some(body) => {
            out.push_str(if body.ends_with('\n') { "+" } else { "" });
            body
        }
    };
    for line in body.split('\n') {
        out.push('\n');
        if !line.is_empty() {
            out.push_str(&" ".repeat(indent));
            out.push_str(line);
        }
    }
}

/// Writes `text` in double quotes.
fn write_double(text: &str, out: &mut String) {
    out.push('"');
    for sign in text.chars() {
        match sign {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            sign if is_printable(sign) => out.push(sign),
            sign if u32::from(sign) <= 0xFF => out.push_str(&format!("\\x{:02X}", u32::from(sign))),
            sign if u32::from(sign) <= 0xFFFF => out.push_str(&format!("\\u{:04X}", u32::from(sign))),
            sign => out.push_str(&format!("\\U{:08X}", u32::from(sign))),
        }
    }
    out.push('"');
}

/// Ways to write a text.
enum Style {
    Plain,
    Single,
    Double,
    /// Lines behind a bar.
    Block,
}

fn style_of(text: &str) -> Style {
    let has_lines = text.contains('\n');
    let is_printed = text.chars().all(|it| it == '\n' || it == '\t' || is_printable(it));
    let has_blank_ends = text.ends_with(' ') || text.contains(" \n");
    // The library loses line feeds at the start of a block.
    let is_block = is_printed && !has_blank_ends && !text.starts_with('\n');
    match has_lines {
        _ if text.is_empty() || !is_printed => Style::Double,
        true if is_block => Style::Block,
        true => Style::Double,
        false if is_other_value(text) || text.contains('\t') => Style::Double,
        false if is_against_plain(text) => Style::Single,
        false => Style::Plain,
    }
}

/// True for signs that the library writes as they are.
fn is_printable(sign: char) -> bool {
    matches!(sign, ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

/// True if a sign of `text`, one line, has a meaning where it stands.
fn is_against_plain(text: &str) -> bool {
    let mut signs = text.chars();
    let first = signs.next();
    let is_start = match first {
        Some(sign) if "#,[]{}&*!|>'\"%@`".contains(sign) => true,
        Some('?' | ':' | '-') => signs.next().is_none_or(|it| it == ' '),
        _ => false,
    };
    is_start
        || text.starts_with(' ')
        || text.ends_with([' ', ':'])
        || text.contains(": ")
        || text.contains(" #")
        || text.starts_with("---")
        || text.starts_with("...")
}

/// True if `text` without quotes would be read as another value than a text, also by readers of old versions of YAML.
fn is_other_value(text: &str) -> bool {
    const OLD_BOOLEANS: [&str; 6] = ["y", "n", "yes", "no", "on", "off"];
    const WORDS: [&str; 22] = [
        "~", "null", "Null", "NULL", "true", "True", "TRUE", "false", "False", "FALSE", ".nan", ".NaN",
        ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF",
    ];
    let is_old = OLD_BOOLEANS.iter().any(|it| it.eq_ignore_ascii_case(text));
    WORDS.contains(&text) || is_old || is_number(text) || is_time(text) || is_sexagesimal(text)
}

/// True for numbers to the base of 60, as in `1:20`, which old versions of YAML have.
fn is_sexagesimal(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_digit = |it: char| it.is_ascii_digit() || it == '_' || it == '.';
    text.contains(':')
        && text
            .split(':')
            .all(|it| it.starts_with(|it: char| it.is_ascii_digit()) && it.chars().all(is_digit))
}

/// True for numbers of YAML in all their forms, with `_` between digits.
fn is_number(text: &str) -> bool {
    if text.starts_with('_') {
        return false;
    }
    let digits = text.replace('_', "");
    let rest = digits.strip_prefix(['-', '+']).unwrap_or(&digits);
    let is_of = |prefix: &str, radix: u32| {
        let number = rest.strip_prefix(prefix).filter(|it| !it.is_empty());
        number.is_some_and(|it| it.chars().all(|it| it.is_digit(radix)))
    };
    if is_of("0x", 16) || is_of("0X", 16) || is_of("0b", 2) || is_of("0o", 8) {
        return true;
    }
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (rest, None),
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let are_digits = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    are_digits(whole)
        && are_digits(part)
        && !(whole.is_empty() && part.is_empty())
        && exponent.is_none_or(|it| !it.is_empty() && are_digits(it))
}

/// True for a date, alone or with a time behind it.
fn is_time(text: &str) -> bool {
    let (date, time) =
        text.split_at_checked(text.find(['T', 't', ' ']).unwrap_or(text.len())).unwrap_or((text, ""));
    let parts: Vec<&str> = date.split('-').collect();
    let is_part =
        |it: &str, most: usize| (1..=most).contains(&it.len()) && it.bytes().all(|it| it.is_ascii_digit());
    let [year, month, day] = parts[..] else { return false };
    let is_time_of_day = |it: &str| it.starts_with(|it: char| it.is_ascii_digit()) && it.contains(':');
    year.len() == 4
        && is_part(year, 4)
        && is_part(month, 2)
        && is_part(day, 2)
        && (time.is_empty() || is_time_of_day(&time[1..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::to_node;
    use crate::json::{Json, Members};
    use crate::read::{deserialize::Reader, tree};
    use serde::Deserialize;
    use std::path::Path;

    /// Texts, and what yaml.v3 3.0.1 of Go writes of each as the value of a key in a list.
    const WRITTEN: &[(&str, &str)] = &[
        ("a: b", "'a: b'"),
        ("{{X}}", "'{{X}}'"),
        ("", "\"\""),
        ("a\nb", "|-\n    a\n    b"),
        ("a \nb", "\"a \\nb\""),
        (" a\nb", "|2-\n     a\n    b"),
        ("a\nb ", "\"a\\nb \""),
        ("a\n", "|\n    a"),
        ("a\n\n", "|+\n    a\n"),
        ("true", "\"true\""),
        ("12", "\"12\""),
        ("1_000", "\"1_000\""),
        ("0x1F", "\"0x1F\""),
        ("1e3", "\"1e3\""),
        ("~", "\"~\""),
        ("null", "\"null\""),
        ("*", "'*'"),
        ("*/5 * * * *", "'*/5 * * * *'"),
        ("0 6 * * *", "0 6 * * *"),
        ("2020-01-02", "\"2020-01-02\""),
        ("\u{e9}", "\u{e9}"),
        ("\u{1f600}", "\"\\U0001F600\""),
        ("tab\tx", "\"tab\\tx\""),
        ("a\tb\nc", "|-\n    a\tb\n    c"),
        ("!include x", "'!include x'"),
        ("- a", "'- a'"),
        ("a # b", "'a # b'"),
        ("a\n  b\n", "|\n    a\n      b"),
        ("@x", "'@x'"),
        ("a,b", "a,b"),
        ("[a", "'[a'"),
        ("x?", "x?"),
        ("? a", "'? a'"),
        ("=", "="),
        (".5", "\".5\""),
        (".inf", "\".inf\""),
        ("+1", "\"+1\""),
        ("-", "'-'"),
        ("--", "--"),
        ("---", "'---'"),
        ("...", "'...'"),
        ("a:b", "a:b"),
        ("a:", "'a:'"),
        ("#a", "'#a'"),
        ("$x", "$x"),
        ("%a", "'%a'"),
        ("\u{1}", "\"\\x01\""),
        ("\u{a0}x", "\u{a0}x"),
        ("it's", "it's"),
        ("\"q\"", "'\"q\"'"),
        (" lead", "' lead'"),
        ("trail ", "'trail '"),
        ("012", "\"012\""),
        ("089", "\"089\""),
        ("0o7", "\"0o7\""),
        ("0b1", "\"0b1\""),
        ("a\r\nb", "\"a\\r\\nb\""),
        ("NaN", "NaN"),
        (".nan", "\".nan\""),
        ("1.", "\"1.\""),
        ("2020-01-02 10:11:12", "\"2020-01-02 10:11:12\""),
        ("2020-01-02T10:11:12Z", "\"2020-01-02T10:11:12Z\""),
        ("-1", "\"-1\""),
        ("- ", "'- '"),
        ("X-Hasura-User-Id", "X-Hasura-User-Id"),
        (" ", "' '"),
        ("a\n b", "|-\n    a\n     b"),
        ("a\n\tb", "|-\n    a\n    \tb"),
        ("#\nx", "|-\n    #\n    x"),
        ("1_0.5", "\"1_0.5\""),
        ("_1", "_1"),
        ("0.1.2", "0.1.2"),
        ("1e", "1e"),
        ("+", "+"),
        ("0x", "0x"),
        ("0xg", "0xg"),
    ];

    /// Texts that the library would write in a way that few readers take for the same text.
    const IN_QUOTES: [&str; 10] =
        ["yes", "On", "n", "1:20", "12:30:45", "\na", "\n", "\n\n", "\u{85}", "a\u{2028}b"];

    fn list_of(key: &str, text: &str) -> String {
        let members = Members(vec![(key.into(), Json::Text(text.into()))]);
        write(&to_node(&vec![members]).expect("it is a tree"))
    }

    /// Checks that a reader gets `text` back as a value and as a key.
    fn check_reading(text: &str) {
        for key in ["k", text] {
            let node =
                tree(&format!("# YAML\n{}", list_of(key, text)), Path::new("a.yaml")).expect("it is YAML");
            let read: Vec<Members> = Vec::deserialize(Reader::new(&node)).expect("it is a list");
            let found = read[0].0.iter().map(|(key, value)| (&**key, value.text())).next();
            assert_eq!(found, Some((key, Some(text))));
        }
    }

    #[test]
    fn texts_are_written_as_the_command_line_s_library_does() {
        for (text, expected) in WRITTEN {
            assert_eq!(list_of("k", text), format!("- k: {expected}\n"), "{text:?}");
            check_reading(text);
        }
        for text in IN_QUOTES {
            assert!(list_of("k", text).starts_with("- k: \""), "{text:?}");
            check_reading(text);
        }
        check_reading("<<");
    }

    #[test]
    fn lists_in_lists_and_blocks_keep_their_depth() {
        let node =
            tree(r#"{"a":[["x\ny",[]],{"b":"p\n\nq\n"}],"c":{}}"#, Path::new("m.json")).expect("it is JSON");
        let expected = "a:\n  - - |-\n      x\n      y\n    - []\n  - b: |\n      p\n\n      q\nc: {}\n";
        assert_eq!(write(&node), expected);
    }
}
