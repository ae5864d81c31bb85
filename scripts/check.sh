#!/usr/bin/env bash
# Formatting, lints, dependency rules, documentation: all that is checked without running.
source "$(dirname "$0")/common.sh"
say "rustfmt"
cargo fmt --all -- --check
say "clippy"
cargo clippy --workspace --all-targets -- -D warnings
say "without features"
cargo check -p weir --no-default-features
cargo check -p weir-runtime --no-default-features
say "benchmarks"
beside check bench/exec --quiet
say "example with actix-web"
cargo fmt --manifest-path examples/actix/Cargo.toml -- --check
beside clippy examples/actix --quiet --locked --all-targets -- -D warnings
say "packages of the library"
# Cargo keeps what it unpacked for an earlier run by path and version, and would build against that.
rm -rf "${CARGO_HOME:-$HOME/.cargo}"/registry/src/-*/weir-*
# A package is built without the profiles of this workspace, as the example with actix-web is.
CARGO_PROFILE_DEV_DEBUG=false cargo package --quiet --allow-dirty --target-dir bench/target \
  -p weir-language -p weir-engine -p weir-transport -p weir-derive -p weir-runtime
say "rustdoc"
# With the examples the libraries have the features that the lints built them with; without, most are built anew.
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --quiet --lib --examples
say "cargo deny"
# It runs for seconds, so it is not optimised.
command -v cargo-deny >/dev/null || cargo install --quiet --locked --debug cargo-deny
cargo deny --log-level error check bans licenses sources
