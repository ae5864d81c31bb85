//! Documents of the grammar, both kinds: what is printed parses to the same.
#![no_main]

#[path = "../../crates/language/tests/support/mod.rs"]
#[allow(dead_code, reason = "each target holds texts against some of the properties")]
mod support;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for executable in [true, false] {
        let text = support::grammar::document(bytes, executable);
        support::properties::parses_or_says_where(&text);
        support::properties::printing_keeps_the_document(&text);
    }
});
