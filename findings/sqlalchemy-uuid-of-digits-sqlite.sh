#!/usr/bin/env bash
# SQLAlchemy 2.1.9 on SQLite: the column type `sqlalchemy.UUID` (the uppercase one) is declared as UUID, whose affinity is NUMERIC, and a
# value is written as 32 hexadecimal digits. A UUID whose digits happen to be a number is stored as one and loses most of them, and
# reading the row back raises AttributeError. The type `sqlalchemy.Uuid` is CHAR(32) and keeps all.
# Seen: stored as `real 1.23456781234568e+31`; `AttributeError: 'float' object has no attribute 'replace'`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet SQLAlchemy==2.1.9
"$folder/env/bin/python" - <<'PY'
import uuid
import sqlalchemy as sa

key = uuid.UUID("12345678-1234-5678-1234-567812345678")
engine = sa.create_engine("sqlite://")
meta = sa.MetaData()
upper = sa.Table("upper", meta, sa.Column("key", sa.UUID()))
lower = sa.Table("lower", meta, sa.Column("key", sa.Uuid()))
with engine.begin() as connection:
    meta.create_all(connection)
    for table in (upper, lower):
        connection.execute(table.insert().values(key=key))
    stored = connection.exec_driver_sql("SELECT typeof(key) || ' ' || key FROM upper").scalar()
    kept = connection.execute(sa.select(lower.c.key)).scalar()
    try:
        read = connection.execute(sa.select(upper.c.key)).scalar()
    except AttributeError as error:
        read = f"AttributeError: {error}"
print(stored, "|", read)
assert stored.startswith("real 1.2345678123456"), stored
assert read == "AttributeError: 'float' object has no attribute 'replace'", read
assert kept == key
PY
echo "as stated: SQLAlchemy 2.1.9 on SQLite"
