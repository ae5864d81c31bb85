//! Syntax errors and documents against those of graphql-js.
//!
//! `corpus/graphql_js.json` holds texts, made at random from the grammar and then damaged, with what
//! graphql-js 17.1.0 says of each: the message and place of its error, or the text that `print` gives. Its
//! parser reads the 2026 edition; `strict` is its message where empty selection sets are refused.

use crate::support::printer::print;
use serde_json::Value;
use weir_language::limits::Limits;
use weir_language::parser::{Edition, parse_edition};

/// Weir's document in one line, or its error in the spelling of the corpus.
fn ours(text: &str) -> String {
    match parse_edition(text, &Limits::NONE, Edition::September2026) {
        Ok(document) => print(&document),
        Err(error) => {
            let place = error.locations(text)[0];
            format!("{} ({}:{})", error.message, place.line, place.column)
        }
    }
}

fn theirs(case: &Value) -> String {
    match (&case["print"], &case["error"]) {
        // Layout does not matter: both documents are compared in one line.
        (Value::String(printed), _) => {
            print(&parse_edition(printed, &Limits::NONE, Edition::September2026).expect(printed))
        }
        (_, Value::String(message)) => format!("{message} ({}:{})", case["line"], case["column"]),
        _ => panic!("neither print nor error: {case}"),
    }
}

fn corpus() -> Vec<Value> {
    serde_json::from_str(include_str!("../corpus/graphql_js.json")).expect("the corpus is JSON")
}

#[test]
fn texts_are_accepted_refused_and_read_as_by_graphql_js() {
    let mut differing = Vec::new();
    for case in corpus() {
        let text = case["text"].as_str().expect("a text");
        let ours = ours(text);
        let theirs = theirs(&case);
        if ours != theirs {
            differing.push(format!("{text:?}\n  ours   {ours:?}\n  theirs {theirs:?}"));
        }
    }
    assert!(
        differing.is_empty(),
        "{} differ:\n{}",
        differing.len(),
        differing[..differing.len().min(12)].join("\n")
    );
}

#[test]
fn empty_selection_sets_wait_for_the_next_edition() {
    let mut empty = 0;
    for case in corpus() {
        let Some(strict) = case["strict"].as_str() else { continue };
        let text = case["text"].as_str().expect("a text");
        let refused = parse_edition(text, &Limits::NONE, Edition::September2025).expect_err(text);
        assert_eq!(refused.message, strict, "{text}");
        empty += 1;
    }
    assert!(empty > 3, "the corpus has only {empty} such texts");
}
