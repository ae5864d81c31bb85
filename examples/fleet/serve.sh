#!/usr/bin/env bash
# Makes fleet.db, if it is not there, and serves it. WEIR names the program.
set -euo pipefail
cd "$(dirname "$0")"
if [ ! -e fleet.db ]; then
  python3 -c 'import sqlite3; sqlite3.connect("fleet.db").executescript(open("schema.sql").read())'
fi
exec "${WEIR:-weir}" serve "$@"
