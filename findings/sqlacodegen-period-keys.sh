#!/usr/bin/env bash
# SQLAlchemy 2.0.58 and sqlacodegen 4.0.4 over PostgreSQL 18.4: a foreign key with PERIOD is reflected as a plain one.
# The generated model has a relationship that compares the ranges for equality, so it loads None for a row whose key holds:
# booking 1 spans two rows of room 1, which together contain its span.
# Seen: `{'constrained_columns': ['room', 'span'], 'referred_columns': ['id', 'valid'], 'options': {}}`, then `room_ is None`.
source "$(dirname "$0")/postgres18.bash"
start_postgres pg@8.23.1
python3 -m venv env
env/bin/pip install --quiet SQLAlchemy==2.0.58 sqlacodegen==4.0.4 'psycopg[binary]==3.3.9'
run_sql <<'SQL'
create extension btree_gist;
create table room (id int, valid daterange, primary key (id, valid without overlaps));
create table booking (id int primary key, room int, span daterange, foreign key (room, period span) references room (id, period valid));
insert into room values (1, '[2026-01-01,2026-02-01)'), (1, '[2026-02-01,2026-03-01)');
insert into booking values (1, 1, '[2026-01-20,2026-02-10)');
SQL
address="postgresql+psycopg://finder@127.0.0.1:$port/postgres"
env/bin/sqlacodegen "$address" --tables booking,room --outfile models.py
env/bin/python - "$address" >seen.log <<'PY'
import sys
import sqlalchemy
from sqlalchemy.orm import Session
import models
engine = sqlalchemy.create_engine(sys.argv[1])
key = sqlalchemy.inspect(engine).get_foreign_keys("booking")[0]
print(key["constrained_columns"], key["referred_columns"], key["options"])
with Session(engine) as session:
    print("room_ is", session.get(models.Booking, 1).room_)
PY
expect seen.log "['room', 'span'] ['id', 'valid'] {}"
expect seen.log "room_ is None"
echo "as stated: sqlacodegen 4.0.4 over PostgreSQL 18.4"
