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
# They are workspaces of their own, which no test builds.
say "benchmarks"
for crate in exec language; do
  cargo check --quiet --manifest-path bench/$crate/Cargo.toml --target-dir bench/target
done
say "example with actix-web"
cargo fmt --manifest-path examples/actix/Cargo.toml -- --check
cargo clippy --quiet --locked --all-targets --manifest-path examples/actix/Cargo.toml --target-dir bench/target -- -D warnings
say "packages of the library"
# Cargo keeps what it unpacked for an earlier run by path and version, and would build against that.
rm -rf "${CARGO_HOME:-$HOME/.cargo}"/registry/src/-*/weir-*
cargo package --quiet --allow-dirty -p weir-language -p weir-engine -p weir-transport -p weir-derive -p weir-runtime
say "rustdoc"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --quiet
say "cargo deny"
command -v cargo-deny >/dev/null || cargo install --quiet --locked cargo-deny
cargo deny --log-level error check bans licenses sources
