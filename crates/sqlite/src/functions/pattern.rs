//! Patterns of `_like`, `_similar` and `_regex`, compiled.
//!
//! Patterns of `_like` are matched part by part (`super::like`). All others become regular expressions of linear time, bounded in size.
//! Only look-around and back references, which those cannot express, are matched by backtracking, within a bound of steps.

use crate::functions::like::Like;
use crate::functions::steps::{Steps, Stopped};
use regex::{Regex, RegexBuilder};
use std::borrow::Cow;
use weir_relational::values::regular_expression;

/// The most bytes a compiled pattern may take.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// The most bytes of a pattern: longer ones could not be compiled within the bound, and finding that out takes long.
const PATTERN_TEXT_BYTES_MAX: usize = 1 << 15;

/// The most steps back that one text may cost. Some ten million steps of any kind are a second.
const STEPS_BACK_MAX: usize = 100_000;

/// Parts of a compiled pattern that is matched by backtracking.
const PARTS_MAX: usize = 10_000;

/// A pattern that cannot be compiled or matched: the client's mistake.
#[derive(Debug)]
pub(crate) struct BadPattern(pub(crate) String);

impl std::fmt::Display for BadPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for BadPattern {}

/// Why a text was not matched.
#[derive(Debug)]
pub(crate) enum Unmatched {
    /// The pattern takes too many steps.
    Excess(BadPattern),
    /// The statement has to stop.
    Stopped,
}

impl From<Stopped> for Unmatched {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

/// The language of a pattern.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Pattern of `_like`.
    Like,
    /// Pattern of `_similar`.
    Similar,
    /// Pattern of `_regex`.
    Regex,
}

/// Why `pattern` would be refused on every row; `None`: it is none to refuse. Case is ignored if `fold`.
pub fn complaint(pattern: &str, kind: Kind, fold: bool) -> Option<String> {
    Pattern::compile(pattern, kind, fold).err().map(|BadPattern(words)| words)
}

/// A pattern, compiled.
#[derive(Debug)]
pub(crate) enum Pattern {
    /// Part by part.
    Like(Box<Like>),
    /// In time linear in the text.
    Linear(Regex),
    /// An expression that needs backtracking.
    Backtracking(fancy_regex::Regex),
}

impl Pattern {
    /// Compiles `pattern`; case is ignored if `fold`.
    pub(crate) fn compile(pattern: &str, kind: Kind, fold: bool) -> Result<Self, BadPattern> {
        if pattern.len() > PATTERN_TEXT_BYTES_MAX {
            return Err(too_long());
        }
        if let (Kind::Regex, Some(words)) = (kind, regular_expression::find_unsupported(pattern)) {
            return Err(BadPattern(format!("invalid regular expression: {words}")));
        }
        if matches!(kind, Kind::Like) && !fold {
            return Like::compile(pattern).map(|it| Self::Like(Box::new(it))).ok_or_else(lone_escape);
        }
        let translated: Cow<'_, str> = match kind {
            Kind::Regex => regular_expression::without_postgres_places(pattern),
            Kind::Like => wildcards(pattern, false)?.into(),
            Kind::Similar => wildcards(pattern, true)?.into(),
        };
        match kind {
            Kind::Regex if regular_expression::needs_backtracking(&translated) => {
                backtracking(&translated, fold)
            }
            Kind::Regex => linear(&translated, fold).map(Self::Linear),
            // Offsets in the translated pattern would mean nothing to the client.
            Kind::Like | Kind::Similar => linear(&translated, fold).map(Self::Linear).map_err(placeless),
        }
    }

    /// True if `text` matches.
    pub(crate) fn is_match(&self, text: &str, steps: &mut Steps<'_>) -> Result<bool, Unmatched> {
        match self {
            Self::Like(like) => Ok(like.is_match(text, steps)?),
            Self::Linear(regex) => Ok(regex.is_match(text)),
            Self::Backtracking(regex) => regex.is_match(text).map_err(|_| {
                let words = "the pattern takes too many steps: its look-around and back references have to be simpler";
                Unmatched::Excess(BadPattern(words.into()))
            }),
        }
    }
}

fn lone_escape() -> BadPattern {
    BadPattern("LIKE pattern must not end with escape character".into())
}

fn placeless(BadPattern(words): BadPattern) -> BadPattern {
    BadPattern(words.split(": ").next().unwrap_or_default().into())
}

fn too_long() -> BadPattern {
    BadPattern("the pattern is too long".into())
}

/// A regular expression without look-around and back references.
fn linear(pattern: &str, fold: bool) -> Result<Regex, BadPattern> {
    RegexBuilder::new(pattern)
        .case_insensitive(fold)
        .dot_matches_new_line(true)
        .size_limit(PATTERN_BYTES_MAX)
        .dfa_size_limit(PATTERN_BYTES_MAX)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => too_long(),
            _ => BadPattern(regular_expression::complaint(pattern)),
        })
}

fn backtracking(pattern: &str, fold: bool) -> Result<Pattern, BadPattern> {
    fancy_regex::RegexBuilder::new(pattern)
        .case_insensitive(fold)
        .dot_matches_new_line(true)
        .backtrack_limit(STEPS_BACK_MAX)
        .max_prog_size(PARTS_MAX)
        .delegate_size_limit(PATTERN_BYTES_MAX)
        .delegate_dfa_size_limit(PATTERN_BYTES_MAX)
        .build()
        .map(Pattern::Backtracking)
        .map_err(|error| {
            let part = match &error {
                fancy_regex::Error::CompileError(error) => match &**error {
                    fancy_regex::CompileError::InnerError(error) => error.syntax_error(),
                    _ => None,
                },
                _ => None,
            };
            let cause = part.map(regular_expression::cause_without_place);
            let cause = cause.unwrap_or_else(|| regular_expression::one_line(&error.to_string()).to_owned());
            BadPattern(format!("invalid regular expression: {cause}"))
        })
}

/// `%` and `_` as a regular expression over the whole text; with `similar`, SQL's `|*+?{}()[]` keep their meaning.
fn wildcards(pattern: &str, similar: bool) -> Result<String, BadPattern> {
    let mut out = String::from("\\A(?:");
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '%' => out.push_str(".*"),
            '_' => out.push('.'),
            '\\' => match letters.next() {
                Some(literal) => push_literal(literal, &mut out),
                None => return Err(lone_escape()),
            },
            '|' | '*' | '+' | '?' | '{' | '}' | ')' if similar => out.push(letter),
            // A plain group: without this `(?` would be read as an option.
            '(' if similar => out.push_str("(?:"),
            '[' if similar => class(&mut letters, &mut out),
            literal => push_literal(literal, &mut out),
        }
    }
    out.push_str(")\\z");
    Ok(out)
}

/// A bracket expression: letters, ranges, `[:names:]`, negated after `^`. Wildcards are letters here.
fn class(letters: &mut std::str::Chars<'_>, out: &mut String) {
    out.push('[');
    if letters.as_str().starts_with('^') {
        out.extend(letters.next());
    }
    let mut first = true;
    let mut range = false;
    while let Some(letter) = letters.next() {
        // Two hyphens in a row would take one class out of another.
        let hyphen = letter == '-' && !range;
        match letter {
            ']' if !first => return out.push(']'),
            '[' if letters.as_str().starts_with(':') => {
                out.push('[');
                out.extend(letters.by_ref().take_while(|&it| it != ']'));
                out.push(']');
            }
            '\\' => letters.next().into_iter().for_each(|it| push_literal(it, out)),
            '-' if hyphen => out.push('-'),
            literal => push_literal(literal, out),
        }
        (first, range) = (false, hyphen);
    }
}

fn push_literal(letter: char, out: &mut String) {
    let mut bytes = [0; 4];
    out.push_str(&regex::escape(letter.encode_utf8(&mut bytes)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_match(pattern: &Pattern, text: &str) -> Result<bool, BadPattern> {
        pattern.is_match(text, &mut Steps::new(&|| false)).map_err(|it| match it {
            Unmatched::Excess(words) => words,
            Unmatched::Stopped => panic!("nothing stops it"),
        })
    }

    fn check(pattern: &str, text: &str, expected: Result<bool, &str>) {
        let found = Pattern::compile(pattern, Kind::Regex, true).and_then(|it| is_match(&it, text));
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{pattern} on {text}"),
            (Err(BadPattern(words)), Err(part)) => {
                assert!(words.contains(part), "{pattern}: {words}");
                assert!(crate::error::is_pattern_complaint(&words), "{pattern}: {words}");
            }
            (found, expected) => panic!("{pattern} on {text}: {found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn what_postgresql_says_of_the_surroundings_holds_here_too() {
        check("^(?!.*live).*rock", "Hard Rock", Ok(true));
        check("^(?!.*live).*rock", "Rock, LIVE", Ok(false));
        check("(?=.*a)(?=.*b)^.{3}$", "bxA", Ok(true));
        check("[[:<:]]roll[[:>:]]", "Rock and roll", Ok(true));
        check("[[:<:]]ock", "Rock and roll", Ok(false));
        check("rock(?= and)", "Rock and roll", Ok(true));
        check("rock(?! and)", "Rock and roll", Ok(false));
        check("(?<=hard )rock", "Hard Rock", Ok(true));
        check("(?<!hard |soft )rock", "Soft Rock", Ok(false));
        check("(?<=h.*)rock", "hard, hard rock", Ok(true));
        check(r"(\w)\1", "Rook", Ok(true));
        check(r"(\w)\1", "Aa", Ok(true));
        check(r"^(.)(.).*\2\1$", "abxba", Ok(true));
        check(r"\mrock\M", "hard rock", Ok(true));
        check(r"\mrock\M", "rocket", Ok(false));
        check(r"\yrock\y(?!.*\Ylive)\Z", "a rock", Ok(true));
        check("(?=.)\n?x", "\nx", Ok(true));
        check("(?i)A(?!c)", "ab", Ok(true));
    }

    #[test]
    fn what_neither_takes_is_told() {
        check("(?=a", "a", Err("invalid regular expression: "));
        check(r"(?!\1)a", "a", Err("invalid regular expression: "));
        check("(?<x>a)(?=b", "ab", Err("invalid regular expression: "));
        check("(a", "a", Err("invalid regular expression: unclosed group, at byte 0"));
        check("(?>a)(?=b)", "ab", Err("invalid regular expression: unrecognized flag, at byte 2"));
        check(r"(?=a)\g<0>", "a", Err("invalid regular expression: "));
        check(r"(a)(?=b)\k<1>", "a", Err("invalid regular expression: "));
        check(&format!("(?=a){}", "(".repeat(5000)), "a", Err("invalid regular expression: "));
        check("(?=(a{1000}){1000})", "a", Err("invalid regular expression: "));
    }

    #[test]
    fn what_only_postgresql_takes_is_told_with_what_to_write() {
        check("a(?#c)b", "ab", Err("`(?#`, a comment, is not supported: leave it out"));
        check("(?n)a", "a", Err("the flag `n` is not supported: write `(?m-s)`"));
        check("(?iq)a.b", "a.b", Err(r"the flag `q` is not supported: write `\` before each letter"));
        check("(?x-t:a)", "a", Err("unrecognized flag"));
        check("***=a.b", "a.b", Err(r"`***=` is not supported: write `\` before each letter"));
        check("***:a", "a", Err("`***:` is not supported: leave it out"));
        let range = r"a letter stands at both ends of a range: write `[a\d]` for either of two";
        check(r"[a-\d]", "a", Err(range));
        check(r"[a-\d](?=x)", "ax", Err(range));
        // Letters in a class and after a backslash are letters.
        check("[(?#]x", "#x", Ok(true));
        check(r"\(?#", "(#", Ok(true));
        check("(?:a)(?i-s:b)(?P<n>c)", "aBc", Ok(true));
    }

    #[test]
    fn steps_back_are_bounded() {
        check(r"^(a|aa)+\1b$", &"a".repeat(60), Err("the pattern takes too many steps"));
        check(r"((a*)*)*\1b", &"a".repeat(60), Err("the pattern takes too many steps"));
        check("(?=a)x", &"a".repeat(20_000), Ok(false));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn looking_around_is_asking_twice(one in "[ab]{1,3}", other in "[ab]{1,3}", text in "[abAB]{0,12}") {
            let found = |pattern: &str| is_match(&Pattern::compile(pattern, Kind::Regex, true).unwrap(), &text).unwrap();
            let has_one = found(&one);
            let has_other = found(&other);
            prop_assert_eq!(found(&format!("^(?=.*{one})(?=.*{other})")), has_one && has_other);
            prop_assert_eq!(found(&format!("^(?=.*{one})(?!.*{other})")), has_one && !has_other);
            prop_assert_eq!(found(&format!("(?<={one}){other}")), found(&format!("{one}{other}")));
            prop_assert_eq!(found(&format!("({one})\\1")), found(&format!("{one}{one}")));
        }

        #[test]
        fn any_pattern_is_compiled_or_refused(pattern in "[(?=!<:>)ab*+{}\\[\\]0-9\\\\kgyZ|,^$-]{0,12}", text in "[ab1]{0,10}") {
            if let Ok(compiled) = Pattern::compile(&pattern, Kind::Regex, false) {
                let _ = is_match(&compiled, &text);
            }
        }
    }
}
