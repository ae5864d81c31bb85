#!/usr/bin/env bash
# PostgreSQL 18.4 (15 is the same): values of `xid` can be hashed and not sorted. GROUP BY, SELECT DISTINCT and UNION take them;
# count(DISTINCT …) and array_agg(DISTINCT …) do not, as aggregates find distinct values by sorting alone.
# Seen: `ok`, `ok`, `ok`, then twice 42883 `could not identify an ordering operator for type xid`.
source "$(dirname "$0")/postgres18.bash"
start_postgres pg@8.23.1
node -e '
  const { Client } = require("pg");
  (async () => {
    const client = new Client({ connectionString: process.argv[1] });
    await client.connect();
    await client.query("create table t (x xid); insert into t values (\x271\x27), (\x271\x27), (\x272\x27)");
    for (const sql of [
      "select x, count(*) from t group by x",
      "select distinct x from t",
      "select x from t union select x from t",
      "select count(distinct x) from t",
      "select array_agg(distinct x) from t",
    ]) {
      console.log(await client.query(sql).then(() => "ok", (error) => `${error.code} ${error.message}`));
    }
    await client.end();
  })();
' "$url" >seen.log
cat seen.log
[ "$(head -3 seen.log | sort -u)" = ok ]
[ "$(tail -2 seen.log | sort -u)" = '42883 could not identify an ordering operator for type xid' ]
echo "as stated: PostgreSQL 18.4"
