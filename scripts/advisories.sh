#!/usr/bin/env bash
# Looks up what is known against the dependencies of what users get or copy: RustSec's advisories for Rust, npm's for the console.
# Benchmarks and tests pin rivals and clients, old ones among them, and are left out. Both databases are asked over the network,
# so this is no part of `make check`; a workflow runs it each night.
source "$(dirname "$0")/common.sh"
need_node
command -v cargo-deny >/dev/null || cargo install --quiet --locked --debug cargo-deny
status=0
for folder in . examples/actix; do
  say "advisories of $folder/Cargo.lock"
  cargo deny --manifest-path "$folder/Cargo.toml" --config deny.toml --locked --log-level error check advisories || status=1
done
say "advisories of console/package-lock.json"
(cd console && npm audit --package-lock-only) || status=1
exit "$status"
