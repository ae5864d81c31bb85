#!/usr/bin/env bash
# PostgreSQL 18.4 (15 is the same): a primary key over a composite type, one of whose fields has no order, is accepted, and so is
# the first row. Nothing can be compared with it: neither a second row nor `k = $1` with the value that was just read.
# Seen: `ok`, `ok`, then twice 42883 `could not identify a comparison function for type point`.
source "$(dirname "$0")/postgres18.bash"
start_postgres pg@8.23.1
node -e '
  const { Client } = require("pg");
  (async () => {
    const client = new Client({ connectionString: process.argv[1] });
    await client.connect();
    for (const sql of [
      "create type place as (name text, at point); create table stop (k place primary key)",
      "insert into stop values ((\x27a\x27, \x27(1,2)\x27))",
      "insert into stop values ((\x27a\x27, \x27(1,3)\x27))",
      "select * from stop where k = (select k from stop)",
    ]) {
      console.log(await client.query(sql).then(() => "ok", (error) => `${error.code} ${error.message}`));
    }
    await client.end();
  })();
' "$url" >seen.log
cat seen.log
[ "$(head -2 seen.log | sort -u)" = ok ]
[ "$(tail -2 seen.log | sort -u)" = '42883 could not identify a comparison function for type point' ]
echo "as stated: PostgreSQL 18.4"
