#!/usr/bin/env bash
# All tests: Rust (unit, golden, property, process), the language against apollo-compiler, the example with actix-web, the
# GraphQL-over-HTTP audits, the console in a real browser, clients as people have them, the Python package, packages of the command.
# Ends with a line of counts. ONLY=text runs the tests whose name holds it.
source "$(dirname "$0")/common.sh"
log=$(mktemp) failures=$(mktemp)
status=0
trap 'rm -f "$log" "$failures"' EXIT
need chromium chromium
# A cluster of the tests' own; the one that Debian starts is not touched.
need_file '/usr/lib/postgresql/*/bin/initdb' initdb postgresql
need_file /usr/sbin/pgbouncer pgbouncer pgbouncer
# The tests start, stop and fill their own.
need redis-server redis-server
# Tests run on PostgreSQL 18 too.
scripts/postgres18.sh
# citext and ltree come with the server, PostGIS does not.
for bin in /usr/lib/postgresql/*/bin/initdb; do
  [ -x "$bin" ] || continue
  version=$(basename "${bin%/bin/initdb}")
  want_file "/usr/share/postgresql/$version/extension/postgis.control" "postgresql-$version-postgis-3"
done
make --no-print-directory console
say "cargo test"
export WEIR_ONLY="${ONLY:-}" WEIR_POSTGRES_SEED="${WEIR_POSTGRES_SEED:-$RANDOM}"
say "WEIR_POSTGRES_SEED=$WEIR_POSTGRES_SEED puts each wall test on one release of PostgreSQL"
cargo test --workspace --no-fail-fast -- ${ONLY:+"$ONLY"} 2>&1 | tee "$log" || status=1
# Words of failures: they are said again at the end, which is what a reader of a long run sees.
sed -n '/^failures:/,/^test result/p' "$log" >>"$failures"
# The tests have built it; another build would choose other features of the same libraries and compile them anew.
export WEIR_BIN="${CARGO_TARGET_DIR:-$PWD/target}/debug/weir"
for suite in oracle actix audit console clients python packages; do
  say "$suite"
  suite_log=$(mktemp)
  scripts/test-$suite.sh 2>&1 | tee "$suite_log" || { status=1; { say "$suite"; sed -n '/failing tests:/,$p; /= FAILURES =/,$p; /^failures:/,$p' "$suite_log"; } >>"$failures"; }
  cat "$suite_log" >>"$log"
  rm -f "$suite_log"
done
passed=$(grep -oE '[0-9]+ passed' "$log" | awk '{n+=$1} END {print n+0}')
failed=$(grep -oE '[0-9]+ failed' "$log" | awk '{n+=$1} END {print n+0}')
if [ -s "$failures" ]; then
  say "words of what failed"
  tail -c 20000 "$failures"
fi
echo "$passed passed, $failed failed"
[ "$status" = 0 ] && [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
