//! Expected files of a case: compared with what was found, or written anew.

use std::fs;
use std::path::Path;

/// Lines that are shown of what was found, after the first that differs.
const FOUND_LINES: usize = 8;

/// The differences of one file; empty if there are none.
pub(super) fn compare(file: &Path, found: Option<&str>, bless: bool) -> String {
    let expected = fs::read_to_string(file).ok();
    if expected.as_deref() == found {
        return String::new();
    }
    if bless {
        match found {
            Some(found) => fs::write(file, found).expect("an answer can be written"),
            None => fs::remove_file(file).expect("an old answer can be removed"),
        }
        return String::new();
    }
    let name = file.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    match (expected, found) {
        (None, Some(_)) => format!("{name} is missing; `make bless` writes it\n"),
        (Some(_), None) => format!("{name} is there, but there is nothing to compare it with\n"),
        (Some(expected), Some(found)) => difference(name, &expected, found),
        (None, None) => String::new(),
    }
}

/// The first line that differs, and what was found from there on: an error in place of data says more than its first line.
fn difference(name: &str, expected: &str, found: &str) -> String {
    let mut expected = expected.lines();
    let mut found = found.lines();
    let mut number = 1;
    loop {
        match (expected.next(), found.next()) {
            (Some(a), Some(b)) if a == b => number += 1,
            (a, b) => {
                let end = "(the end)";
                let rest: Vec<&str> = b.into_iter().chain(found.take(FOUND_LINES)).collect();
                let rest = if rest.is_empty() { end.to_owned() } else { rest.join("\n           ") };
                return format!("{name}:{number}:\n  expected {}\n  found    {rest}\n", a.unwrap_or(end));
            }
        }
    }
}

/// JSON with line breaks, its digits and texts untouched: no value is read, only brackets and commas are seen.
pub(super) fn indent_json(json: &[u8]) -> String {
    let text = std::str::from_utf8(json).expect("an answer is UTF-8");
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0;
    let mut quoted = false;
    let mut escaped = false;
    let mut rest = text.chars().peekable();
    while let Some(it) = rest.next() {
        if quoted {
            out.push(it);
            quoted = escaped || it != '"';
            escaped = it == '\\' && !escaped;
            continue;
        }
        match it {
            '"' => {
                quoted = true;
                out.push(it);
            }
            '{' | '[' => {
                out.push(it);
                if let Some(close) = rest.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(close);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth -= 1;
                line(&mut out, depth);
                out.push(it);
            }
            ',' => {
                out.push(it);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => out.push(it),
        }
    }
    out.push('\n');
    out
}

fn line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}
