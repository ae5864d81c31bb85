#!/usr/bin/env bash
# Measures us and our rivals and writes the tables of docs/performance.md. Arguments choose parts: sqlite postgres catalog native services product exec language.
source "$(dirname "$0")/common.sh"
need wrk wrk
need python3 python3
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(sqlite postgres catalog native services product exec language)
say "building with fat LTO"
cargo build --profile dist --bin weir
for part in "${parts[@]}"; do
  say "$part"
  case $part in
    sqlite) python3 bench/sql/sqlite.py ;;
    postgres)
      need_node
      need_file '/usr/lib/postgresql/*/bin/pgbench' pgbench postgresql
      python3 bench/sql/postgres.py
      ;;
    catalog) python3 bench/sql/catalog.py ;;
    native)
      need_file '/usr/lib/postgresql/*/bin/initdb' initdb postgresql
      python3 bench/native/restaurants.py
      python3 bench/native/restaurants.py postgres
      ;;
    services)
      need_node
      python3 bench/gateway/services.py
      ;;
    product) python3 bench/product/product.py ;;
    exec) bench/exec/run.sh ;;
    language) bench/language/run.sh ;;
    *) die "no part '$part': sqlite postgres catalog native services product exec language" ;;
  esac
done
say "figures of README and of the capacity example"
WEIR_BLESS=1 cargo test -p weir --test tidy figures
WEIR_BLESS=1 cargo test -p weir-load --test load_tests capacity::
