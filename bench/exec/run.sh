#!/usr/bin/env bash
# Measures the engine alone against other Rust libraries and graphql-jit and writes the tables into docs/performance.md.
source "$(dirname "$0")/../../scripts/common.sh"
need python3 python3
need_node
fixtures=bench/target/fixtures
python3 bench/exec/gen.py "$fixtures"
cargo build --release --manifest-path bench/exec/Cargo.toml --target-dir bench/target
(cd bench/exec/js && npm ci --no-audit --no-fund --loglevel=error)
# Both sides of graphql-jit's ratio are taken within the same minutes: before and after ours.
before=$(node bench/exec/js/jit.mjs "$fixtures")
table=$(bench/target/release/bench-exec "$fixtures")
after=$(node bench/exec/js/jit.mjs "$fixtures")
cd bench
TABLE="$table" JIT="$before"$'\n'"$after" python3 exec/publish.py
