#!/usr/bin/env bash
# SQLite 3.54.1 (apsw 3.54.1.0): a statement that writes is prepared on a read-only connection without its constraints. A CHECK that
# calls a function which the connection does not have is passed over there; a connection that may write refuses the same text. So
# preparing statements on a read-only connection does not tell whether they can be run.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet apsw==3.54.1.0
"$folder/env/bin/python" - "$folder/a.db" <<'PY'
import apsw, sys
assert apsw.sqlite_lib_version() == "3.54.1"
made = apsw.Connection(sys.argv[1])
made.create_scalar_function("regexp", lambda pattern, text: 1, 2, deterministic=True)
made.execute("create table a (id integer primary key, t text check (t regexp '^a'))")
made.close()
def outcome(flags):
    connection = apsw.Connection(sys.argv[1], flags=flags)
    try:
        connection.execute("explain insert into a (t) values (null)").fetchall()
        return "prepared"
    except apsw.SQLError as error:
        return str(error)
seen = [outcome(apsw.SQLITE_OPEN_READONLY), outcome(apsw.SQLITE_OPEN_READWRITE)]
print(seen)
assert seen == ["prepared", "unknown function: regexp()"]
PY
echo "as stated: SQLite 3.54.1"
