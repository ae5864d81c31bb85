#!/usr/bin/env bash
# A minute of each fuzz target (SECONDS_EACH to change it). cargo-fuzz needs a nightly toolchain.
source "$(dirname "$0")/common.sh"
command -v cargo-fuzz >/dev/null || die "cargo-fuzz is missing: cargo install cargo-fuzz (and a nightly toolchain). 'make test' runs the same properties as proptest."
for target in $(cargo fuzz list); do
  say "$target"
  cargo +nightly fuzz run "$target" -- -max_total_time="${SECONDS_EACH:-60}"
done
