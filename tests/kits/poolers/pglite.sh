#!/usr/bin/env bash
# pglite.sh ADDRESS CONNECTIONS: a copy of the database in PGlite, behind its socket server.
source "$(dirname "$0")/common.sh"
dump=$(ls -d /usr/lib/postgresql/*/bin/pg_dump 2>/dev/null | sort -V | tail -1)
"${as_postgres[@]}" "${dump:-pg_dump}" --no-owner --no-privileges -h "$server" -p "$server_port" -U "$user" --inserts --rows-per-insert=500 "$database" >"$folder/dump.sql"
# The dump lacks what the database sets for its sessions.
"${as_postgres[@]}" psql -AtX -h "$server" -p "$server_port" -U "$user" "$database" >"$folder/settings.sql" -c \
  "SELECT format('SELECT set_config(%L, %L, false);', split_part(it, '=', 1), substr(it, strpos(it, '=') + 1))
   FROM pg_db_role_setting, unnest(setconfig) AS it WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())"
database=postgres
user=postgres
cd "$KIT_HOME"
serve node server.mjs "$folder/dump.sql" "$folder/settings.sql" "$port" "$2"
