#!/usr/bin/env bash
# The console in a real browser: the system's headless Chromium driven by playwright-core.
source "$(dirname "$0")/common.sh"
need_node
need chromium chromium
[ -d console/node_modules/playwright-core ] || scripts/console.sh
cargo build --quiet --bin weir
WEIR_BIN="${CARGO_TARGET_DIR:-$PWD/target}/debug/weir" node --test --test-reporter=spec console/test/ > >(tee /tmp/weir-console-test.$$) 2>&1
# Node's summary in the form the other suites have.
p=$(grep -oE '^ℹ pass [0-9]+' /tmp/weir-console-test.$$ | grep -oE '[0-9]+'); f=$(grep -oE '^ℹ fail [0-9]+' /tmp/weir-console-test.$$ | grep -oE '[0-9]+')
rm -f /tmp/weir-console-test.$$
echo "console: ${p:-0} passed, ${f:-1} failed"
