//! `docs/errors.md` lists exactly the codes that the source can send: every quoted upper-case word of the crates that is no name of
//! GraphQL's own or of the environment.

use crate::root;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Names of the specification (directive places, kinds of types) and of the environment that look like codes.
const NOT_CODES: &[&str] = &[
    "ARGUMENT_DEFINITION",
    "DIRECTIVE_DEFINITION",
    "FIELD_DEFINITION",
    "FRAGMENT_DEFINITION",
    "FRAGMENT_SPREAD",
    "INLINE_FRAGMENT",
    "INPUT_FIELD_DEFINITION",
    "INPUT_OBJECT",
    "NON_NULL",
    "VARIABLE_DEFINITION",
];

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the workspace can be read") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() { rust_files(&path, found) } else { found.push(path) }
    }
}

/// Codes of one word, which alone does not look like a code.
const SINGLE_WORDS: &[&str] = &["INTERNAL", "MISDIRECTED"];

/// Words of other languages that look like codes: a declared type of SQLite.
const OTHER_WORDS: &[&str] = &["UUID_TEXT"];

/// Words between `mark`s that are written as codes are.
fn codes(text: &str, mark: char) -> BTreeSet<String> {
    let is_code = |word: &&str| {
        let shape = word.bytes().all(|it| it.is_ascii_uppercase() || it == b'_');
        shape
            && !OTHER_WORDS.contains(word)
            && (word.contains('_') && !word.starts_with('_') && !word.ends_with('_')
                || SINGLE_WORDS.contains(word))
    };
    text.split(mark).filter(is_code).map(String::from).collect()
}

fn list_sent_codes() -> BTreeSet<String> {
    let mut files = Vec::new();
    let senders = [
        "language",
        "engine",
        "relational",
        "database",
        "hasura",
        "native",
        "http",
        "webhook",
        "actions",
        "events",
        "runtime",
        "transport",
        "weir",
    ];
    for name in senders {
        rust_files(&root().join("crates").join(name).join("src"), &mut files);
    }
    let is_test = |it: &PathBuf| it.iter().any(|part| part == "tests" || part == "tests.rs");
    let mut sent = BTreeSet::new();
    for file in files.into_iter().filter(|it| !is_test(it)) {
        let text = fs::read_to_string(&file).expect("a source file is text");
        let product = text.split("#[cfg(test)]").next().unwrap_or("");
        // Examples in comments send nothing.
        let code = product.lines().filter(|it| !it.trim_start().starts_with("//"));
        code.for_each(|it| sent.extend(codes(it, '"')));
    }
    let environment = ["WEIR_", "OTEL_", "HASURA_", "XDG_", "CARGO_", "OUT_", "PG"];
    sent.retain(|it| {
        !NOT_CODES.contains(&it.as_str()) && !environment.iter().any(|start| it.starts_with(start))
    });
    sent
}

#[test]
fn every_code_that_can_be_sent_is_documented_and_no_other() {
    let page = fs::read_to_string(root().join("docs/errors.md")).expect("the page is in the tree");
    assert_eq!(codes(&page, '`'), list_sent_codes(), "left: docs/errors.md, right: the source");
}
