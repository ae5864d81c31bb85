//! Questions for words: what a client asks a text for becomes a question to an index, or a regular expression.
//!
//! **Invariant:** nothing of a client's text but letters and digits is ever part of a question: words are taken out of it and
//! quoted.
//!
//! **Cost:** one pass over the text, one new text.

use crate::relational::Words;

/// How an index is asked.
#[derive(Debug)]
pub(crate) struct Tongue {
    quote: char,
    and: &'static str,
    or: &'static str,
    /// A question that no text answers.
    none: &'static str,
}

/// SQLite's full-text index.
pub(crate) const FTS5: Tongue = Tongue { quote: '"', and: " AND ", or: " OR ", none: "\"\"" };
/// PostgreSQL's `to_tsquery`.
pub(crate) const TSQUERY: Tongue = Tongue { quote: '\'', and: " & ", or: " | ", none: "" };

/// What to say of a pattern that is not written as one.
pub(crate) const NO_PATTERN: &str = "a regular expression is written between slashes, as in `/^a.*z$/i`";

/// Words that say nothing by themselves in English, as PostgreSQL and others leave them out of a text's words.
const EMPTY: [&str; 32] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no",
    "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to",
    "was", "with",
];

/// The question whether all words of `text` are there, or one.
pub(crate) fn question(text: &str, all: bool, kind: Words, tongue: &Tongue) -> String {
    let is_said = |word: &&str| kind != Words::Stems || !EMPTY.contains(&word.to_lowercase().as_str());
    let mut out = String::new();
    for word in words(text).filter(is_said) {
        if !out.is_empty() {
            out.push_str(if all { tongue.and } else { tongue.or });
        }
        out.push(tongue.quote);
        out.push_str(word);
        out.push(tongue.quote);
    }
    if out.is_empty() { tongue.none.to_owned() } else { out }
}

/// `/pattern/flags` as one expression; the only flag is `i`.
pub(crate) fn pattern(text: &str) -> Option<String> {
    let (pattern, flags) = text.strip_prefix('/')?.rsplit_once('/')?;
    match flags {
        "" => Some(pattern.to_owned()),
        "i" => Some(format!("(?i){pattern}")),
        _ => None,
    }
}

/// The expression of the words of `text` one after another, in any case; of none the one that nothing fits.
pub(crate) fn sequence(text: &str) -> String {
    let words: Vec<&str> = words(text).collect();
    match words.as_slice() {
        [] => "a^".to_owned(),
        _ => format!("(?i)(^|[^[:alnum:]]){}($|[^[:alnum:]])", words.join("[^[:alnum:]]+")),
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, all: bool, kind: Words, fts5: &str, tsquery: &str) {
        let asked = [&FTS5, &TSQUERY].map(|tongue| question(text, all, kind, tongue));
        assert_eq!(asked, [fts5, tsquery], "{text}");
    }

    #[test]
    fn words_are_quoted_and_nothing_else_is_asked() {
        check("Big ones", true, Words::Plain, "\"Big\" AND \"ones\"", "'Big' & 'ones'");
        check(
            "a\" OR name:b*",
            false,
            Words::Plain,
            "\"a\" OR \"OR\" OR \"name\" OR \"b\"",
            "'a' | 'OR' | 'name' | 'b'",
        );
        check("it's", true, Words::Plain, "\"it\" AND \"s\"", "'it' & 's'");
        check(" ,", true, Words::Plain, "\"\"", "");
        check("The house of cards", true, Words::Stems, "\"house\" AND \"cards\"", "'house' & 'cards'");
    }

    #[test]
    fn a_pattern_stands_between_slashes() {
        assert_eq!(pattern("/a.b/").as_deref(), Some("a.b"));
        assert_eq!(pattern("/a/b/i").as_deref(), Some("(?i)a/b"));
        assert_eq!([pattern("a"), pattern("/a"), pattern("/a/g")], [None, None, None]);
    }

    #[test]
    fn words_follow_each_other_whatever_stands_between() {
        assert_eq!(sequence("quick fox"), "(?i)(^|[^[:alnum:]])quick[^[:alnum:]]+fox($|[^[:alnum:]])");
        assert_eq!(sequence("()"), "a^");
    }
}
