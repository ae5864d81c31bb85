//! Necessary trigrams of a regular expression, for an index of trigrams: any three letters in a row.
//!
//! `/^pa.*(st|nt)a$/` fits only texts that hold `sta` or `nta`, so an index finds the few rows that are worth trying. What is
//! asked never leaves out a text that fits; an expression of which nothing is known asks nothing.
//!
//! **Invariant:** what is asked is quoted; it has at most `PHRASES_MAX` phrases.
//!
//! **Cost:** the pattern is parsed once and walked once. The parser bounds its depth, so the walk may recurse.
//! Source: R. Cox, "Regular Expression Matching with a Trigram Index", 2012.

use crate::values::text_search;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Maximum number of texts that a part of a pattern may stand for; larger sets are cut.
const TEXTS_MAX: usize = 32;

/// The most letters of a text that is asked.
const LETTERS_MAX: usize = 32;

/// A class of more letters is any letter.
const CLASS_MAX: usize = 8;

/// Letters of a trigram, the minimum for the index.
const LETTERS_MIN: usize = 3;

/// The most texts that are asked for together.
const PHRASES_MAX: usize = 128;

/// The deepest nesting of groups.
const DEPTH_MAX: u32 = 50;

/// Notations of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Written {
    /// A regular expression: `/pattern/flags`.
    Pattern,
    /// Consecutive words, compared by their stems.
    Sequence,
}

/// True if an index of trigrams can narrow down the texts that match `text`.
pub fn narrows(text: &str, written: Written) -> bool {
    question(text, written).is_some()
}

/// The question to SQLite's index that every text answers that fits `text`; `None`: any text may fit.
pub fn question(text: &str, written: Written) -> Option<String> {
    let pattern = match written {
        Written::Pattern => text_search::pattern(text)?,
        Written::Sequence => text_search::sequence(text),
    };
    let parsed =
        ParserBuilder::new().nest_limit(DEPTH_MAX).dot_matches_new_line(true).build().parse(&pattern);
    let mut left = PHRASES_MAX;
    let mut out = String::new();
    part(&parsed.ok()?).need()?.write(&mut left, &mut out)?;
    Some(out)
}

/// Requirement on a matching text.
enum Need {
    Text(String),
    All(Vec<Need>),
    Any(Vec<Need>),
}

impl Need {
    /// `None`: it takes more phrases than are left.
    fn write(&self, left: &mut usize, out: &mut String) -> Option<()> {
        match self {
            Self::Text(text) => {
                *left = left.checked_sub(1)?;
                out.push('"');
                out.push_str(&text.replace('"', "\"\""));
                out.push('"');
            }
            Self::Any(any) => Self::list(any, " OR ", out, |it, out| it.write(left, out))?,
            Self::All(all) => {
                // Requirements beyond the limit are dropped.
                let mut asked = Vec::new();
                for it in all {
                    let mut rest = *left;
                    let mut text = String::new();
                    if it.write(&mut rest, &mut text).is_some() {
                        *left = rest;
                        asked.push(text);
                    }
                }
                Self::list(&asked, " AND ", out, |it, out| {
                    out.push_str(it);
                    Some(())
                })?;
            }
        }
        Some(())
    }

    fn list<T>(
        parts: &[T],
        word: &str,
        out: &mut String,
        mut write: impl FnMut(&T, &mut String) -> Option<()>,
    ) -> Option<()> {
        let (first, rest) = parts.split_first()?;
        out.push('(');
        write(first, out)?;
        for it in rest {
            out.push_str(word);
            write(it, out)?;
        }
        out.push(')');
        Some(())
    }
}

/// Known properties of the texts that a part of a pattern matches.
enum Part {
    /// The texts are among these.
    Among(Vec<String>),
    /// The texts contain the needed trigrams, if any are needed.
    Holds(Option<Need>),
}

impl Part {
    fn need(self) -> Option<Need> {
        match self {
            Self::Holds(need) => need,
            Self::Among(texts) => {
                let is_known = |it: &String| it.chars().count() >= LETTERS_MIN && !it.contains('\0');
                let all_known = !texts.is_empty() && texts.iter().all(is_known);
                all_known.then(|| Need::Any(texts.into_iter().map(Need::Text).collect()))
            }
        }
    }
}

fn part(hir: &Hir) -> Part {
    let nothing = || Part::Among(vec![String::new()]);
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => nothing(),
        HirKind::Literal(it) => {
            let text = std::str::from_utf8(&it.0).ok();
            text.map_or(Part::Holds(None), |it| concat(it.chars().map(|it| Part::Among(vec![it.into()]))))
        }
        HirKind::Class(class) => letters(class).map_or(Part::Holds(None), Part::Among),
        HirKind::Repetition(it) if it.min == 0 => Part::Holds(None),
        HirKind::Repetition(it) if it.max == Some(1) => part(&it.sub),
        // At least one repetition; texts before and after it are not adjacent.
        HirKind::Repetition(it) => Part::Holds(part(&it.sub).need()),
        HirKind::Capture(it) => part(&it.sub),
        HirKind::Concat(parts) => concat(parts.iter().map(part)),
        HirKind::Alternation(parts) => alternation(parts.iter().map(part).collect()),
    }
}

/// The letters of a class of few.
fn letters(class: &Class) -> Option<Vec<String>> {
    let mut out = Vec::new();
    let Class::Unicode(class) = class else { return None };
    for range in class.iter() {
        for letter in range.start()..=range.end() {
            if out.len() == CLASS_MAX {
                return None;
            }
            out.push(letter.into());
        }
    }
    Some(out)
}

/// Parts one after another: neighbours of which all texts are known are one.
fn concat(parts: impl Iterator<Item = Part>) -> Part {
    let mut all = Vec::new();
    let mut is_cut = false;
    let mut run = vec![String::new()];
    for part in parts {
        match part {
            Part::Among(next) => {
                let joined = concat_texts(&run, &next);
                is_cut |= joined.is_none();
                if let Some(joined) = joined {
                    run = joined;
                } else {
                    all.extend(Part::Among(std::mem::replace(&mut run, next)).need());
                }
            }
            Part::Holds(need) => {
                is_cut = true;
                all.extend(Part::Among(std::mem::replace(&mut run, vec![String::new()])).need());
                all.extend(need);
            }
        }
    }
    if !is_cut {
        return Part::Among(run);
    }
    all.extend(Part::Among(run).need());
    Part::Holds((!all.is_empty()).then_some(Need::All(all)))
}

/// Each text of `run` followed by each of `next`; `None` if the result would be too large.
fn concat_texts(run: &[String], next: &[String]) -> Option<Vec<String>> {
    let is_long = |it: &[String]| it.iter().map(|it| it.chars().count()).max().unwrap_or(0);
    if run.len() * next.len() > TEXTS_MAX || is_long(run) + is_long(next) > LETTERS_MAX {
        return None;
    }
    Some(run.iter().flat_map(|a| next.iter().map(move |b| format!("{a}{b}"))).collect())
}

fn alternation(parts: Vec<Part>) -> Part {
    let mut texts = Vec::new();
    for part in &parts {
        match part {
            Part::Among(more) if texts.len() + more.len() <= TEXTS_MAX => texts.extend(more.iter().cloned()),
            Part::Among(_) | Part::Holds(_) => {
                let needs: Option<Vec<Need>> = parts.into_iter().map(Part::need).collect();
                return Part::Holds(needs.map(Need::Any));
            }
        }
    }
    Part::Among(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let asked = question(text, Written::Pattern);
        assert_eq!(asked.as_deref().unwrap_or("anything"), expected, "{text}");
    }

    #[test]
    fn what_every_fitting_text_holds_is_asked() {
        check("/Berlin/", "(\"Berlin\")");
        check("/^Ber.*lin$/", "((\"Ber\") AND (\"lin\"))");
        check("/a(bc|de)f/", "(\"abcf\" OR \"adef\")");
        check("/colou?r/", "((\"colo\"))");
        check("/(abc)+x/", "((\"abc\"))");
        check("/abc|.*def/", "((\"abc\") OR ((\"def\")))");
        check("/say \"hi\"/", "(\"say \"\"hi\"\"\")");
        check("/ab[cd]/", "(\"abc\" OR \"abd\")");
        let any_case = ["ABC", "ABc", "AbC", "Abc", "aBC", "aBc", "abC", "abc"].map(|it| format!("\"{it}\""));
        check("/abc/i", &format!("({})", any_case.join(" OR ")));
    }

    #[test]
    fn what_may_fit_anything_asks_nothing() {
        for text in
            ["/ab/", "/.*/", "/^b.*n$/i", "/abc|d/", "/[a-z]{3}/", "/(abc)?/", "/(/", "abc", "/\\x00abc/"]
        {
            check(text, "anything");
        }
    }

    #[test]
    fn a_question_is_bounded() {
        let long: String = (0..1000).map(|it| format!("{it:04}.")).collect();
        let asked = question(&format!("/{long}/"), Written::Pattern).unwrap_or_default();
        assert_eq!(asked.matches("AND").count() + 1, PHRASES_MAX);
        let many: Vec<String> = (0..1000).map(|it| format!("{it:04}")).collect();
        check(&format!("/{}/", many.join("|x*")), "anything");
    }

    #[test]
    fn words_in_a_row_are_asked_in_any_case() {
        let asked = question("fox", Written::Sequence).unwrap_or_default();
        assert_eq!(asked.matches("OR").count(), 7, "{asked}");
        assert_eq!(question("it", Written::Sequence), None);
    }
}
