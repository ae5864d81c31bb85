#!/usr/bin/env bash
# pgbouncer.sh ADDRESS MODE: PgBouncer with four connections to the database.
source "$(dirname "$0")/common.sh"
cat >"$folder/pgbouncer.ini" <<INI
[databases]
* = host=$server port=$server_port user=$user
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir =
auth_type = any
pool_mode = $2
default_pool_size = 4
INI
serve "${as_postgres[@]}" "$(command -v pgbouncer || echo /usr/sbin/pgbouncer)" "$folder/pgbouncer.ini"
