//! Variables of the environment in `weir.yaml`: `${NAME}` and `${NAME:-default}` in values, quoted or not.
//!
//! The YAML reader fills them by Docker Compose's rules. [`Prepared`] adapts the text to Weir's rules first: only `${` begins a
//! variable and only `$${` escapes it, so that `$` and `$$` in passwords stay; a variable without a value and without a
//! default is an error.
//!
//! **Invariant:** keys are never filled. Values of variables are not in the prepared text.

use serde_saphyr::granit_parser::{Event, Parser};
use std::ops::Range;

/// A text of YAML that Docker Compose's rules fill as Weir's rules fill the original.
pub(super) struct Prepared {
    pub(super) text: String,
    /// Byte offsets in `text` of the characters that were inserted, ascending.
    inserted: Vec<usize>,
    /// Line and column, from 1, of a variable that YAML takes apart: one between `{ }` or `[ ]` without quotes.
    pub(super) torn: Option<(u64, u64)>,
}

impl Prepared {
    /// Adapts `yaml`. The part behind a syntax error stays as it is.
    pub(super) fn new(yaml: &str) -> Self {
        let mut prepared = Self { text: String::with_capacity(yaml.len()), inserted: Vec::new(), torn: None };
        let mut copied = 0;
        for value in values(yaml) {
            if let (Some(before), Some(text)) = (yaml.get(copied..value.start), yaml.get(value.clone())) {
                if text == "$" && yaml[value.end..].starts_with('{') && prepared.torn.is_none() {
                    let start = yaml[..value.start].rfind('\n').map_or(0, |it| it + 1);
                    let line = yaml[..start].matches('\n').count() + 1;
                    let column = yaml[start..value.start].chars().count() + 1;
                    prepared.torn = Some((line as u64, column as u64));
                }
                prepared.text.push_str(before);
                prepared.value(text);
                copied = value.end;
            }
        }
        prepared.text.push_str(&yaml[copied..]);
        prepared
    }

    /// Line and column in the original of the character at `line` and `column` of the prepared text, all from 1.
    pub(super) fn original(&self, (line, column): (u64, u64)) -> (u64, u64) {
        let ends = self.text.match_indices('\n').map(|it| it.0 + 1);
        let Some(start) = std::iter::once(0).chain(ends).nth(usize::try_from(line - 1).unwrap_or(usize::MAX))
        else {
            return (line, column);
        };
        let before = usize::try_from(column - 1).unwrap_or(usize::MAX);
        let chars = self.text[start..].char_indices().take(before);
        let shift = chars.filter(|(at, _)| self.inserted.binary_search(&(start + at)).is_ok()).count();
        (line, column - shift as u64)
    }

    fn insert(&mut self, character: char) {
        self.inserted.push(self.text.len());
        self.text.push(character);
    }

    /// Appends the source text of one value.
    fn value(&mut self, value: &str) {
        let mut rest = value;
        while let Some(at) = rest.find('$') {
            let (before, from) = rest.split_at(at);
            self.text.push_str(before);
            let is_variable = from.starts_with("${");
            let length = match is_variable {
                true => "${".len() + name_length(&from["${".len()..]),
                false if from.starts_with("$${") => "$${".len(),
                false => {
                    // `$NAME` and `$$` stay.
                    self.insert('$');
                    "$".len()
                }
            };
            self.text.push_str(&from[..length]);
            rest = &from[length..];
            if is_variable && length > "${".len() && rest.starts_with('}') {
                // `${NAME?}` is an error where `${NAME}` would be empty.
                self.insert('?');
            }
        }
        self.text.push_str(rest);
    }
}

/// Bytes of the name that `text` begins with; 0 if it begins with none.
fn name_length(text: &str) -> usize {
    if text.starts_with(|it: char| it.is_ascii_digit()) {
        return 0;
    }
    text.find(|it: char| !(it.is_ascii_alphanumeric() || it == '_')).unwrap_or(text.len())
}

/// The node that an event of the parser belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Item,
    Key,
    Value,
}

/// Byte ranges of the scalars of `yaml` that are values, up to its first syntax error.
fn values(yaml: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    // The position of the next node in each collection that is open.
    let mut open: Vec<Position> = Vec::new();
    for event in Parser::new_from_str(yaml) {
        let Ok((event, span)) = event else { break };
        if matches!(event, Event::SequenceEnd | Event::MappingEnd) {
            open.pop();
            continue;
        }
        let inside = match event {
            Event::Scalar(..) | Event::Alias(_) => None,
            Event::SequenceStart(..) => Some(Position::Item),
            Event::MappingStart(..) => Some(Position::Key),
            _ => continue,
        };
        let position = open.last().copied().unwrap_or(Position::Item);
        if let Some(last) = open.last_mut() {
            *last = match position {
                Position::Item => Position::Item,
                Position::Key => Position::Value,
                Position::Value => Position::Key,
            };
        }
        open.extend(inside);
        if matches!(event, Event::Scalar(..)) && position != Position::Key {
            found.extend(span.byte_range());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(yaml: &str, expected: &str) {
        assert_eq!(Prepared::new(yaml).text, expected);
    }

    #[test]
    fn a_variable_without_a_default_has_to_be_set() {
        check("a: ${X}", "a: ${X?}");
        check("a: 'b${X}c' # ${X}", "a: 'b${X?}c' # ${X}");
        check("a: [\"${X}\", {b: '${Y:-1}'}]", "a: [\"${X?}\", {b: '${Y:-1}'}]");
        check("a: ${X:-${Y}}", "a: ${X:-${Y?}}");
        check("a: |\n  é ${X}\n  $x\nb: ${Y}\n", "a: |\n  é ${X?}\n  $$x\nb: ${Y?}\n");
    }

    #[test]
    fn other_dollars_stay() {
        check("a: \"$${X}\"", "a: \"$${X}\"");
        check("a: pa$$wo$rd$", "a: pa$$$$wo$$rd$$");
        check("a: ${X", "a: ${X");
        check("a: ${1}", "a: ${1}");
        check("\"${X}\": 1\na$b: {c$: d}", "\"${X}\": 1\na$b: {c$: d}");
    }

    #[test]
    fn a_place_is_that_of_the_original() {
        let yaml = "x: 1\na: {b: \"é${X}\", c: $y, d: 1}\n";
        let prepared = Prepared::new(yaml);
        let column = |text: &str| text.lines().nth(1).and_then(|it| it.find("d: 1")).expect("it is there");
        // Of `é` the two bytes are one column.
        let place = prepared.original((2, column(&prepared.text) as u64));
        assert_eq!(place, (2, column(yaml) as u64));
        assert_eq!(prepared.original((9, 9)), (9, 9));
    }
}
