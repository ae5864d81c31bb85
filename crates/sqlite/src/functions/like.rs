//! Patterns of `_like`: literals with `%` for any text and `_` for any letter.
//!
//! **Cost:** each part between two `%` is looked for once, from where the one before it ended. Without `_` that is linear in the text,
//! however long the pattern is; a part with `_` is tried at each letter. The work is counted, so that a statement can be stopped.

use crate::functions::steps::{Steps, Stopped};
use memchr::memmem::Finder;

/// A piece of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Literal(String),
    /// This many characters, of any kind.
    Any(usize),
}

/// The pieces between two `%`.
#[derive(Debug)]
struct Part {
    pieces: Vec<Piece>,
    /// Finds it where it is one literal.
    finder: Option<Finder<'static>>,
}

impl Part {
    fn new(pieces: Vec<Piece>) -> Self {
        let finder = match &*pieces {
            [Piece::Literal(literal)] => Some(Finder::new(literal.as_bytes()).into_owned()),
            _ => None,
        };
        Self { pieces, finder }
    }

    /// The end of this part where `text` begins with it.
    fn end_at_start(&self, text: &str, steps: &mut Steps<'_>) -> Result<Option<usize>, Stopped> {
        let mut at = 0;
        for piece in &self.pieces {
            steps.take(1)?;
            match piece {
                Piece::Literal(literal) if text[at..].starts_with(literal) => {
                    steps.take(literal.len() / 16)?;
                    at += literal.len();
                }
                Piece::Literal(_) => return Ok(None),
                Piece::Any(number) => {
                    steps.take(*number)?;
                    let mut letters = text[at..].chars();
                    for _ in 0..*number {
                        if letters.next().is_none() {
                            return Ok(None);
                        }
                    }
                    at = text.len() - letters.as_str().len();
                }
            }
        }
        Ok(Some(at))
    }

    /// The end of its first place in `text`.
    fn find(&self, text: &str, steps: &mut Steps<'_>) -> Result<Option<usize>, Stopped> {
        if let (Some(finder), [Piece::Literal(literal)]) = (&self.finder, &*self.pieces) {
            let found = finder.find(text.as_bytes());
            steps.take(found.unwrap_or(text.len()) / 16)?;
            return Ok(found.map(|it| it + literal.len()));
        }
        for (at, _) in text.char_indices() {
            if let Some(end) = self.end_at_start(&text[at..], steps)? {
                return Ok(Some(at + end));
            }
        }
        Ok(None)
    }

    /// The letters that it takes, of which each has one byte or more.
    fn letters(&self) -> usize {
        let letters = |it: &Piece| match it {
            Piece::Literal(literal) => literal.chars().count(),
            Piece::Any(number) => *number,
        };
        self.pieces.iter().map(letters).sum()
    }
}

/// A pattern.
#[derive(Debug)]
pub(crate) struct Like {
    /// At the start.
    first: Part,
    /// In this order, anywhere between.
    between: Vec<Part>,
    /// At the end, after a `%`; `None`: there is none, and `first` is all.
    last: Option<Part>,
}

impl Like {
    /// `None` if the pattern ends with a lone escape.
    pub(crate) fn compile(pattern: &str) -> Option<Self> {
        let mut parts = vec![Vec::new()];
        let mut letters = pattern.chars();
        while let Some(letter) = letters.next() {
            let part = parts.last_mut()?;
            match (letter, part.last_mut()) {
                ('%', _) => parts.push(Vec::new()),
                ('_', Some(Piece::Any(number))) => *number += 1,
                ('_', _) => part.push(Piece::Any(1)),
                (letter, last) => {
                    let literal = if letter == '\\' { letters.next()? } else { letter };
                    match last {
                        Some(Piece::Literal(text)) => text.push(literal),
                        Some(Piece::Any(_)) | None => part.push(Piece::Literal(literal.to_string())),
                    }
                }
            }
        }
        let mut parts = parts.into_iter().map(Part::new);
        let first = parts.next()?;
        let last = parts.next_back();
        let between = parts.filter(|it| !it.pieces.is_empty()).collect();
        Some(Self { first, between, last })
    }

    /// True if the whole `text` is of this pattern.
    pub(crate) fn is_match(&self, text: &str, steps: &mut Steps<'_>) -> Result<bool, Stopped> {
        let Some(start) = self.first.end_at_start(text, steps)? else { return Ok(false) };
        let Some(last) = &self.last else { return Ok(start == text.len()) };
        let mut rest = &text[start..];
        for part in &self.between {
            let Some(end) = part.find(rest, steps)? else { return Ok(false) };
            rest = &rest[end..];
        }
        // The last part stands at the end, whatever is before it.
        let letters = last.letters();
        if letters == 0 {
            return Ok(true);
        }
        steps.take(letters)?;
        let Some((at, _)) = rest.char_indices().nth_back(letters - 1) else { return Ok(false) };
        Ok(last.end_at_start(&rest[at..], steps)? == Some(rest.len() - at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    fn is_match(pattern: &str, text: &str) -> bool {
        let mut steps = Steps::new(&|| false);
        Like::compile(pattern).unwrap().is_match(text, &mut steps).unwrap()
    }

    /// By its definition, letter by letter.
    fn fits(pattern: &[char], text: &[char]) -> bool {
        match pattern {
            [] => text.is_empty(),
            ['%', rest @ ..] => (0..=text.len()).any(|at| fits(rest, &text[at..])),
            ['_', rest @ ..] => !text.is_empty() && fits(rest, &text[1..]),
            ['\\', letter, rest @ ..] | [letter, rest @ ..] => {
                text.first() == Some(letter) && fits(rest, &text[1..])
            }
        }
    }

    #[test]
    fn a_lone_escape_at_the_end_is_no_pattern() {
        assert!(Like::compile("a\\").is_none());
        assert!(is_match("a\\\\", "a\\"));
    }

    #[test]
    fn a_long_work_is_stopped() {
        let text = "a".repeat(1 << 16);
        let pattern = format!("%{}b%", "_a".repeat(1000));
        let looks = Cell::new(0);
        let is_over = || {
            looks.set(looks.get() + 1);
            looks.get() > 3
        };
        let found = Like::compile(&pattern).unwrap().is_match(&text, &mut Steps::new(&is_over));
        assert_eq!((found, looks.get()), (Err(Stopped), 4));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn patterns_match_as_they_are_defined(pattern in "(a|b|ä|%|_|\\\\[%_a\\\\]){0,8}", text in "[abä%_\\\\]{0,8}") {
            let letters = |it: &str| it.chars().collect::<Vec<_>>();
            prop_assert_eq!(is_match(&pattern, &text), fits(&letters(&pattern), &letters(&text)));
        }
    }
}
