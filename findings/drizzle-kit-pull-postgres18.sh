#!/usr/bin/env bash
# drizzle-kit 0.31.11 (drizzle-orm 0.45.4) reads a PostgreSQL 18.4 schema back as a different one, without a warning:
# - a virtual generated column becomes a STORED one;
# - a key WITHOUT OVERLAPS becomes a plain one, and its columns are listed in reverse: ("valid","id") for (id, valid);
# - a foreign key with PERIOD becomes a plain one, which compares the ranges for equality.
# Seen in out/0000_*.sql:
#   "doubled" integer GENERATED ALWAYS AS ((n * 2)) STORED
#   CONSTRAINT "room_pkey" PRIMARY KEY("valid","id")
#   FOREIGN KEY ("room","span") REFERENCES "public"."room"("id","valid")
source "$(dirname "$0")/postgres18.bash"
start_postgres pg@8.23.1 drizzle-kit@0.31.11 drizzle-orm@0.45.4
run_sql <<'SQL'
create extension btree_gist;
create table room (id int, valid daterange, primary key (id, valid without overlaps));
create table booking (id int primary key, room int, span daterange, foreign key (room, period span) references room (id, period valid));
create table number (n int primary key, doubled int generated always as (n * 2) virtual);
SQL
npx drizzle-kit pull --dialect postgresql --url "$url" --out out >pull.log 2>&1
cat out/0000_*.sql >written.sql
expect written.sql '"doubled" integer GENERATED ALWAYS AS ((n * 2)) STORED'
expect written.sql 'PRIMARY KEY("valid","id")'
expect written.sql 'FOREIGN KEY ("room","span") REFERENCES "public"."room"("id","valid")'
! grep -qiE 'period|without overlaps|virtual' written.sql
echo "as stated: drizzle-kit 0.31.11 over PostgreSQL 18.4"
