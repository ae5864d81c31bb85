#!/usr/bin/env bash
# The console in a real browser: the system's headless Chromium driven by playwright-core.
source "$(dirname "$0")/common.sh"
need_node
need chromium chromium
need_file '/usr/lib/postgresql/*/bin/initdb' initdb postgresql
[ -d console/node_modules/playwright-core ] || scripts/console.sh
debug_weir
log=$(mktemp)
trap 'rm -f "$log"' EXIT
WEIR_BIN="$weir" node --test --test-reporter=spec console/test/ 2>&1 | tee "$log" || true
# Node's summary in the form the other suites have.
count() { grep -oE "^ℹ $1 [0-9]+" "$log" | grep -oE '[0-9]+' || echo 0; }
passed=$(count pass) failed=$(count fail)
echo "console: $passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
