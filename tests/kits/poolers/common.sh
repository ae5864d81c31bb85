# Shared by the poolers: each is run by `run.sh ADDRESS` before the database at ADDRESS, which is that of a Unix socket, prints its own
# address on loopback when it takes connections, and ends with its standard input.
set -euo pipefail
[[ $1 =~ ^postgres://([^@:]+)@([^:]+):([0-9]+)/(.+)$ ]] || { echo "not the address of a socket: $1" >&2; exit 1; }
user=${BASH_REMATCH[1]}
server=${BASH_REMATCH[2]//%2F//}
server_port=${BASH_REMATCH[3]}
database=${BASH_REMATCH[4]}
port=$(python3 -c 'import socket; it = socket.socket(); it.bind(("127.0.0.1", 0)); print(it.getsockname()[1])')
folder=$(mktemp -d)
# The server refuses root, and its socket is in a folder of its user's own.
as_postgres=()
if [ "$(id -u)" = 0 ]; then
  chown postgres "$folder"
  as_postgres=(setpriv --reuid postgres --regid postgres --clear-groups)
fi

# What ends the pooler without waiting for its clients.
signal=TERM

# serve COMMAND...: runs a pooler that listens on $port.
serve() {
  "$@" >"$folder/log" 2>&1 </dev/null & pooler=$!
  until python3 -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])))' "$port" 2>/dev/null; do
    kill -0 "$pooler" 2>/dev/null || { cat "$folder/log" >&2; exit 1; }
    sleep 0.05
  done
  echo "postgres://$user@127.0.0.1:$port/$database"
  read -r _ || true
  # One that has ended by itself says why.
  kill -0 "$pooler" 2>/dev/null || { echo "the pooler ended:"; tail -n 40 "$folder/log"; } >&2
  kill -"$signal" "$pooler" 2>/dev/null || true
  wait "$pooler" || true
  rm -rf "$folder"
}
