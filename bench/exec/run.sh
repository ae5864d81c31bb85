#!/usr/bin/env bash
# Measures the engine alone against other Rust libraries and writes the table into docs/performance.md.
source "$(dirname "$0")/../../scripts/common.sh"
need python3 python3
fixtures=bench/target/fixtures
python3 bench/exec/gen.py "$fixtures"
cargo build --release --manifest-path bench/exec/Cargo.toml --target-dir bench/target
table=$(bench/target/release/bench-exec "$fixtures")
cd bench
TABLE="$table" python3 -c 'import os; from common import publish; publish("exec", os.environ["TABLE"] + "\n")'
