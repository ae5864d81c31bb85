//! Holds the validator against a corpus of documents, of which the oracle of `bench/language` asks another implementation.

use crate::verdict_kit::corpus::{Case, documents};
use std::path::Path;
use weir_language::error::Error;
use weir_language::limits::Limits;
use weir_language::parser::parse;
use weir_language::schema::Schema;
use weir_language::validate::{Options, validate};

const OPTIONS: Options =
    Options { limits: Limits::NONE, suggestions: true, edition_2026: false, subscriptions_beside: false };

/// Weir's errors: places and message of each, none if the document is valid.
fn ours(schema: &Schema, text: &str) -> Vec<String> {
    let errors = match parse(text, &Limits::NONE) {
        Err(error) => vec![error],
        Ok(document) => validate(schema, &document, &OPTIONS).err().unwrap_or_default(),
    };
    let line = |error: &Error| {
        let places = error.locations(text);
        let places: String = places.iter().map(|at| format!("{}:{} ", at.line, at.column)).collect();
        places + &error.message
    };
    errors.iter().map(line).collect()
}

#[test]
fn errors_are_those_of_the_corpus() {
    let mut complaints = Vec::new();
    let mut count = 0;
    let mut valid = 0;
    for folder in documents(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")) {
        let schema = Schema::from_sdl(&folder.sdl).expect("a schema");
        for Case { name, is_valid, errors, text } in folder.cases {
            count += 1;
            valid += usize::from(is_valid);
            let found = ours(&schema, &text);
            if is_valid != errors.is_empty() || found != errors {
                complaints.push(format!("{name}\n{text}expected {errors:#?}\nfound {found:#?}"));
            }
        }
    }
    assert!(complaints.is_empty(), "{} complaints\n{}", complaints.len(), complaints.join("\n"));
    assert!(count >= 400 && valid >= 100, "{count} documents, {valid} of them valid");
}
