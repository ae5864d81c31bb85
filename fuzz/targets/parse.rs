//! Any text: the parser answers with a document or a place.
#![no_main]

#[path = "../../crates/language/tests/support/mod.rs"]
#[allow(dead_code, reason = "each target holds texts against some of the properties")]
mod support;

libfuzzer_sys::fuzz_target!(|text: &str| {
    support::properties::parses_or_says_where(text);
    support::properties::printing_keeps_the_document(text);
});
