#!/usr/bin/env bash
# What `make test` does for half a minute, for longer: a server killed 200 times in storms of mutations, each run with another seed.
# WEIR_SEED repeats a run.
source "$(dirname "$0")/common.sh"
export WEIR_KILLS="${WEIR_KILLS:-200}" WEIR_SEED="${WEIR_SEED:-$RANDOM}"
say "$WEIR_KILLS kills, seed $WEIR_SEED"
cargo test --workspace --test weir_tests storm::what_was_acknowledged_survives_every_kill -- --nocapture
