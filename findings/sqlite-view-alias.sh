#!/usr/bin/env bash
# SQLite 3.54.1 (apsw 3.54.1.0): UPDATE and DELETE take an alias for their target, and WHERE knows it for a table.
# For a view with INSTEAD OF triggers the same alias is unknown in WHERE: `no such column: x.id`. The view's own name and
# unqualified columns work.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet apsw==3.54.1.0
"$folder/env/bin/python" - <<'PY'
import apsw
assert apsw.sqlite_lib_version() == "3.54.1"
connection = apsw.Connection(":memory:")
connection.execute("""
  create table t (id integer primary key, v text);
  create view w as select id, v from t;
  create trigger w_update instead of update on w begin update t set v = new.v where id = old.id; end;
  create trigger w_delete instead of delete on w begin delete from t where id = old.id; end;
  insert into t values (1, 'a'), (2, 'b');
""")
def outcome(statement):
    try:
        connection.execute(statement).fetchall()
        return "ok"
    except apsw.SQLError as error:
        return str(error)
seen = [outcome(it) for it in (
    "update t as x set v = 'c' where x.id = 1",
    "update w as x set v = 'd' where x.id = 1",
    "delete from w as x where x.id = 1",
    "update w as x set v = 'e' where id = 1",
    "update w set v = 'f' where w.id = 1",
)]
print(seen)
assert seen == ["ok", "no such column: x.id", "no such column: x.id", "ok", "ok"]
PY
echo "as stated: SQLite 3.54.1"
