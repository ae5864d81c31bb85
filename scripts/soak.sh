#!/usr/bin/env bash
# What `make test` does for half a minute, for longer: a server killed 200 times in storms of mutations, each run with another seed.
# WEIR_SEED repeats a run. Then the ledger of events. Then the wall tests, on each release of PostgreSQL. Then changes of every kind of definition under load, one every
# two seconds.
source "$(dirname "$0")/common.sh"
need_file '/usr/lib/postgresql/*/bin/initdb' initdb postgresql
scripts/postgres18.sh
export WEIR_KILLS="${WEIR_KILLS:-200}" WEIR_SEED="${WEIR_SEED:-$RANDOM}"
say "$WEIR_KILLS kills, seed $WEIR_SEED"
cargo test --workspace --test weir_tests storm::what_was_acknowledged_survives_every_kill -- --nocapture
export WEIR_EVENT_KILLS="${WEIR_EVENT_KILLS:-50}"
for release in installed 18; do
  say "ledger of events, $WEIR_EVENT_KILLS kills of each party: PostgreSQL $release"
  WEIR_POSTGRES=$release cargo test --workspace --test weir_tests events_ledger:: -- --nocapture --test-threads 1
done
for release in installed 18; do
  say "walls on PostgreSQL: $release"
  WEIR_POSTGRES=$release cargo test -p weir-hasura -p weir-native --test sql_tests --test native_tests -- \
    wall:: auth_wall_writes:: --skip on_sqlite
done
export WEIR_SOAK_SECONDS="${WEIR_SOAK_SECONDS:-120}"
for release in installed 18; do
  say "definitions that change under load on PostgreSQL: $release"
  WEIR_POSTGRES=$release cargo test --workspace --test sql_tests migration_soak::every_change_of_postgresql -- \
    --nocapture --test-threads 1
done
say "definitions that change under load on SQLite"
cargo test --workspace --test sql_tests migration_soak::every_change_of_sqlite -- --nocapture
