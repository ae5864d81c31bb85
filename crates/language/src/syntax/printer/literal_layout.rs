//! Printed lengths of literals, which decide the literals that are broken into lines.
//!
//! **Invariant:** the parser stores a value after the values inside it, so one forward pass knows the parts first.

use super::string_literals;
use crate::syntax::ast::{Document, ValueId, ValueKind};

/// The longest line that is not broken, as in graphql-js.
pub(super) const LINE_MAX: usize = 80;

/// The measures of a printed literal.
#[derive(Clone, Copy, Default)]
pub(super) struct Layout {
    /// UTF-16 code units, with line ends and the indentation inside.
    pub(super) length: usize,
    /// Line ends.
    pub(super) line_ends: usize,
    /// True if each member of the list or object has a line of its own.
    pub(super) broken: bool,
}

/// The measures of all values of `document`.
pub(super) fn layouts(document: &Document<'_>) -> Vec<Layout> {
    let mut layouts: Vec<Layout> = Vec::with_capacity(document.values.len());
    let mut printed = String::new();
    for (place, value) in document.values.iter().enumerate() {
        let id = ValueId(place as u32);
        let layout = match value.kind {
            ValueKind::String { .. } => {
                printed.clear();
                string_literals::string(&document.string(id), &mut printed);
                of_text(&printed)
            }
            ValueKind::Block => {
                printed.clear();
                string_literals::block_string(&document.string(id), &mut printed);
                of_text(&printed)
            }
            ValueKind::List(items) => container(layouts[items.range()].iter().copied(), 2),
            ValueKind::Object(fields) => {
                let fields = document.list(fields).iter().map(|field| {
                    let layout = layouts[field.value.0 as usize];
                    let name = (field.name.end - field.name.start) as usize;
                    Layout { length: name + 2 + layout.length, ..layout }
                });
                container(fields, 4)
            }
            ValueKind::Variable(name) => of_text(document.str(name)).longer(1),
            ValueKind::Int | ValueKind::Float | ValueKind::Boolean(_) | ValueKind::Null | ValueKind::Enum => {
                of_text(document.str(value.span))
            }
        };
        layouts.push(layout);
    }
    layouts
}

impl Layout {
    const fn longer(self, by: usize) -> Self {
        Self { length: self.length + by, ..self }
    }
}

fn of_text(text: &str) -> Layout {
    let line_ends = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    Layout { length: text.encode_utf16().count(), line_ends, broken: false }
}

/// A list or object with these members, whose brackets take `brackets` characters in one line.
fn container(members: impl Iterator<Item = Layout>, brackets: usize) -> Layout {
    let mut count = 0;
    let mut length = 0;
    let mut line_ends = 0;
    for member in members {
        count += 1;
        length += member.length;
        line_ends += member.line_ends;
    }
    let gaps = usize::saturating_sub(count, 1);
    let joined = length + 2 * gaps;
    if brackets + joined <= LINE_MAX {
        return Layout { length: brackets + joined, line_ends, broken: false };
    }
    // Each line inside is indented by two; two more lines hold the brackets.
    let inside = line_ends + gaps;
    Layout { length: length + gaps + 2 * (inside + 1) + 4, line_ends: inside + 2, broken: true }
}
