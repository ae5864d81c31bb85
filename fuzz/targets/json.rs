//! Any bytes: JSON is accepted and read as by `serde_json`, apart from what is stricter.
#![no_main]

#[path = "../../crates/language/tests/support/mod.rs"]
#[allow(dead_code, reason = "each target holds texts against some of the properties")]
mod support;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| support::properties::json_is_read_as_by_serde(bytes));
