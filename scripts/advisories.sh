#!/usr/bin/env bash
# Looks up what is known against the dependencies: RustSec's advisories for each lock file of Rust, npm's for each of npm. It
# needs both databases from the network, so it is no part of `make check`; a workflow runs it each night.
source "$(dirname "$0")/common.sh"
need_node
command -v cargo-deny >/dev/null || cargo install --quiet --locked --debug cargo-deny
status=0
while read -r lock; do
  say "$lock"
  cargo deny --manifest-path "$(dirname "$lock")/Cargo.toml" --log-level error check --config "$PWD/deny.toml" advisories || status=1
done < <(git ls-files '*Cargo.lock')
while read -r lock; do
  say "$lock"
  (cd "$(dirname "$lock")" && npm audit --package-lock-only) || status=1
done < <(git ls-files '*package-lock.json')
exit "$status"
