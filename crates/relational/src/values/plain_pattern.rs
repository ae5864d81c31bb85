//! Patterns, documents and lists that cost little on any value and fail on none: what PostgreSQL may ask of rows before it asks the
//! policy.
//!
//! A regular expression that refers back or looks around is matched by trying, which may take longer than anyone waits, and how long
//! depends on the text. What this grammar takes is matched in one pass over the text, by an automaton of bounded size. It is narrower
//! than PostgreSQL's: what it does not know counts as not plain.
//!
//! The time of the others grows with the stored value times the argument, so long patterns and large lists are cut: what the whole asks
//! of a value, its first part asks too.
//!
//! **Cost:** one pass over the pattern, without allocation but for its open groups and for what is cut.

use std::borrow::Cow;

/// The longest pattern that stands before a policy, in bytes.
const LENGTH_MAX: usize = 256;

/// The most items of a document or a list that stands there, at all depths.
const ITEMS_MAX: usize = 32;

/// The most parts of a plain pattern, each counted as often as it is repeated.
const PARTS_MAX: u32 = 1_000;

/// The deepest nesting of groups.
const DEPTH_MAX: usize = 20;

/// PostgreSQL repeats a part no more often.
const REPEATS_MAX: u32 = 255;

/// Halves of a pattern, list or document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    /// Before the policy: it fails on no value and costs little.
    Plain,
    /// Behind the policy.
    Rest,
}

/// The notation of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notation {
    /// A regular expression, as PostgreSQL writes them.
    Regex,
    /// A pattern of `SIMILAR TO`.
    Similar,
    /// A pattern of `LIKE`.
    Like,
    /// A document that is contained in others.
    Document,
    /// A list all of whose items are looked for.
    Items,
    /// A list one of whose items is looked for.
    AnyOf,
}

/// A half that lets every value pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// A single value, or one that the argument contains.
    Value,
    /// Null: the condition has to say so.
    Null,
}

impl Notation {
    /// How a half lets every value pass.
    pub const fn passing(self) -> Passing {
        match self {
            Self::Regex | Self::Similar | Self::Like | Self::Document | Self::Items => Passing::Value,
            Self::AnyOf => Passing::Null,
        }
    }
}

/// Half of an argument in PostgreSQL's notation: the part before the policy, or the part behind it. `None` is null. Both together
/// are equivalent to the whole.
pub fn half(whole: &str, half: Half, notation: Notation) -> Option<Cow<'_, str>> {
    let is_front = half == Half::Plain;
    let kept = Cow::Borrowed(whole);
    Some(match notation {
        Notation::Regex | Notation::Similar => {
            let is_kept = (whole.len() <= LENGTH_MAX && is_plain(whole, notation)) == is_front;
            let anything = if notation == Notation::Regex { "" } else { "%" };
            if is_kept { kept } else { Cow::Borrowed(anything) }
        }
        _ if !is_front => kept,
        Notation::Like => shorten(whole),
        Notation::Document => first_items(whole, Quotes::Always).map_or(kept, Cow::Owned),
        Notation::Items => first_items(whole, Quotes::Sometimes).map_or(kept, Cow::Owned),
        Notation::AnyOf if first_items(whole, Quotes::Sometimes).is_some() => return None,
        Notation::AnyOf => kept,
    })
}

/// A pattern of `LIKE`, or the beginning of a long one: a text that matches the whole matches the beginning too.
fn shorten(pattern: &str) -> Cow<'_, str> {
    if pattern.len() <= LENGTH_MAX {
        return Cow::Borrowed(pattern);
    }
    let mut end = LENGTH_MAX;
    while !pattern.is_char_boundary(end) {
        end -= 1;
    }
    let start = &pattern[..end];
    let start = if ends_in_escape(start) { &start[..start.len() - 1] } else { start };
    Cow::Owned(format!("{start}%"))
}

/// Notations of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quotes {
    /// JSON: every string is in quotes.
    Always,
    /// An array of PostgreSQL's: texts without quotes may hold escapes.
    Sometimes,
}

/// The first items of a list with many, at all depths: of its items as many as are whole. Of an object none, as a key may come twice.
/// `None`: there are few.
fn first_items(list: &str, quotes: Quotes) -> Option<String> {
    let list = list.trim();
    let mut depth = 0_u32;
    let mut is_quoted = false;
    let mut is_escaped = false;
    let mut items = 0;
    let mut end = None;
    for (at, letter) in list.bytes().enumerate() {
        match letter {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted || quotes == Quotes::Sometimes => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' => {
                items += 1;
                end = if depth == 1 { Some(at) } else { end };
            }
            _ => {}
        }
        if items == ITEMS_MAX {
            break;
        }
    }
    if items < ITEMS_MAX {
        return None;
    }
    Some(match (list.as_bytes().first(), quotes) {
        (Some(b'{'), Quotes::Always) => "{}".to_owned(),
        (Some(b'['), Quotes::Always) => format!("{}]", &list[..end.unwrap_or(1)]),
        (Some(b'{'), Quotes::Sometimes) => format!("{}}}", &list[..end.unwrap_or(1)]),
        // An array that says where its items begin.
        _ => "{}".to_owned(),
    })
}

/// PostgreSQL's message for a `LIKE` pattern that ends in a lone escape.
pub const ENDS_IN_ESCAPE: &str = "LIKE pattern must not end with escape character";

/// True if a pattern of `LIKE` ends in an escape with nothing behind it, its only mistake.
pub fn ends_in_escape(pattern: &str) -> bool {
    pattern.bytes().rev().take_while(|it| *it == b'\\').count() % 2 == 1
}

/// True if `pattern` is plain.
fn is_plain(pattern: &str, notation: Notation) -> bool {
    Walk { rest: pattern, notation, parts: 0, last: 0, open: Vec::new() }.all().is_some()
}

/// A walk over a pattern.
struct Walk<'p> {
    rest: &'p str,
    notation: Notation,
    /// Parts of the current group.
    parts: u32,
    /// Number of parts read last, which a quantifier repeats; 0: nothing can be repeated.
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
            (_, Notation::Like | Notation::Document | Notation::Items | Notation::AnyOf) => None,
            (it, Notation::Similar) => (it != '"' && it.is_ascii_punctuation()).then(|| self.part(1))?,
            ('A' | 'Z' | 'm' | 'M' | 'y' | 'Y', Notation::Regex) => {
                self.last = 0;
                Some(())
            }
            (it, Notation::Regex) => {
                self.read_escape(it, &['d', 'D', 's', 'S', 'w', 'W']).then(|| self.part(1))?
            }
        }
    }

    /// Reads an escape behind a backslash. False unless it stands for one letter or is one of `classes`.
    fn read_escape(&mut self, letter: char, classes: &[char]) -> bool {
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
        let mut is_first = true;
        let mut before = None;
        let mut in_range = false;
        loop {
            let letter = self.next()?;
            let single = match (letter, self.notation) {
                (']', _) if !is_first => break,
                ('-', _) if !in_range && before.is_some() && !self.rest.starts_with(']') => {
                    in_range = true;
                    continue;
                }
                // Names of classes and letters, and escapes that `SIMILAR TO` treats differently.
                ('[', _) => return None,
                ('\\', Notation::Regex) => {
                    let escaped = self.next()?;
                    if !self.read_escape(escaped, &['d', 's', 'w']) {
                        return None;
                    }
                    // A class is no end of a range.
                    let is_class = matches!(escaped, 'd' | 's' | 'w');
                    if is_class && (in_range || self.rest.starts_with('-')) {
                        return None;
                    }
                    Some(escaped).filter(|it| it.is_ascii_punctuation())
                }
                ('\\', _) => return None,
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

    fn front(whole: &str, notation: Notation) -> Option<String> {
        half(whole, Half::Plain, notation).map(Cow::into_owned)
    }

    #[test]
    fn long_patterns_are_cut_before_the_policy() {
        let long = format!("{}\\\\%x", "ä".repeat(127));
        assert_eq!(front("a\\%", Notation::Like).unwrap(), "a\\%");
        assert_eq!(front(&long, Notation::Like).unwrap(), format!("{}\\\\%", "ä".repeat(127)));
        let odd = format!("{}\\%{}", "a".repeat(255), "b".repeat(9));
        assert_eq!(front(&odd, Notation::Like).unwrap(), format!("{}%", "a".repeat(255)));
        assert_eq!(half(&odd, Half::Rest, Notation::Like).unwrap(), odd);
        let regex = "ab".repeat(200);
        assert_eq!(front(&regex, Notation::Regex).unwrap(), "");
        assert_eq!(half(&regex, Half::Rest, Notation::Regex).unwrap(), regex);
        assert_eq!(half("ab", Half::Rest, Notation::Similar).unwrap(), "%");
    }

    #[test]
    fn large_documents_and_lists_are_cut_to_their_first_items() {
        let items = |item: &str, count: usize| vec![item; count].join(",");
        let list = format!("[{}]", items("1", 100));
        assert_eq!(front(&list, Notation::Document).unwrap(), format!("[{}]", items("1", 32)));
        assert_eq!(half(&list, Half::Rest, Notation::Document).unwrap(), list);
        let few = format!("[{}]", items("\",[\\\"\"", 32));
        assert_eq!(front(&few, Notation::Document).unwrap(), few);
        let deep = format!("[[1,2],[{}]]", items("1", 100));
        assert_eq!(front(&deep, Notation::Document).unwrap(), "[[1,2]]");
        assert_eq!(front(&format!("[{deep}]"), Notation::Document).unwrap(), "[]");
        assert_eq!(front(&format!("{{\"a\":{list}}}"), Notation::Document).unwrap(), "{}");
        assert_eq!(
            front(&format!("{{{}}}", items("a\\,", 40)), Notation::Items).unwrap(),
            format!("{{{}}}", items("a\\,", 32))
        );
        assert_eq!(front(&format!("[2:99]={{{}}}", items("1", 98)), Notation::Items).unwrap(), "{}");
        assert_eq!(front("{a,b}", Notation::AnyOf).unwrap(), "{a,b}");
        assert_eq!(front(&format!("{{{}}}", items("a", 40)), Notation::AnyOf), None);
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
