#!/usr/bin/env bash
# SQLite 3.54.1 (apsw 3.54.1.0; 3.40.1 is the same): `ON CONFLICT (e)` without a collation also names a unique index
# whose column has another collation. Where a table has two, one BINARY and one NOCASE, the one that was created last is
# taken. So the same statement over the same two indexes updates 'A' or fails, by the order of two CREATE INDEX.
# `ON CONFLICT (e COLLATE BINARY)` is exact.
# Seen: with the NOCASE index last `hit`; with the BINARY index last `UNIQUE constraint failed: u.e`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet apsw==3.54.1.0
"$folder/env/bin/python" - <<'PY'
import apsw
assert apsw.sqlite_lib_version() == "3.54.1"
NOCASE = "create unique index u_nocase on u (e collate nocase)"
BINARY = "create unique index u_binary on u (e)"
def outcome(indexes, target):
    connection = apsw.Connection(":memory:")
    connection.execute("create table u (id integer primary key, e text)")
    for index in indexes:
        connection.execute(index)
    connection.execute("insert into u (e) values ('A')")
    try:
        rows = connection.execute(f"insert into u (e) values ('a') on conflict ({target}) do update set e = 'hit' returning e")
        return rows.fetchone()[0]
    except (apsw.ConstraintError, apsw.SQLError) as error:
        return str(error)
seen = [
    outcome([NOCASE], "e"),
    outcome([BINARY, NOCASE], "e"),
    outcome([NOCASE, BINARY], "e"),
    outcome([NOCASE], "e collate binary"),
]
print(seen)
assert seen[:3] == ["hit", "hit", "UNIQUE constraint failed: u.e"]
assert seen[3].startswith("ON CONFLICT clause does not match")
PY
echo "as stated: SQLite 3.54.1"
