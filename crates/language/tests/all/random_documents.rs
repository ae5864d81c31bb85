//! Random documents over a schema: validation never panics. The oracle of `bench/language` compares its verdicts.

use crate::verdict_kit::typed;
use proptest::prelude::*;
use std::sync::OnceLock;
use weir_language::limits::Limits;
use weir_language::parser::parse;
use weir_language::schema::Schema;
use weir_language::validate::{Options, validate};

const SDL: &str = include_str!("../corpus/music/schema.graphql");
const OPTIONS: Options =
    Options { limits: Limits::NONE, suggestions: true, edition_2026: false, subscriptions_beside: false };

fn ours() -> &'static Schema {
    static SCHEMA: OnceLock<Schema> = OnceLock::new();
    SCHEMA.get_or_init(|| Schema::from_sdl(SDL).expect("the schema is sound"))
}

/// Our errors, none if `text` is valid.
fn messages(text: &str) -> Vec<String> {
    match parse(text, &Limits::NONE) {
        Err(error) => vec![error.message],
        Ok(document) => {
            let errors = validate(ours(), &document, &OPTIONS).err().unwrap_or_default();
            errors.into_iter().map(|error| error.message).collect()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cut_documents_do_not_panic(choices in proptest::collection::vec(any::<u16>(), 0..100), cut in any::<usize>()) {
        let text = typed::document(ours(), &choices);
        let cut = cut % (text.len() + 1);
        prop_assert!(!text.is_char_boundary(cut) || messages(&text[..cut]).len() <= 50);
    }
}

#[test]
fn the_random_documents_are_of_both_kinds() {
    let mut random = 1_u32;
    let mut valid = 0;
    for _ in 0..500 {
        let choices: Vec<u16> = (0..1_000)
            .map(|_| {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (random >> 16) as u16
            })
            .collect();
        valid += usize::from(messages(&typed::document(ours(), &choices)).is_empty());
    }
    assert!((50..450).contains(&valid), "{valid} of 500 are valid");
}
