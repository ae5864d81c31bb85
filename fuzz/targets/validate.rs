//! Executable documents, of the grammar and of any text: they are valid, or each violation has a place.
#![no_main]

#[path = "../../crates/language/tests/support/mod.rs"]
#[allow(dead_code, reason = "each target holds texts against some of the properties")]
mod support;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    support::properties::validation_answers(&support::grammar::document(bytes, true));
    if let Ok(text) = std::str::from_utf8(bytes) {
        support::properties::validation_answers(text);
    }
});
