#!/usr/bin/env bash
# Starts the made-up services and serves the harbour, whose boats are in harbour.weir.db. WEIR names the program; when one ends, both do.
set -euo pipefail
cd "$(dirname "$0")"
weir=${WEIR:-weir}
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
trap exit INT TERM
"$weir" mock mock.yaml --listen 127.0.0.1:3901 &
"$weir" serve harbour.graphql "$@" &
wait -n
