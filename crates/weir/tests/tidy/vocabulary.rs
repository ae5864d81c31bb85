//! The words of the code: how functions, statements and comments are written. CONTRIBUTING.md, section *Words*, says why.

use crate::rules::{all_files, none};

/// Functions per 10,000 that may be named by one participle alone.
const PARTICIPLES_MAX: usize = 100;
/// Statements per 10,000 lines that may bind a tuple of expressions to a tuple of names.
const PACKED_LETS_MAX: usize = 4;

/// Participles that do not end in -ed.
const IRREGULAR: &[&str] = &[
    "begun",
    "bound",
    "built",
    "chosen",
    "done",
    "drawn",
    "found",
    "given",
    "gone",
    "heard",
    "held",
    "kept",
    "known",
    "lost",
    "made",
    "meant",
    "met",
    "said",
    "seen",
    "sent",
    "shown",
    "sought",
    "spoken",
    "spread",
    "stood",
    "taken",
    "thought",
    "told",
    "torn",
    "understood",
    "won",
    "written",
];
/// Words in -ed that are no participles.
const NOUNS: &[&str] = &["embed", "exceed", "feed", "need", "seed", "speed"];
/// Beginnings of comments that leave their subject to the reader.
const RIDDLES: &[&str] = &["As ", "Its ", "Of ", "That of ", "The same", "Those ", "Whose "];

/// The code of a crate's sources, without their tests.
fn product_files() -> impl Iterator<Item = (String, String)> {
    let is_product = |path: &str| {
        path.contains("/src/")
            && !path.contains("/tests/")
            && !path.ends_with("/tests.rs")
            && !path.ends_with("_tests.rs")
    };
    let cut_tests = |text: String| text.split("#[cfg(test)]\nmod ").next().unwrap_or_default().to_owned();
    all_files()
        .into_iter()
        .filter(move |it| is_product(&it.0))
        .map(move |(path, text)| (path, cut_tests(text)))
}

/// The name of the function that `line` declares.
fn declared_function(line: &str) -> Option<&str> {
    let qualifiers = ["async", "const", "pub", "pub(crate)", "pub(super)", "unsafe"];
    let mut words = line.split_whitespace().skip_while(|it| qualifiers.contains(it));
    (words.next() == Some("fn")).then(|| words.next())??.split(['(', '<']).next()
}

fn is_participle(name: &str) -> bool {
    let is_word = name.bytes().all(|it| it.is_ascii_lowercase());
    is_word && (IRREGULAR.contains(&name) || name.ends_with("ed") && !NOUNS.contains(&name))
}

/// True if `line` begins `let (a, b) = (c, d);`.
fn is_packed_let(line: &str) -> bool {
    let Some(rest) = line.trim_start().strip_prefix("let (") else { return false };
    rest.split_once(") = (").is_some_and(|(names, _)| !names.contains(['=', ';']))
}

#[test]
fn functions_are_named_by_what_they_do() {
    let mut functions = 0;
    let mut participles = Vec::new();
    for (path, text) in product_files() {
        for (at, line) in text.lines().enumerate() {
            let Some(name) = declared_function(line) else { continue };
            functions += 1;
            if is_participle(name) {
                participles.push(format!("{path}:{}: `{name}` says no action", at + 1));
            }
        }
    }
    assert!(functions > 5_000, "{functions} functions were found");
    if participles.len() * 10_000 > functions * PARTICIPLES_MAX {
        none(participles);
    }
}

#[test]
fn statements_bind_one_thing() {
    let mut lines = 0;
    let mut packed = Vec::new();
    for (path, text) in product_files() {
        for (at, line) in text.lines().enumerate() {
            lines += 1;
            if is_packed_let(line) {
                packed.push(format!("{path}:{}: one `let` a binding: {}", at + 1, line.trim()));
            }
        }
    }
    if packed.len() * 10_000 > lines * PACKED_LETS_MAX {
        none(packed);
    }
}

#[test]
fn a_choice_by_a_flag_is_an_if() {
    let is_arm = |line: &str| line.starts_with("true =>") || line.starts_with("false =>");
    let begins_match = |line: &str| line.contains("match ") && line.ends_with('{');
    let mut complaints = Vec::new();
    for (path, text) in all_files() {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (at, pair) in lines.windows(2).enumerate() {
            if begins_match(pair[0]) && is_arm(pair[1]) {
                complaints.push(format!("{path}:{}: write `if` in place of `{}`", at + 1, pair[0]));
            }
        }
    }
    none(complaints);
}

#[test]
fn comments_name_their_subject() {
    let mut complaints = Vec::new();
    for (path, text) in product_files() {
        let mut is_in_comment = false;
        for (at, line) in text.lines().enumerate() {
            let comment = ["//! ", "/// ", "// "].iter().find_map(|it| line.trim_start().strip_prefix(it));
            let is_riddle = comment.is_some_and(|it| RIDDLES.iter().any(|riddle| it.starts_with(riddle)));
            if is_riddle && !is_in_comment {
                complaints.push(format!(
                    "{path}:{}: the comment does not name its subject: {}",
                    at + 1,
                    line.trim()
                ));
            }
            is_in_comment = line.trim_start().starts_with("//");
        }
    }
    none(complaints);
}

#[test]
fn words_are_counted_as_the_rules_say() {
    assert_eq!(declared_function("    pub(crate) async fn told<T>(&self) {"), Some("told"));
    assert_eq!(declared_function("let fn_name = 1;"), None);
    assert!(is_participle("told") && is_participle("encoded"));
    assert!(!is_participle("feed") && !is_participle("read_rows") && !is_participle("get_told"));
    assert!(is_packed_let("    let (first, second) = (one(), two());"));
    assert!(!is_packed_let("let (first, second) = pair;") && !is_packed_let("let (a, b) = f(c);"));
}
