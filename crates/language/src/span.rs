//! Places in a text: where a node was written, and how a person reads that place.
//!
//! **Invariant:** a span lies on character boundaries of the text it was made from; texts are at most
//! 4 GiB, so two `u32` are enough.

/// A run of bytes in the text of a document: eight bytes, pass by value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The run from `start` up to, not including, `end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// The bytes of `text` that this span names.
    #[inline]
    pub fn of(self, text: &str) -> &str {
        &text[self.start as usize..self.end as usize]
    }

    /// True for the span of an absent name, as the alias of a field without one.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// Line and column as a person counts them: both begin at 1, columns count UTF-16 code units as
/// graphql-js does. Source: GraphQL specification, section 7.1.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// Line, from 1. `\n`, `\r\n` and `\r` end a line.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

impl Location {
    /// Line and column of byte `offset` of `text`. Costs one pass over the text before it: for errors only.
    pub fn of(text: &str, offset: u32) -> Self {
        let before = &text.as_bytes()[..(offset as usize).min(text.len())];
        let mut line = 1;
        let mut line_start = 0;
        let mut at = 0;
        while at < before.len() {
            let ends_line = match before[at] {
                b'\n' => true,
                // `\r\n` is one line end; it is counted at its `\n`.
                b'\r' => text.as_bytes().get(at + 1) != Some(&b'\n'),
                _ => false,
            };
            at += 1;
            if ends_line {
                line += 1;
                line_start = at;
            }
        }
        let column = text[line_start..before.len()].encode_utf16().count() as u32 + 1;
        Self { line, column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, offset: u32, line: u32, column: u32) {
        assert_eq!(Location::of(text, offset), Location { line, column }, "{text:?} at {offset}");
    }

    #[test]
    fn lines_and_columns_begin_at_one_and_all_three_line_ends_count() {
        check("abc", 0, 1, 1);
        check("abc", 2, 1, 3);
        check("a\nb", 2, 2, 1);
        check("a\r\nb", 3, 2, 1);
        check("a\rb", 2, 2, 1);
        check("# é\n{x}", 6, 2, 2);
    }
}
