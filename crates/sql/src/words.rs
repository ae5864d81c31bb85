//! Questions for words: what a client asks a text for becomes a question to an index, or a regular expression.
//!
//! **Invariant:** nothing of a client's text but letters and digits is ever part of a question: words are taken out of it and
//! quoted.
//!
//! **Cost:** one pass over the text, one new text.

use crate::relational::Words;
use regex::Regex;
use std::sync::LazyLock;

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

/// Words that say nothing by themselves in English: those that PostgreSQL leaves out of a text's words.
const EMPTY: &str = "i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers \
    herself it its itself they them their theirs themselves what which who whom this that these those am is \
    are was were be been being have has had having do does did doing a an the and but if or because as until \
    while of at by for with about against between into through during before after above below to from up \
    down in out on off over under again further then once here there when where why how all any both each few \
    more most other some such no nor not only own same so than too very s t can will just don should now";

/// What splits words in ASCII: PostgreSQL's parser would take some of it for parts of hosts, files, numbers.
const SPLITTING: &str = r##"!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~"##;

/// PostgreSQL's words of `text`, an expression: what an index keeps and what is asked for have to be the same.
#[must_use]
pub fn vector(kind: Words, text: &str) -> String {
    let spaces = " ".repeat(SPLITTING.len() - 1);
    let language = language(kind);
    format!("to_tsvector('{language}', translate({text}, '{SPLITTING}', '{spaces}'))")
}

/// PostgreSQL's name of the dictionary.
pub(crate) const fn language(kind: Words) -> &'static str {
    match kind {
        Words::Plain | Words::Trigrams => "simple",
        Words::Stems => "english",
    }
}

/// The question whether all words of `text` are there, or one.
pub(crate) fn question(text: &str, all: bool, kind: Words, tongue: &Tongue) -> String {
    let is_said = |word: &&str| kind != Words::Stems || !is_empty(word);
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

fn is_empty(word: &str) -> bool {
    EMPTY.split(' ').any(|it| word.eq_ignore_ascii_case(it))
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

/// A letter that is no part of a word.
const BETWEEN: &str = r"[^\p{L}\p{N}\p{M}\p{Co}]";

/// The most words that are asked for one after another.
const SEQUENCE_MAX: usize = 100;

/// The expression of the words of `text` one after another, in any case; of none the one that nothing fits.
pub(crate) fn sequence(text: &str) -> String {
    let words: Vec<&str> = words(text).collect();
    match words.as_slice() {
        [] => "a^".to_owned(),
        _ => format!("(?i)(?:^|{BETWEEN}){}(?:$|{BETWEEN})", words.join(&format!("{BETWEEN}+"))),
    }
}

/// Whether so many words can be asked for one after another.
pub(crate) fn is_short(text: &str) -> bool {
    words(text).nth(SEQUENCE_MAX).is_none()
}

/// Whether the words of `text` fit the expressions `asked` somewhere, one after another.
pub(crate) fn follow(text: &str, asked: &[Regex]) -> bool {
    let own: Vec<&str> = words(text).collect();
    let fit = |own: &[&str]| own.iter().zip(asked).all(|(own, asked)| asked.is_match(own));
    !asked.is_empty() && own.windows(asked.len()).any(fit)
}

/// Marks belong to the letter before them, as in `e` with an accent of its own.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[\p{L}\p{N}\p{M}\p{Co}]+").ok());
    WORD.iter().flat_map(move |it| it.find_iter(text)).map(|it| it.as_str())
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
        check("e\u{301}tude", true, Words::Plain, "\"e\u{301}tude\"", "'e\u{301}tude'");
        check(
            "joe@example.com",
            true,
            Words::Plain,
            "\"joe\" AND \"example\" AND \"com\"",
            "'joe' & 'example' & 'com'",
        );
        check("my Own house", true, Words::Stems, "\"house\"", "'house'");
        check("The house of cards", true, Words::Stems, "\"house\" AND \"cards\"", "'house' & 'cards'");
    }

    #[test]
    fn every_letter_that_splits_has_its_space() {
        let signs: Vec<char> = (0..128_u8).map(char::from).filter(char::is_ascii_punctuation).collect();
        assert_eq!(SPLITTING.replace("''", "'"), String::from_iter(signs));
        let vector = vector(Words::Stems, "t");
        assert!(vector.starts_with("to_tsvector('english', translate(t, '!"), "{vector}");
        assert!(vector.ends_with(&format!("', '{}'))", " ".repeat(32))), "{vector}");
    }

    #[test]
    fn a_pattern_stands_between_slashes() {
        assert_eq!(pattern("/a.b/").as_deref(), Some("a.b"));
        assert_eq!(pattern("/a/b/i").as_deref(), Some("(?i)a/b"));
        assert_eq!([pattern("a"), pattern("/a"), pattern("/a/g")], [None, None, None]);
    }

    #[test]
    fn words_follow_each_other_whatever_stands_between() {
        let asked: Vec<Regex> = ["quick", "fox"].map(|it| Regex::new(&format!("(?i)^{it}$")).unwrap()).into();
        for (text, fits) in [
            ("the quick\u{2013}FOX", true),
            ("quick_fox", true),
            ("quick brown fox", false),
            ("quick fo\u{301}x", false),
            ("fox quick", false),
            ("quick", false),
        ] {
            let expression = Regex::new(&sequence("Quick, fox")).unwrap();
            assert_eq!([follow(text, &asked), expression.is_match(text)], [fits; 2], "{text}");
        }
        assert_eq!(sequence("()"), "a^");
        assert!(!follow("quick", &[]));
        assert!(is_short(&"a ".repeat(100)) && !is_short(&"a ".repeat(101)));
    }
}
