#!/usr/bin/env bash
# PostgreSQL 18.4 and kysely-codegen 0.20.0: a NOT NULL constraint that is NOT VALID leaves its nulls in the table, while
# both `attnotnull` and information_schema's `is_nullable` call the column free of nulls. Only pg_constraint
# (contype 'n', convalidated false) tells. The generated type is `string`; the driver reads null.
# Seen: `{"attnotnull":true,"is_nullable":"NO","convalidated":false,"t":null}` and `t: string;`.
source "$(dirname "$0")/postgres18.bash"
start_postgres pg@8.23.1 kysely@0.28.19 kysely-codegen@0.20.0 typescript@5.9.3
run_sql <<'SQL'
create table note (id int primary key, t text);
insert into note values (1, null);
alter table note add constraint note_t not null t not valid;
SQL
npx kysely-codegen --dialect postgres --url "$url" --print >types.log
node -e '
  const { Client } = require("pg");
  (async () => {
    const client = new Client({ connectionString: process.argv[1] });
    await client.connect();
    const answer = await client.query(`select attnotnull, is_nullable, convalidated, n.t
      from note n, pg_attribute a, information_schema.columns c, pg_constraint k
      where a.attrelid = $$note$$::regclass and a.attname = $$t$$ and c.table_name = $$note$$ and c.column_name = $$t$$
        and k.conname = $$note_t$$`);
    console.log(JSON.stringify(answer.rows[0]));
    await client.end();
  })();
' "$url" >seen.log
expect seen.log '{"attnotnull":true,"is_nullable":"NO","convalidated":false,"t":null}'
expect types.log '  t: string;'
echo "as stated: PostgreSQL 18.4, kysely-codegen 0.20.0"
