#!/usr/bin/env bash
# Pgpool-II in raw mode, with eight connections at a time.
source "$(dirname "$0")/../common.sh"
cat >"$folder/pgpool.conf" <<CONF
backend_clustering_mode = 'raw'
listen_addresses = '127.0.0.1'
port = $port
unix_socket_directories = '$folder'
socket_dir = '$folder'
pcp_listen_addresses = '127.0.0.1'
pcp_port = $(python3 -c 'import socket; it = socket.socket(); it.bind(("127.0.0.1", 0)); print(it.getsockname()[1])')
pcp_socket_dir = '$folder'
pid_file_name = '$folder/pgpool.pid'
logdir = '$folder'
backend_hostname0 = '$server'
backend_port0 = $server_port
backend_weight0 = 1
num_init_children = 8
max_pool = 1
enable_pool_hba = off
CONF
signal=INT
: >"$folder/pcp.conf"
: >"$folder/pool_hba.conf"
serve "${as_postgres[@]}" "$(command -v pgpool || echo /usr/sbin/pgpool)" -n -f "$folder/pgpool.conf" -F "$folder/pcp.conf" -a "$folder/pool_hba.conf"
