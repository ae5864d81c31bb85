#!/usr/bin/env bash
# pglite.sh ADDRESS CONNECTIONS: a copy of the database in PGlite, behind its socket server.
source "$(dirname "$0")/common.sh"
dump=$(ls -d /usr/lib/postgresql/*/bin/pg_dump 2>/dev/null | sort -V | tail -1)
"${as_postgres[@]}" "${dump:-pg_dump}" --no-owner --no-privileges -h "$server" -p "$server_port" -U "$user" --inserts --rows-per-insert=500 "$database" >"$folder/dump.sql"
database=postgres
user=postgres
cd "$KIT_HOME"
serve node server.mjs "$folder/dump.sql" "$port" "$2"
