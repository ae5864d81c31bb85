#!/usr/bin/env bash
# Runs foreign kits against Weir: object mappers and code generators, which write what `make test` reads, and poolers. An argument
# chooses kits by a part of their name.
source "$(dirname "$0")/common.sh"
need_file '/usr/lib/postgresql/*/bin/initdb' initdb postgresql
need go golang-go
need mvn maven
need_node
need_file /usr/sbin/pgbouncer pgbouncer pgbouncer
need_file /usr/sbin/pgpool pgpool pgpool2
bin=$(dirname "$(ls /usr/lib/postgresql/*/bin/initdb | sort -V | tail -1)")
work=${CARGO_TARGET_DIR:-$PWD/target}/kits
written=tests/kits/written
mkdir -p "$work" "$written"
# A server of the kits' own, over loopback, which ends with them. The server refuses root.
data=$(mktemp -d)
as_postgres() { if [ "$(id -u)" = 0 ]; then su -s /bin/bash postgres -c "$(printf '%q ' "$@")"; else "$@"; fi; }
[ "$(id -u)" != 0 ] || chown postgres "$data"
port=$(python3 -c 'import socket; it = socket.socket(); it.bind(("127.0.0.1", 0)); print(it.getsockname()[1])')
as_postgres "$bin/initdb" --no-sync --no-instructions -U postgres -E UTF8 --locale=C.UTF-8 --auth=trust -D "$data/d" >/dev/null
as_postgres "$bin/pg_ctl" -w -D "$data/d" -l "$data/log" start \
  -o "-p $port -k $data -c listen_addresses=127.0.0.1 -c fsync=off -c timezone=UTC" >/dev/null
finish() {
  kill "${started[@]}" 2>/dev/null || true
  as_postgres "$bin/pg_ctl" -D "$data/d" -m immediate stop >/dev/null
  rm -rf "$data"
}
started=()
trap finish EXIT
is_chosen() { [ -z "$chosen" ] || [[ $1 == *$chosen* ]]; }
chosen=${1:-}
# go_round NAME KIND ADDRESS: the mapper writes, Weir reads and changes, the mapper reads again.
go_round() {
  local run=tests/kits/mappers/$1/run.sh
  export KIT_HOME=$work/$1
  mkdir -p "$KIT_HOME"
  "$run" write "$3"
  case $2 in
    sqlite) python3 -c 'import sqlite3, sys; it = sqlite3.connect(sys.argv[1]); it.execute("PRAGMA journal_mode = DELETE"); it.execute("VACUUM")' "${3#sqlite:}"
      cp "${3#sqlite:}" "$written/$1.sqlite" ;;
    postgres) "$bin/pg_dump" --no-owner --no-privileges "$3" | grep -vE '^\\(un)?restrict ' >"$written/$1.sql" ;;
  esac
  "$run" read "$3" >"$KIT_HOME/before.txt"
  WEIR_KIT=$3 cargo test --quiet --workspace --test weir_tests -- --nocapture --exact mappers::the_database_of_a_kit_goes_round | grep 'went round'
  "$run" read "$3" >"$KIT_HOME/after.txt"
  cmp "$KIT_HOME/before.txt" "$KIT_HOME/after.txt" || die "$1 on $2: the mapper reads something else than before"
  say "$1 on $2: equal"
}

for folder in tests/kits/mappers/*/; do
  name=$(basename "$folder")
  is_chosen "$name" || continue
  say "$name"
  file=$work/$name.sqlite
  rm -f "$file"*
  go_round "$name" sqlite "sqlite:$file"
  "$bin/createdb" -h 127.0.0.1 -p "$port" -U postgres "$name"
  go_round "$name" postgres "postgres://postgres@127.0.0.1:$port/$name"
done

# free_port: a port on loopback.
free_port() { python3 -c 'import socket; it = socket.socket(); it.bind(("127.0.0.1", 0)); print(it.getsockname()[1])'; }

# serve TARGET PATH: starts Weir over TARGET; `url` is its address with PATH.
serve() {
  local port
  port=$(free_port)
  "$weir" serve "$1" --listen "127.0.0.1:$port" >"$data/weir-$port" 2>&1 & started+=($!)
  curl -fs -o /dev/null --retry 100 --retry-connrefused --retry-delay 0 --retry-max-time 60 "http://127.0.0.1:$port/readyz" ||
    { cat "$data/weir-$port"; die "weir did not start"; }
  url="http://127.0.0.1:$port$2"
}

# record FOLDER NAME HEADER: keeps what is asked at `url` from now on as golden cases; `url` is where to ask.
record() {
  local out
  out=$(mktemp -p "$data")
  tail --pid=$$ -f /dev/null | python3 tests/kits/record.py "tests/golden/$1" "$2" "$3" "$url" >"$out" & started+=($!)
  until [ -s "$out" ]; do sleep 0.1; done
  url=$(cat "$out")
}

# generate NAME DATABASE: runs a code generator over the schemas of Chinook in DATABASE and of the restaurants, and the clients it made.
generate() {
  local name=${1%-codegen} schemas=$data/schemas urls=() native
  mkdir -p "$schemas"
  export KIT_HOME=$work/$1
  mkdir -p "$KIT_HOME"
  printf 'dev: true\nrelay: {enabled: true}\nsources:\n  - name: chinook\n    url: %s\n' "$2" >"$data/chinook.yaml"
  serve "$data/chinook.yaml" /v1/graphql
  "$weir" schema "$data/chinook.yaml" >"$schemas/tables.graphql"
  node "$work/sdl/sdl.cjs" "${url/v1\/graphql/v1beta1/relay}" >"$schemas/relay.graphql"
  local relay=${url/v1\/graphql/v1beta1/relay}
  record kits "$name" "accent: hasura"; urls+=("$url")
  # A new store: the server of the round before still has its own.
  native=$(mktemp -d -p "$data")
  cp examples/restaurants/schema.graphql "$native/"
  serve "$native/schema.graphql" /graphql
  "$weir" schema "$native/schema.graphql" >"$schemas/native.graphql"
  record kits_native "$name" ""; urls+=("$url")
  url=$relay
  record kits "${name}_relay" "relay: true"; urls+=("$url")
  "tests/kits/generators/$1/run.sh" "$schemas" "${urls[@]}"
}

debug_weir
weir=$(realpath "$weir")
mkdir -p "$work/sdl"
[ -d "$work/sdl/node_modules" ] || (cd "$work/sdl" && npm init -y >/dev/null && npm install --no-audit --no-fund --loglevel=error graphql@16.11.0)
cp tests/kits/generators/sdl.cjs "$work/sdl/"
for folder in tests/kits/generators/*/; do
  name=$(basename "$folder")
  [ "$name" != operations ] && is_chosen "$name" || continue
  say "$name on SQLite"
  # A new file: the server of the kit before still has its own.
  file=$(mktemp -d -p "$data")/chinook.db
  python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(open("examples/chinook/chinook.sql").read())' "$file"
  generate "$name" "sqlite:$file"
  say "$name on PostgreSQL"
  "$bin/createdb" -h 127.0.0.1 -p "$port" -U postgres "chinook-$name"
  { cat examples/chinook/postgres-before.sql; sed -n '/^INSERT INTO/,$p' examples/chinook/chinook.sql; cat examples/chinook/postgres-after.sql; } |
    "$bin/psql" -q -v ON_ERROR_STOP=1 "postgres://postgres@127.0.0.1:$port/chinook-$name" >/dev/null
  generate "$name" "postgres://postgres@127.0.0.1:$port/chinook-$name"
done

# behind NAME: asks the golden cases through a pooler, and keeps which answers differ.
behind() {
  local log=$work/$1.log
  mkdir -p "$work/pglite" "$written/poolers"
  export KIT_HOME=$work/pglite
  [ -d "$KIT_HOME/node_modules" ] ||
    (cd "$KIT_HOME" && npm init -y >/dev/null && npm install --no-audit --no-fund --loglevel=error @electric-sql/pglite@0.5.14 @electric-sql/pglite-socket@0.2.17)
  cp tests/kits/poolers/pglite.mjs "$KIT_HOME/server.mjs"
  rm -f "$KIT_HOME"/empty*.tar
  # ONLY chooses kits here and golden cases there.
  WEIR_POOLER=$PWD/tests/kits/poolers/$1/run.sh env -u ONLY cargo test --quiet --workspace --test golden >"$log" 2>&1 || true
  python3 tests/kits/poolers/report.py "tests/kits/poolers/$1" "$log" >"$written/poolers/$1.md" || die "$1: see $log"
  say "$1: $(sed -n 3p "$written/poolers/$1.md")"
}

for folder in tests/kits/poolers/*/; do
  name=$(basename "$folder")
  is_chosen "$name" || continue
  say "$name"
  behind "$name"
done
