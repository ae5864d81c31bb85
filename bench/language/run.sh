#!/usr/bin/env bash
# Measures the language against other Rust libraries and writes the table into docs/performance/language.md.
source "$(dirname "$0")/../../scripts/common.sh"
need python3 python3
fixtures=bench/target/fixtures
python3 bench/exec/gen.py "$fixtures"
cargo build --release --manifest-path bench/language/Cargo.toml --target-dir bench/target
table=$(bench/target/release/bench-language "$fixtures")
cd bench
TABLE="$table" python3 -c 'import os; from common import publish; publish("language", os.environ["TABLE"] + "\n")'
