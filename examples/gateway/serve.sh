#!/usr/bin/env bash
# Starts the made-up services and serves the match centre over them. WEIR names the program; both end together.
set -euo pipefail
cd "$(dirname "$0")"
weir=${WEIR:-weir}
"$weir" mock mock.yaml --listen 127.0.0.1:3900 &
mock=$!
trap 'kill "$mock" 2>/dev/null || true' EXIT
"$weir" serve services.graphql "$@"
