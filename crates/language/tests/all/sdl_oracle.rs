//! Holds the reader of schemas against apollo-compiler on a corpus of type system documents.
//!
//! `tests/sdl/corpus.graphql` says our verdict of each document. Where apollo-compiler's is another,
//! `tests/sdl/disagreements.md` argues why, and only there.

use apollo_compiler::Schema as Theirs;
use std::collections::BTreeSet;
use weir_language::schema::Schema;
use weir_language::schema::print::{Order, print};

const CORPUS: &str = include_str!("../sdl/corpus.graphql");
const DISAGREEMENTS: &str = include_str!("../sdl/disagreements.md");

/// Name, whether it is valid, and text of each document.
fn cases() -> Vec<(&'static str, bool, String)> {
    let mut cases: Vec<(&str, bool, String)> = Vec::new();
    for line in CORPUS.lines() {
        if let Some((verdict, name)) = line.strip_prefix("#: ").and_then(|head| head.split_once(": ")) {
            assert!(matches!(verdict, "valid" | "invalid"), "{line}");
            cases.push((name, verdict == "valid", String::new()));
        } else if let Some(case) = cases.last_mut() {
            case.2.push_str(line);
            case.2.push('\n');
        }
    }
    for (_, _, text) in &mut cases {
        if !text.contains("Query {") && !text.contains("NoQuery") && !text.contains("query: Q") {
            text.insert_str(0, "type Query { q: Int }\n");
        }
    }
    cases
}

#[test]
fn our_verdict_is_that_of_the_corpus() {
    let cases = cases();
    assert!(cases.len() >= 100, "{} documents", cases.len());
    let wrong: Vec<_> = cases
        .iter()
        .filter_map(|(name, is_valid, text)| match Schema::from_sdl(text) {
            Ok(_) if *is_valid => None,
            Err(_) if !*is_valid => None,
            Ok(_) => Some(format!("{name}: accepted")),
            Err(errors) => Some(format!("{name}: {}", errors[0].message)),
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn apollo_compiler_disagrees_only_where_it_is_argued() {
    let argued: BTreeSet<String> = DISAGREEMENTS
        .lines()
        .filter_map(|line| Some(line.strip_prefix("- `")?.strip_suffix('`')?.to_owned()))
        .collect();
    let found: BTreeSet<String> = cases()
        .into_iter()
        .filter(|(_, is_valid, text)| {
            Theirs::parse_and_validate(text.as_str(), "schema.graphql").is_ok() != *is_valid
        })
        .map(|(name, _, _)| name.to_owned())
        .collect();
    assert_eq!(found, argued);
}

#[test]
fn what_is_printed_reads_back_as_the_same_schema() {
    for (name, is_valid, text) in cases() {
        if !is_valid {
            continue;
        }
        for order in [Order::Defined, Order::ByName] {
            let printed = print(&Schema::from_sdl(&text).expect("valid"), order);
            let again =
                Schema::from_sdl(&printed).unwrap_or_else(|errors| panic!("{name}: {printed} {errors:?}"));
            assert_eq!(print(&again, order), printed, "{name}");
        }
    }
}

#[test]
fn a_word_too_few_or_too_many_is_an_error_or_another_schema_that_prints() {
    for (name, _, text) in cases() {
        let words: Vec<&str> = text.split_inclusive([' ', '(', '{', ':']).collect();
        for at in 0..words.len() {
            for times in [0, 2] {
                let changed: String = words
                    .iter()
                    .enumerate()
                    .map(|(number, word)| word.repeat(if number == at { times } else { 1 }))
                    .collect();
                match Schema::from_sdl(&changed) {
                    Ok(schema) => {
                        let printed = print(&schema, Order::Defined);
                        assert!(Schema::from_sdl(&printed).is_ok(), "{name}: {changed} became {printed}");
                    }
                    Err(errors) => assert!(
                        errors
                            .iter()
                            .flat_map(|it| &it.spans)
                            .all(|it| changed.get(it.start as usize..it.end as usize).is_some()),
                        "{name}: {changed}: {errors:?}"
                    ),
                }
            }
        }
    }
}
