//! Holds the reader of schemas against a corpus of type systems, of which the oracle of `bench/language` asks another
//! implementation.

use crate::verdict_kit::corpus::{Case, type_systems};
use std::path::Path;
use weir_language::schema::Schema;
use weir_language::schema::print::{Order, print};

fn cases() -> Vec<Case> {
    type_systems(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"))
}

#[test]
fn our_verdict_is_that_of_the_corpus() {
    let cases = cases();
    assert!(cases.len() >= 100, "{} documents", cases.len());
    let wrong: Vec<_> = cases
        .iter()
        .filter_map(|Case { name, is_valid, text, .. }| match Schema::from_sdl(text) {
            Ok(_) if *is_valid => None,
            Err(_) if !*is_valid => None,
            Ok(_) => Some(format!("{name}: accepted")),
            Err(errors) => Some(format!("{name}: {}", errors[0].message)),
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_is_printed_reads_back_as_the_same_schema() {
    for Case { name, is_valid, text, .. } in cases() {
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
    for Case { name, text, .. } in cases() {
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
