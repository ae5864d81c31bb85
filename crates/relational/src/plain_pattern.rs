//! Patterns that cost little on any text and fail on none: what PostgreSQL may ask of rows before it asks the policy.
//!
//! A regular expression that refers back or looks around is matched by trying, which may take longer than anyone waits, and how long
//! depends on the text. What this grammar takes is matched in one pass over the text, by an automaton of bounded size. It is narrower
//! than PostgreSQL's: what it does not know counts as not plain.
//!
//! **Cost:** one pass over the pattern, without allocation but for its open groups.

/// The most parts of a plain pattern, each counted as often as it is repeated.
const PARTS_MAX: u32 = 1_000;

/// The deepest nesting of groups.
const DEPTH_MAX: usize = 20;

/// PostgreSQL repeats a part no more often.
const REPEATS_MAX: u32 = 255;

/// The notation of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notation {
    /// A regular expression, as PostgreSQL writes them.
    Regex,
    /// That of `SIMILAR TO`.
    Similar,
}

impl Notation {
    /// A plain pattern that fits every text.
    #[must_use]
    pub const fn anything(self) -> &'static str {
        match self {
            Self::Regex => "",
            Self::Similar => "%",
        }
    }
}

/// What PostgreSQL says of a pattern of `LIKE` that ends in a lone escape.
pub const ENDS_IN_ESCAPE: &str = "LIKE pattern must not end with escape character";

/// True if a pattern of `LIKE` ends in an escape with nothing behind it, its only mistake.
#[must_use]
pub fn ends_in_escape(pattern: &str) -> bool {
    pattern.bytes().rev().take_while(|it| *it == b'\\').count() % 2 == 1
}

/// True if `pattern` is plain.
#[must_use]
pub fn is_plain(pattern: &str, notation: Notation) -> bool {
    Walk { rest: pattern, notation, parts: 0, last: 0, open: Vec::new() }.all().is_some()
}

/// A walk over a pattern.
struct Walk<'p> {
    rest: &'p str,
    notation: Notation,
    /// Parts of the group at hand.
    parts: u32,
    /// Parts of what was read last, which a quantifier repeats; 0: nothing that can be repeated.
    last: u32,
    /// The parts before each open group.
    open: Vec<u32>,
}

impl Walk<'_> {
    fn all(mut self) -> Option<()> {
        if self.rest.starts_with("***") {
            return None;
        }
        while let Some(letter) = self.next() {
            match (letter, self.notation) {
                ('\\', _) => self.escape()?,
                ('[', _) => self.class()?,
                ('(', _) => self.group()?,
                (')', _) => self.close()?,
                ('|', _) => self.last = 0,
                ('*' | '+' | '?', _) => self.repeat(1)?,
                ('{', _) => {
                    let times = self.times()?;
                    self.repeat(times)?;
                }
                // Places; a quantifier behind one is no part of this grammar.
                ('^' | '$', Notation::Regex) => self.last = 0,
                ('}' | ']', _) => return None,
                (_, _) => self.part(1)?,
            }
        }
        self.open.is_empty().then_some(())
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.rest.chars().next()?;
        self.rest = &self.rest[letter.len_utf8()..];
        Some(letter)
    }

    fn part(&mut self, parts: u32) -> Option<()> {
        self.parts = self.parts.checked_add(parts).filter(|it| *it <= PARTS_MAX)?;
        self.last = parts;
        Some(())
    }

    /// A backslash was read.
    fn escape(&mut self) -> Option<()> {
        let letter = self.next()?;
        match (letter, self.notation) {
            (it, Notation::Similar) => (it != '"' && it.is_ascii_punctuation()).then(|| self.part(1))?,
            ('A' | 'Z' | 'm' | 'M' | 'y' | 'Y', Notation::Regex) => {
                self.last = 0;
                Some(())
            }
            (it, Notation::Regex) => {
                self.escaped(it, &['d', 'D', 's', 'S', 'w', 'W']).then(|| self.part(1))?
            }
        }
    }

    /// True if a letter behind a backslash is itself, one by its number, or one of `classes`.
    fn escaped(&mut self, letter: char, classes: &[char]) -> bool {
        if letter != 'u' {
            return letter.is_ascii_punctuation() || classes.contains(&letter);
        }
        let digits = self.rest.get(..4).filter(|it| it.bytes().all(|byte| byte.is_ascii_hexdigit()));
        self.rest = digits.map_or(self.rest, |it| &self.rest[it.len()..]);
        digits.is_some()
    }

    /// `[` was read.
    fn class(&mut self) -> Option<()> {
        self.rest = self.rest.strip_prefix('^').unwrap_or(self.rest);
        let (mut is_first, mut before, mut in_range) = (true, None, false);
        loop {
            let letter = self.next()?;
            let single = match (letter, self.notation) {
                (']', _) if !is_first => break,
                ('-', _) if !in_range && before.is_some() && !self.rest.starts_with(']') => {
                    in_range = true;
                    continue;
                }
                // Names of classes and of letters, and what `SIMILAR TO` makes of a backslash.
                ('[', _) | ('\\', Notation::Similar) => return None,
                ('\\', Notation::Regex) => {
                    let escaped = self.next()?;
                    if !self.escaped(escaped, &['d', 's', 'w']) {
                        return None;
                    }
                    // A class is no end of a range.
                    let is_class = matches!(escaped, 'd' | 's' | 'w');
                    if is_class && (in_range || self.rest.starts_with('-')) {
                        return None;
                    }
                    Some(escaped).filter(|it| it.is_ascii_punctuation())
                }
                (letter, _) => Some(letter),
            };
            if in_range {
                // The numbers at both ends of a range are our own: in order.
                if let (Some(Some(first)), Some(last)) = (before, single)
                    && first > last
                {
                    return None;
                }
                (before, in_range) = (None, false);
            } else {
                before = Some(single);
            }
            is_first = false;
        }
        self.part(1)
    }

    /// `(` was read.
    fn group(&mut self) -> Option<()> {
        if let Some(rest) = self.rest.strip_prefix('?') {
            self.rest = rest.strip_prefix(':').filter(|_| self.notation == Notation::Regex)?;
        }
        self.open.push(self.parts);
        self.last = 0;
        (self.open.len() <= DEPTH_MAX).then_some(())
    }

    /// `)` was read.
    fn close(&mut self) -> Option<()> {
        let before = self.open.pop()?;
        // An empty group can be repeated too.
        self.last = (self.parts - before).max(1);
        Some(())
    }

    /// `{` was read: how often a part is repeated at most.
    fn times(&mut self) -> Option<u32> {
        let (counts, rest) = self.rest.split_once('}')?;
        self.rest = rest;
        let number = |it: &str| it.parse::<u32>().ok().filter(|it| *it <= REPEATS_MAX);
        match counts.split_once(',') {
            None => number(counts),
            Some((least, "")) => number(least),
            Some((least, most)) => number(most).filter(|most| number(least).is_some_and(|it| it <= *most)),
        }
    }

    /// A quantifier was read.
    fn repeat(&mut self, times: u32) -> Option<()> {
        let last = std::mem::take(&mut self.last);
        let more = last.checked_mul(times.max(1) - 1)?;
        self.parts = self.parts.checked_add(more).filter(|it| last > 0 && *it <= PARTS_MAX)?;
        // Few rather than many, which makes no difference to whether a text fits.
        if self.notation == Notation::Regex {
            self.rest = self.rest.strip_prefix('?').unwrap_or(self.rest);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(notation: Notation, plain: &[&str], others: &[&str]) {
        for pattern in plain {
            assert!(is_plain(pattern, notation), "{pattern}");
        }
        for pattern in others {
            assert!(!is_plain(pattern, notation), "{pattern}");
        }
    }

    #[test]
    fn regular_expressions_of_a_small_grammar_are_plain() {
        check(
            Notation::Regex,
            &[
                "",
                "abc",
                "^a.*b$",
                "a|b",
                "(a|(?:b+c?)*)",
                "[a-z0-9_.-]+@",
                r"\d{2,4}\.",
                "[^]a]",
                "a{3}?",
                "ä+",
            ],
            &[
                r"(a)\1", "(?=a)b", "(?<!a)b", "(?i)a", "***=a", "a**", "*a", "(", ")", "[a", "[z-a]",
                "a{300}",
            ],
        );
        check(
            Notation::Regex,
            &[
                r"\Aa\Z",
                r"\ydogs\y",
                "(?:a){2,}",
                r"[\d_]",
                r"a\u0020b",
                "[\\u0000-\\u0060b-\u{10ffff}]",
                "()*",
            ],
            &[
                "(?!)",
                r"[[:alpha:]]",
                "[[.a.]]",
                "a{2",
                "a{,2}",
                "a{4,2}",
                r"a\",
                r"\x41",
                "(a{200}){9}",
                "^*",
                r"[\d-z]",
                r"[a-\d]",
            ],
        );
    }

    #[test]
    fn so_are_those_of_similar_to() {
        check(
            Notation::Similar,
            &["%", "a_b", "(a|b)%", "[a-c]+", "a{2,3}", r"100\%", "a.b^"],
            &[r"\1", r"a\", "(?:a)", "a++", "(a", r#"a\"b\"c"#, r"[\]]"],
        );
    }
}
