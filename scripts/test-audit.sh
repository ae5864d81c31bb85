#!/usr/bin/env bash
# The 61 audits of GraphQL over HTTP against a running demo.
source "$(dirname "$0")/common.sh"
need_node
audit_packages
debug_weir
data=$(mktemp -d)
port=$(node -e 'const s=require("net").createServer().listen(0,"127.0.0.1",()=>{console.log(s.address().port);s.close()})')
"$weir" demo --listen "127.0.0.1:$port" --data "$data" 2>"$data/log" & pid=$!
trap 'kill $pid 2>/dev/null; wait $pid 2>/dev/null || true; rm -rf "$data"' EXIT
curl -fsS -o /dev/null --retry 100 --retry-connrefused --retry-delay 0 --retry-max-time 30 "http://127.0.0.1:$port/readyz" || { cat "$data/log"; die "weir demo did not start"; }
node tests/audit/audit.mjs "http://127.0.0.1:$port/graphql"
