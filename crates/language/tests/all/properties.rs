//! Properties of all texts, tested with random ones. The fuzz targets test the same functions with more.

use crate::support::{grammar, properties};
use proptest::prelude::*;

/// Texts near the grammar: pieces of it in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "{", "}", "(", ")", "[", "]", "!", "$", "&", "...", ":", "=", "@", "|", "\"", "\"\"\"", "\\",
            "\\u{41}", "\n", "\r\n", ",", "#", "-", "0", "1.5", "e1", "a", "query", "fragment", "on", "type",
            "input", "extend", "true", "null", "\"x\"", "\u{FEFF}", "é", "😀", "\0",
        ])
        .prop_map(str::to_owned),
        ".{0,3}",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.join(" ").replace("  ", ""))
}

/// JSON, then one byte of it changed.
fn damaged_json() -> impl Strategy<Value = Vec<u8>> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("-0.5e+3".to_owned()),
        "[ -~]{0,6}".prop_map(|text| format!("{text:?}")),
        Just(r#""\ud83d\ude00\u0041\n""#.to_owned()),
    ];
    let json = leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::vec(("[a-c]{1,2}", inner), 0..12).prop_map(|members| {
                let members: Vec<_> =
                    members.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    });
    (json, any::<prop::sample::Index>(), prop::option::of(any::<u8>())).prop_map(|(json, place, byte)| {
        let mut bytes = json.into_bytes();
        if let Some(byte) = byte {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes
    })
}

/// Lists of objects that are alike, as services write them: the same keys in the same order, but for some that are missing,
/// stand elsewhere or come twice.
fn alike() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec!["a", "ab", "a longer key", "a longer kez", "\\u0061", "d", "e"]);
    let keys = prop::collection::vec(key, 1..7).prop_map(|mut keys| {
        keys.sort_unstable();
        keys
    });
    let value =
        prop::sample::select(vec!["1", "\"x\"", "{}", r#"{"a":1,"d":[{"d":1},{"e":2}]}"#, "[1,{\"a\":0}]"]);
    let object = (keys, prop::collection::vec(value, 7), 0..40_usize);
    let object = object.prop_map(|(mut keys, values, odd)| {
        match odd {
            0 => keys.rotate_left(1),
            1 => {}
            _ => keys.dedup(),
        }
        let members: Vec<_> =
            keys.iter().zip(values).map(|(key, value)| format!("\"{key}\":{value}")).collect();
        format!("{{{}}}", members.join(","))
    });
    prop::collection::vec(object, 0..12).prop_map(|objects| format!("[{}]", objects.join(",")))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_parses_or_is_refused_at_a_place(text in pieces()) {
        properties::parses_or_says_where(&text);
        properties::printing_keeps_the_document(&text);
        properties::schemas_are_built_or_say_where(&text);
        properties::validation_answers(&text);
    }

    #[test]
    fn executable_documents_survive_printing(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let text = grammar::document(&bytes, true);
        properties::parses_or_says_where(&text);
        properties::validation_answers(&text);
        properties::printing_keeps_the_document(&text);
    }

    #[test]
    fn type_systems_survive_printing(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let text = grammar::document(&bytes, false);
        properties::parses_or_says_where(&text);
        properties::schemas_are_built_or_say_where(&text);
        properties::printing_keeps_the_document(&text);
    }

    #[test]
    fn json_agrees_with_serde(bytes in damaged_json()) {
        properties::json_is_read_as_by_serde(&bytes);
    }

    #[test]
    fn equal_keys_are_found_among_objects_that_are_alike(text in alike()) {
        properties::json_is_read_as_by_serde(text.as_bytes());
    }
}

#[test]
fn documents_of_the_grammar_parse() {
    use weir_language::{limits::Limits, parser::parse};
    let mut number = 1_u32;
    let mut random = || {
        // Any fixed sequence will do.
        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (number >> 24) as u8
    };
    for round in 0..500 {
        let bytes: Vec<u8> = (0..300).map(|_| random()).collect();
        let text = grammar::document(&bytes, round % 2 == 0);
        let limits = Limits { nesting_max: 60, ..Limits::NONE };
        parse(&text, &limits).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    }
}
