//! Turns a client's words into a query of a full-text index, or into a regular expression.
//!
//! Words are those of a folded text (`word_form`), in the index as in the question. SQLite's index knows the words of a text that
//! another program wrote as they are, so a question to it asks for both.
//!
//! **Invariant:** nothing of a client's text but letters and digits is ever part of a question: words are taken out of it and
//! quoted.
//!
//! **Cost:** one pass over the text, one new text.

use crate::values::word_form::{self, fold, separate};
use hashbrown::{HashMap, HashSet};
use regex::Regex;
use rust_stemmers::{Algorithm, Stemmer};
use std::sync::LazyLock;

/// Query language of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Words {
    /// Whole words, ignoring case.
    Plain,
    /// Stems of English words.
    Stems,
    /// Any three letters in a row.
    Trigrams,
}

/// Query language of an index.
#[derive(Debug)]
pub struct Tongue {
    quote: char,
    and: &'static str,
    or: &'static str,
    /// A question that no text answers.
    none: &'static str,
    /// The index may hold words as they were written.
    asks_for_written: bool,
    /// Longer words are in no index.
    word_bytes_max: usize,
}

/// SQLite's full-text index.
pub const FTS5: Tongue = Tongue {
    quote: '"',
    and: " AND ",
    or: " OR ",
    none: "\"\"",
    asks_for_written: true,
    word_bytes_max: usize::MAX,
};
/// PostgreSQL's `to_tsquery`.
pub const TSQUERY: Tongue = Tongue {
    quote: '\'',
    and: " & ",
    or: " | ",
    none: "",
    asks_for_written: false,
    word_bytes_max: WORD_BYTES_MAX,
};

/// PostgreSQL leaves longer words out of a text's words.
const WORD_BYTES_MAX: usize = 2046;

/// PostgreSQL takes no more bytes for the words of a text, each with its places.
pub const WORDS_BYTES_MAX: usize = (1 << 20) - 1;

/// Maximum number of positions kept per word, in two bytes each.
const PLACES_MAX: usize = 256;

/// No byte of a text takes more among its words: one letter of Arabic is eighteen of them in four words.
const BYTES_PER_BYTE_MAX: usize = 14;

/// The words of shorter texts never take more than [`WORDS_BYTES_MAX`].
pub const EXCESS_BYTES_MIN: usize = WORDS_BYTES_MAX / BYTES_PER_BYTE_MAX + 1;

/// Message for a pattern in the wrong notation.
pub const NO_PATTERN: &str = "a regular expression is written between slashes, as in `/^a.*z$/i`";

/// Words that say nothing by themselves in English: those that PostgreSQL leaves out of a text's words.
const EMPTY: &str = "i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers \
    herself it its itself they them their theirs themselves what which who whom this that these those am is \
    are was were be been being have has had having do does did doing a an the and but if or because as until \
    while of at by for with about against between into through during before after above below to from up \
    down in out on off over under again further then once here there when where why how all any both each few \
    more most other some such no nor not only own same so than too very s t can will just don should now";

/// PostgreSQL's words of the expression `text`: the index and the query have to use the same.
pub fn vector(kind: Words, text: &str) -> String {
    format!("to_tsvector('{}', {}({text}))", language(kind), word_form::FUNCTION)
}

/// PostgreSQL's stems of the words of `text`, an expression: as they follow each other, between spaces. Null if there are none.
pub fn stems_expression(text: &str) -> String {
    format!(
        "(SELECT ' ' || string_agg(nullif(to_tsvector('english', w.word)::text, ''), ' ' ORDER BY w.place) || ' ' \
         FROM ts_parse('default', {}) WITH ORDINALITY AS w(kind, word, place) WHERE w.kind <> 12)",
        word_form::separate_sql(text)
    )
}

/// Maximum size of the words of `text` in an index of PostgreSQL's, if it exceeds [`WORDS_BYTES_MAX`].
///
/// Each different word takes its bytes, two for each of its places and three more. Stems are no longer than their words.
pub fn excess(text: &str) -> Option<usize> {
    if text.len() < EXCESS_BYTES_MIN {
        return None;
    }
    let mut places: HashMap<String, usize> = HashMap::new();
    for word in words(&fold(text)).filter(|it| it.len() <= WORD_BYTES_MAX) {
        *places.entry(word.to_lowercase()).or_default() += 1;
    }
    let bytes = places.iter().map(|(word, places)| word.len() + 3 + 2 * places.min(&PLACES_MAX)).sum();
    (bytes > WORDS_BYTES_MAX).then_some(bytes)
}

/// PostgreSQL's name of the dictionary.
pub const fn language(kind: Words) -> &'static str {
    match kind {
        Words::Plain | Words::Trigrams => "simple",
        Words::Stems => "english",
    }
}

/// The question whether all words of `text` are there, or one.
pub fn question(text: &str, all: bool, kind: Words, tongue: &Tongue) -> String {
    let asked = question_as_written(&fold(text), all, kind, tongue);
    if !tongue.asks_for_written || text.is_ascii() {
        return asked;
    }
    let written = question_as_written(text, all, kind, tongue);
    let is_same = written.to_lowercase() == asked.to_lowercase() || written == tongue.none;
    if is_same { asked } else { format!("({written}){}({asked})", tongue.or) }
}

fn question_as_written(text: &str, all: bool, kind: Words, tongue: &Tongue) -> String {
    let is_short = |word: &&str| word.len() <= tongue.word_bytes_max;
    if all && !indexable_words(text, kind).all(|it| is_short(&it)) {
        return tongue.none.to_owned();
    }
    let mut out = String::new();
    for word in indexable_words(text, kind).filter(is_short) {
        if !out.is_empty() {
            out.push_str(if all { tongue.and } else { tongue.or });
        }
        out.push_str(&quote_word(word, tongue));
    }
    if out.is_empty() { tongue.none.to_owned() } else { out }
}

/// A query per word of `text`: whether the word is there.
pub fn questions(text: &str, kind: Words, tongue: &Tongue) -> Vec<String> {
    let mut seen = HashSet::new();
    let folded = fold(text);
    let words = indexable_words(&folded, kind).filter(|word| seen.insert(word.to_lowercase()));
    let question = |word: &str| {
        if word.len() <= tongue.word_bytes_max { quote_word(word, tongue) } else { tongue.none.to_owned() }
    };
    words.map(question).collect()
}

fn quote_word(word: &str, tongue: &Tongue) -> String {
    format!("{0}{word}{0}", tongue.quote)
}

/// Words of `text` that an index contains: an index of stems has no stop words.
fn indexable_words(text: &str, kind: Words) -> impl Iterator<Item = &str> {
    words(text).filter(move |word| kind != Words::Stems || !is_empty(word))
}

fn is_empty(word: &str) -> bool {
    EMPTY.split(' ').any(|it| word.eq_ignore_ascii_case(it))
}

/// `/pattern/flags` as one expression; the only flag is `i`.
pub fn pattern(text: &str) -> Option<String> {
    let (pattern, flags) = text.strip_prefix('/')?.rsplit_once('/')?;
    match flags {
        "" => Some(pattern.to_owned()),
        "i" => Some(format!("(?i){pattern}")),
        _ => None,
    }
}

/// The most words that are asked for one after another.
const SEQUENCE_MAX: usize = 100;

/// An expression that fits every text whose words have the stems of those of `text`, one after another: of which it knows how
/// they begin.
pub fn sequence(text: &str) -> String {
    let begins: Vec<String> = stems(text)
        .into_iter()
        .filter(|it| it.is_ascii())
        .map(|it| beginning(&it).to_owned())
        .filter(|it| it.len() >= BEGINNING_MIN)
        .collect();
    match begins.as_slice() {
        [] => String::new(),
        begins => format!("(?i){}", begins.join(".*")),
    }
}

/// Fewer letters find too many texts.
const BEGINNING_MIN: usize = 3;

/// Prefix of all words with this stem: `happi` is the stem of `happy`, `hope` of `hoping`, `die` of `dying`, `sensibl` of
/// `sensibility`. The rules of stems change no more than that and remove the rest.
fn beginning(stem: &str) -> &str {
    let two = ["ie", "le"].iter().find_map(|it| stem.strip_suffix(it));
    two.unwrap_or_else(|| stem.strip_suffix(['e', 'i', 'l', 'y']).unwrap_or(stem))
}

/// The most words that are asked for at once: an index takes time that grows faster than they do.
pub const ASKED_MAX: usize = 1000;

/// True if the number of words is within the limit of one search.
pub fn are_few(text: &str) -> bool {
    words(&fold(text)).nth(ASKED_MAX).is_none()
}

/// True if the number of words is within the limit of a phrase search.
pub fn is_short(text: &str) -> bool {
    words(&separate(text)).nth(SEQUENCE_MAX).is_none()
}

/// True if the words of `text` contain a sequence with the stems `asked`.
pub fn follow(text: &str, asked: &[String]) -> bool {
    let own = stems(text);
    !asked.is_empty() && own.windows(asked.len()).any(|it| it == asked)
}

/// The English stems of the words of `text`, by the algorithm of PostgreSQL's; without words that say nothing. Their letters stay as
/// they are written, as those in an index of trigrams do.
pub fn stems(text: &str) -> Vec<String> {
    static ENGLISH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));
    let separated = separate(text);
    let said = words(&separated).filter(|it| !is_empty(it)).map(str::to_lowercase);
    said.map(|it| ENGLISH.stem(&it).into_owned()).collect()
}

/// Marks belong to the letter before them, as in `e` with an accent of its own.
fn words(text: &str) -> impl Iterator<Item = &str> {
    static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[\p{L}\p{N}\p{M}\p{Co}]+").ok());
    WORD.iter().flat_map(move |it| it.find_iter(text)).map(|it| it.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        check("e\u{301}tude", true, Words::Plain, "(\"e\u{301}tude\") OR (\"étude\")", "'étude'");
        check(
            "joe@example.com",
            true,
            Words::Plain,
            "\"joe\" AND \"example\" AND \"com\"",
            "'joe' & 'example' & 'com'",
        );
        check("my Own house", true, Words::Stems, "\"house\"", "'house'");
        check(
            "\u{6771}\u{4eac} TV",
            true,
            Words::Plain,
            "(\"東京\" AND \"TV\") OR (\"東\" AND \"京\" AND \"tv\")",
            "'東' & '京' & 'tv'",
        );
        check("ｆｕｌｌ", false, Words::Plain, "(\"ｆｕｌｌ\") OR (\"full\")", "'full'");
        check("The house of cards", true, Words::Stems, "\"house\" AND \"cards\"", "'house' & 'cards'");
    }

    #[test]
    fn a_pattern_stands_between_slashes() {
        assert_eq!(pattern("/a.b/").as_deref(), Some("a.b"));
        assert_eq!(pattern("/a/b/i").as_deref(), Some("(?i)a/b"));
        assert_eq!([pattern("a"), pattern("/a"), pattern("/a/g")], [None, None, None]);
    }

    #[test]
    fn words_follow_each_other_by_their_stems() {
        let asked = stems("The quick, FOXES");
        assert_eq!(asked, ["quick", "fox"]);
        let expression = Regex::new(&sequence("The quick, FOXES")).unwrap();
        for (text, follows) in [
            ("the quick\u{2013}FOX", true),
            ("quick_fox", true),
            ("a quick and the fox", true),
            ("quick brown fox", false),
            ("quick fo\u{301}x", false),
            ("fox quick", false),
            ("quick", false),
        ] {
            assert_eq!(follow(text, &asked), follows, "{text}");
            assert!(!follows || expression.is_match(text), "{text}");
        }
        assert!(!follow("quick", &[]));
        assert_eq!(sequence("the ()"), "");
        assert!(is_short(&"a ".repeat(100)) && !is_short(&"a ".repeat(101)));
        assert!(are_few(&"a ".repeat(1000)) && !are_few(&"a ".repeat(1001)));
    }

    const ENDINGS: &str = "s es ed ing ly ies ied eed y e ational tional enci anci abli ably entli izer ization ation ator \
        alism aliti ality alli fulness ousli ously ousness iveness iviti ivity biliti bility bli bly ogi ogy logi fulli lessli li \
        ize alize icate iciti icity ical ful ness ative al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ion";

    proptest! {
        #[test]
        fn a_word_begins_as_its_stem_says(root in "[a-z]{1,8}", one in 0..70_usize, other in 0..70_usize) {
            let ending = |at: usize| ENDINGS.split_whitespace().nth(at).unwrap_or_default();
            let word = format!("{root}{}{}", ending(one), ending(other));
            for stem in stems(&word) {
                prop_assert!(word.starts_with(beginning(&stem)), "{word} {stem}");
            }
        }
    }

    #[test]
    fn words_that_an_index_cannot_hold_are_counted() {
        let many = |count: usize| (0..count).map(|at| format!("w{at:09} ")).collect::<String>();
        // Ten bytes, three, and two for the one place.
        let max = WORDS_BYTES_MAX / 15;
        assert_eq!(excess(&many(max)), None);
        assert_eq!(excess(&many(max + 1)), Some((max + 1) * 15));
        assert_eq!(excess(&"the same words ".repeat(100_000)), None);
        assert_eq!(excess(&"x".repeat(2_000_000)), None);
    }
}
