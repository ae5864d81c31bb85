//! The form in which words are compared: Unicode's NFKC in lower case, and single letters where a script has no spaces.
//!
//! `ﬁne` is `fine` and `ｆｕｌｌ` is `full`; accents stay. Chinese and Japanese are written without spaces, so each ideograph and each
//! letter of Hiragana is a word, and each run of Katakana: a search for `東京` finds `東京タワー`, as word boundaries of Unicode have it.
//!
//! **Invariant:** the form is the same in both databases; a text of ASCII is its own form but for case, which indexes fold.
//!
//! **Cost:** ASCII is looked at once; else one pass and one new text.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Letters that are words by themselves.
const ALONE: [RangeInclusive<char>; 11] = [
    '\u{3005}'..='\u{3007}',
    '\u{3021}'..='\u{3029}',
    '\u{3038}'..='\u{303b}',
    '\u{3041}'..='\u{3096}',
    '\u{309d}'..='\u{309f}',
    '\u{3400}'..='\u{4dbf}',
    '\u{4e00}'..='\u{9fff}',
    '\u{f900}'..='\u{faff}',
    '\u{1b000}'..='\u{1b122}',
    '\u{20000}'..='\u{2fa1f}',
    '\u{30000}'..='\u{323af}',
];

/// Letters whose runs are words.
const KATAKANA: [RangeInclusive<char>; 4] =
    ['\u{30a1}'..='\u{30fa}', '\u{30fc}'..='\u{30ff}', '\u{31f0}'..='\u{31ff}', '\u{ff66}'..='\u{ff9f}'];

/// Variation selectors: they choose the glyph of the letter before them.
const SELECTORS: [RangeInclusive<char>; 2] = ['\u{fe00}'..='\u{fe0f}', '\u{e0100}'..='\u{e01ef}'];

/// Letters that are folded apart from the tables of cases: as SQLite's index folds them, and as Go does.
const APART: [(char, char); 3] = [('İ', 'i'), ('Σ', 'σ'), ('ς', 'σ')];

/// Name of the function of PostgreSQL's that folds a text.
pub(crate) const FUNCTION: &str = "public.weir_words";

/// ASCII characters that split words: PostgreSQL's parser would take some of them for parts of hosts, files, numbers.
const SPLITTING: &str = r##"!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~"##;

/// Kinds of letters between which a word ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Alone,
    Katakana,
    Other,
}

fn script(letter: char) -> Script {
    match letter {
        it if ALONE.iter().any(|of| of.contains(&it)) => Script::Alone,
        it if KATAKANA.iter().any(|of| of.contains(&it)) => Script::Katakana,
        _ => Script::Other,
    }
}

/// `text` in the form in which its words are compared.
pub fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(space_scripts(text.nfkc().filter(|it| !is_selector(*it)).map(lower)))
    }
}

/// `text` with spaces between words of scripts that have none, otherwise unchanged.
pub fn separate(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(space_scripts(text.chars().map(|it| if it == 'Σ' || it == 'ς' { 'σ' } else { it })))
    }
}

fn space_scripts(letters: impl Iterator<Item = char>) -> String {
    let mut out = String::new();
    let mut before = Script::Other;
    for letter in letters {
        // A mark belongs to the letter before it.
        if is_combining_mark(letter) {
            out.push(letter);
            continue;
        }
        let script = script(letter);
        if script == Script::Alone || script != before {
            out.push(' ');
        }
        out.push(letter);
        before = script;
    }
    out
}

fn is_selector(letter: char) -> bool {
    SELECTORS.iter().any(|it| it.contains(&letter))
}

fn lower(letter: char) -> char {
    let apart = APART.iter().find(|it| it.0 == letter).map(|it| it.1);
    // No other letter has several in lower case.
    apart.unwrap_or_else(|| letter.to_lowercase().next().unwrap_or(letter))
}

/// The PostgreSQL expression `text`, with separators of words replaced by spaces.
fn split(text: &str) -> String {
    let spaces = " ".repeat(SPLITTING.len() - 1);
    format!("translate({text}, '{SPLITTING}', '{spaces}')")
}

/// The expression of PostgreSQL's that puts spaces between words of scripts that have none.
fn space_sql(text: &str) -> String {
    let class = |ranges: &[RangeInclusive<char>]| {
        let escape = |it: &char| format!("\\U{:08X}", u32::from(*it));
        let ranges = ranges.iter().map(|it| format!("{}-{}", escape(it.start()), escape(it.end())));
        ranges.collect::<String>()
    };
    format!("regexp_replace({text}, '([{}]|[{}]+)', ' \\1 ', 'g')", class(&ALONE), class(&KATAKANA))
}

/// `separate` as an expression of PostgreSQL. Its `lower` turns `İ` into one letter and has two forms of sigma, so both are replaced first.
pub(crate) fn separate_sql(text: &str) -> String {
    let lower = format!("replace(translate({text}, 'Σς', 'σσ'), 'İ', 'i\u{307}')");
    space_sql(&split(&lower))
}

/// Two numbers that tell whether PostgreSQL can normalise texts and has the case tables of Unicode.
pub const ABILITIES: &str = "SELECT (SELECT count(*) FROM pg_catalog.pg_proc WHERE proname = 'normalize' AND \
    current_setting('server_encoding') = 'UTF8'), (SELECT count(*) FROM pg_catalog.pg_collation WHERE collname = 'und-x-icu' AND \
    collencoding = -1)";

/// The statement that creates PostgreSQL's function for `fold`, by the abilities of the database.
pub fn create_function(normalises: bool, has_cases: bool) -> String {
    let normal = if normalises { "normalize($1, NFKC)" } else { "$1" };
    let (from, to): (String, String) = APART.iter().copied().unzip();
    let selectors: String = SELECTORS.into_iter().flatten().collect();
    let cases = if has_cases { " COLLATE \"und-x-icu\"" } else { "" };
    // Letters of `from` without one of `to` are left out.
    let lower = format!("lower(translate({normal}, '{from}{selectors}', '{to}'){cases})");
    format!(
        "CREATE OR REPLACE FUNCTION {FUNCTION}(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$\
         SELECT CASE WHEN octet_length($1) = char_length($1) THEN {} ELSE {} END$$",
        split("$1"),
        space_sql(&split(&lower))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let folded = fold(text);
        assert_eq!(folded.split_whitespace().collect::<Vec<_>>().join(" "), expected, "{text}");
        assert_eq!(fold(&folded).split_whitespace().collect::<Vec<_>>().join(" "), expected, "{text} twice");
    }

    #[test]
    fn every_letter_that_splits_has_its_space() {
        let signs: Vec<char> = (0..128_u8).map(char::from).filter(char::is_ascii_punctuation).collect();
        assert_eq!(SPLITTING.replace("''", "'"), String::from_iter(signs));
        let split = split("t");
        assert!(split.starts_with("translate(t, '!"), "{split}");
        assert!(split.ends_with(&format!("', '{}')", " ".repeat(32))), "{split}");
    }

    #[test]
    fn letters_are_compared_by_what_they_mean() {
        check("ﬁne ｆｕｌｌ Å", "fine full å");
        check("İstanbul ISTANBUL", "istanbul istanbul");
        check("ΌΔΟΣ όδος", "όδοσ όδοσ");
        check("e\u{301}tude É", "étude é");
        check("plain Text", "plain Text");
        check("東京タワー", "東 京 タワー");
        check("東京ﾀﾜｰTVのx", "東 京 タワー tv の x");
        check("葛\u{e0100}飾\u{fe00}区", "葛 飾 区");
        check("서울 시", "서울 시");
    }
}
