//! Type systems, of the grammar and of any text: a schema is built, or what is wrong has a place.
#![no_main]

#[path = "../../crates/language/tests/support/mod.rs"]
#[allow(dead_code, reason = "each target holds texts against some of the properties")]
mod support;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    support::properties::schemas_are_built_or_say_where(&support::grammar::document(bytes, false));
    if let Ok(text) = std::str::from_utf8(bytes) {
        support::properties::schemas_are_built_or_say_where(text);
    }
});
