#!/usr/bin/env bash
# PostgreSQL 18.4 (15 is the same): `ON CONFLICT (name) WHERE id > 0` names a partial unique index, and every other unique
# index over `name` too that holds for these rows. If one of these is of a deferrable constraint, the statement fails or
# not by the row and by the order in which the indexes were made: it updates a row that the older, partial index finds,
# and is refused for a row that is new.
# Seen: `UPDATED n`, then `ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters`.
source "$(dirname "$0")/postgres18.bash"
start_postgres pg@8.23.1
run_sql <<'SQL'
create table note (id int primary key, name text);
create unique index note_some on note (name) where id > 0;
insert into note values (1, 'n');
alter table note add constraint note_late unique (name) deferrable;
SQL
upsert() {
  echo "insert into note values ($1, '$2') on conflict (name) where id > 0 do update set name = excluded.name" | run_sql
}
upsert 1 n >seen.log 2>&1
echo "UPDATED n" >>seen.log
upsert 2 m >>seen.log 2>&1 && { echo "a new row is taken"; exit 1; }
expect seen.log "UPDATED n"
expect seen.log "ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters"
echo "as stated: PostgreSQL 18.4"
