#!/usr/bin/env bash
# What `make test` does for ten seconds, for longer and with an optimised build: three servers under load, restarted in turn.
source "$(dirname "$0")/common.sh"
export WEIR_ROUNDS="${WEIR_ROUNDS:-3}" WEIR_BINARY="${WEIR:?the binary to run}"
say "$WEIR_ROUNDS rounds of restarts"
cargo test --workspace --test weir_tests rolling:: -- --nocapture
