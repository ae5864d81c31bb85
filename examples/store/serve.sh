#!/usr/bin/env bash
# Makes store.db, if it is not there, starts what stands around the shop, and serves it. WEIR names the program; when one ends, all do.
set -euo pipefail
cd "$(dirname "$0")"
weir=${WEIR:-weir}
if [ ! -e store.db ]; then
  python3 -c 'import sqlite3; sqlite3.connect("store.db").executescript(open("store.sql").read())'
fi
export STORE_SERVICES=${STORE_SERVICES:-http://127.0.0.1:3901} STORE_CARRIERS=${STORE_CARRIERS:-http://127.0.0.1:3902}
export STORE_MAIL_KEY=${STORE_MAIL_KEY:-the key of the example}
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
trap exit INT TERM
"$weir" mock services.yaml --listen "${STORE_SERVICES#http://}" &
"$weir" serve carriers.graphql --listen "${STORE_CARRIERS#http://}" &
# Both have to listen: a remote schema that is away is left out until a later look.
for url in "$STORE_SERVICES" "$STORE_CARRIERS"; do
  until (: >"/dev/tcp/$(sed 's|http://||; s|:|/|' <<<"$url")") 2>/dev/null; do
    [ "$(jobs -rp | wc -l)" = 2 ] || exit 1
    sleep 0.1
  done
done
"$weir" serve "$@" &
wait -n
