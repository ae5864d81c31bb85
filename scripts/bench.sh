#!/usr/bin/env bash
# Measures us and our rivals and writes the tables and plots of docs/performance.md and docs/performance. SUITE or ONLY is a suite or some parts of one.
source "$(dirname "$0")/common.sh"
declare -A suites=(
  [sql]="sqlite postgres lanes switched-on catalog"
  [native]="native native-postgres"
  [services]="services"
  [live]="live"
  [engine]="exec language load"
  [python]="python"
  [product]="product"
  [events]="events"
  [console]="console"
)
order=(sql native services live events engine product console)
parts=()
for word in "${@:-${order[@]}}"; do parts+=(${suites[$word]:-$word}); done
need python3 python3
say "building with fat LTO"
cargo build --profile dist --bin weir
for part in "${parts[@]}"; do
  say "$part"
  begun=$SECONDS
  case $part in
    sqlite) python3 bench/sql/sqlite.py ;;
    postgres)
      need_node
      need_file '/usr/lib/postgresql/*/bin/pgbench' pgbench postgresql
      python3 bench/sql/postgres.py
      ;;
    lanes)
      need_file '/usr/lib/postgresql/*/bin/pgbench' pgbench postgresql
      cargo build --profile dist -p weir-hasura --example slow_postgres
      python3 bench/sql/lanes.py
      ;;
    switched-on) python3 bench/sql/switched_on.py ;;
    catalog) python3 bench/sql/catalog.py ;;
    native) python3 bench/native/restaurants.py ;;
    native-postgres)
      need_file '/usr/lib/postgresql/*/bin/initdb' initdb postgresql
      python3 bench/native/restaurants.py postgres
      ;;
    services)
      need_node
      python3 bench/gateway/services.py
      ;;
    live)
      need_node
      need_file '/usr/lib/postgresql/*/bin/initdb' initdb postgresql
      python3 bench/live/live.py
      ;;
    exec) PUBLISH=1 bench/exec/run.sh ;;
    language) bench/language/run.sh ;;
    python) PUBLISH=1 bench/python/run.sh ;;
    load)
      need wrk wrk
      need nginx nginx-light
      python3 bench/load/generator.py
      ;;
    product) python3 bench/product/product.py ;;
    events)
      need_file '/usr/lib/postgresql/*/bin/initdb' initdb postgresql
      python3 bench/events/events.py
      ;;
    console)
      need_node
      need chromium chromium
      need_file '/usr/lib/postgresql/*/bin/initdb' initdb postgresql
      WEIR_BIN=target/dist/weir PUBLISH=1 node bench/console/console.mjs
      ;;
    *) die "no suite or part '$part': ${order[*]}; $(printf '%s ' "${suites[@]}")" ;;
  esac
  say "$part: $((SECONDS - begun)) s"
done
say "plots"
bench/plots.sh
say "figures of README and of the capacity example"
WEIR_BLESS=1 cargo test -p weir --test tidy figures
WEIR_BLESS=1 cargo test -p weir-load --test load_tests capacity::
