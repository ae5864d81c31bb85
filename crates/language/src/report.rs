//! Renders errors for people: the line, and a caret under the place.
//!
//! **Invariant:** output is bounded by the number of errors: long lines are cut around the place.
//!
//! **Cost:** one pass over the text for the places of all errors together.

use crate::error::Error;
use crate::span::{Location, Span};

/// Characters of a source line that are shown before and after a place.
const SHOWN_BEFORE: usize = 60;
const SHOWN_AFTER: usize = 60;

impl Error {
    /// Lines and columns of its places in `text`.
    pub fn locations(&self, text: &str) -> Vec<Location> {
        locations(text, std::slice::from_ref(self)).pop().unwrap_or_default()
    }
}

/// Line and column of each place of each error, in their order. One pass over `text`, however many there are.
pub fn locations(text: &str, errors: &[Error]) -> Vec<Vec<Location>> {
    let mut found: Vec<Vec<Location>> =
        errors.iter().map(|error| vec![Location { line: 1, column: 1 }; error.spans.len()]).collect();
    let mut places: Vec<(u32, usize, usize)> = Vec::new();
    for (at, error) in errors.iter().enumerate() {
        places.extend(error.spans.iter().enumerate().map(|(number, span)| (span.start, at, number)));
    }
    places.sort_unstable();
    let mut here = Location { line: 1, column: 1 };
    let mut next = 0;
    for (offset, at, number) in places {
        let offset = (offset as usize).min(text.len());
        while next < offset {
            here = step(text.as_bytes(), next, here);
            next += 1;
        }
        found[at][number] = here;
    }
    found
}

/// The place after byte `at`, which is at `here`. Columns count UTF-16 code units.
fn step(bytes: &[u8], at: usize, here: Location) -> Location {
    let next_line = Location { line: here.line + 1, column: 1 };
    match bytes[at] {
        b'\n' => next_line,
        b'\r' if bytes.get(at + 1) != Some(&b'\n') => next_line,
        // All but the first byte of a character take no column.
        0x80..=0xBF => here,
        0xF0.. => Location { column: here.column + 2, ..here },
        _ => Location { column: here.column + 1, ..here },
    }
}

/// The errors for people: message, place, source line, caret. `name` is what the text is called.
pub fn text(name: &str, text: &str, errors: &[Error]) -> String {
    let mut out = String::new();
    for (error, locations) in errors.iter().zip(locations(text, errors)) {
        out.push_str("error: ");
        out.push_str(&error.message);
        out.push('\n');
        for (span, location) in error.spans.iter().zip(locations) {
            place(name, text, *span, location, &mut out);
        }
        out.push('\n');
    }
    out
}

fn place(name: &str, text: &str, span: Span, location: Location, out: &mut String) {
    let number = location.line.to_string();
    let margin = " ".repeat(number.len());
    let start = (span.start as usize).min(text.len());
    let is_end = |c: char| c == '\n' || c == '\r';
    let line_start = text[..start].rfind(is_end).map_or(0, |at| at + 1);
    let line_end = text[start..].find(is_end).map_or(text.len(), |at| start + at);
    let before: Vec<char> = text[line_start..start].chars().rev().take(SHOWN_BEFORE).collect();
    let before: String = before.into_iter().rev().collect();
    let after: String = text[start..line_end].chars().take(SHOWN_AFTER).collect();
    // Tabs stay tabs, so that the caret stands under what it points at.
    let pad: String = before.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    let end = (span.end as usize).clamp(start, line_end);
    let carets = text[start..end].chars().take(SHOWN_AFTER).count().max(1);
    out.push_str(&format!(
        "{margin}--> {name}:{}:{}\n{margin} |\n{number} | {before}{after}\n{margin} | {pad}{}\n",
        location.line,
        location.column,
        "^".repeat(carets)
    ));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    fn error(message: &str, spans: &[(u32, u32)]) -> Error {
        let spans = spans.iter().map(|&(start, end)| Span::new(start, end)).collect();
        Error { message: message.to_owned(), spans, code: Code::Validation }
    }

    #[test]
    fn people_see_the_line_with_a_caret_under_the_place() {
        let source = "{\n\talbum { titel }\n}";
        let shown = text("q.graphql", source, &[error("no such field", &[(11, 16)])]);
        let expected =
            "error: no such field\n --> q.graphql:2:10\n  |\n2 | \talbum { titel }\n  | \t        ^^^^^\n\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let source = format!("{}x{}", "a".repeat(100_000), "b".repeat(100_000));
        let shown = text("q", &source, &[error("here", &[(100_000, 200_001)])]);
        assert!(shown.len() < 500, "{}", shown.len());
        assert!(shown.contains("aax"));
    }

    #[test]
    fn places_are_those_that_are_counted_one_by_one() {
        let source = "a\r\nb\rc\n# é 𝄞 x\n\n  end";
        let offsets: Vec<(u32, u32)> =
            source.char_indices().map(|(at, _)| (at as u32, at as u32 + 1)).rev().collect();
        let all = error("", &offsets);
        let expected: Vec<Location> = offsets.iter().map(|&(at, _)| Location::of(source, at)).collect();
        assert_eq!(locations(source, &[all]), [expected]);
    }
}
