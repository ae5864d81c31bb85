//! Any text: as a template it is parsed and evaluated within its limits, or refused; JSON gives itself.
#![no_main]

#[path = "../../crates/kriti/tests/support/mod.rs"]
#[allow(dead_code, reason = "the target holds texts against one of the properties")]
mod support;

libfuzzer_sys::fuzz_target!(|text: &str| support::is_evaluated_within_limits(text));
