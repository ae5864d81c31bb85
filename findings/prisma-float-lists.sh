#!/usr/bin/env bash
# Prisma 7.10.1 (client 7.10.0, @prisma/adapter-pg 7.10.1) over PostgreSQL 18.4: a Float keeps all its digits, a Float in a list
# (`Float[]`) is written with 16 of them, so 0.1 + 0.2 becomes 0.3 in the database. The driver alone writes both to the last digit.
# Seen: `one 0.30000000000000004 list {0.3,123456789.1234568}`, and by pg alone `{0.30000000000000004,123456789.12345679}`.
source "$(dirname "$0")/postgres18.bash"
start_postgres prisma@7.10.1 @prisma/client@7.10.0 @prisma/adapter-pg@7.10.1 pg@8.23.1
run_sql <<'SQL'
create table "Reading" (id int primary key, one double precision, list double precision[]);
SQL
cat >schema.prisma <<'PRISMA'
generator client {
  provider = "prisma-client-js"
  output   = "./generated"
}
datasource db {
  provider = "postgresql"
}
model Reading {
  id   Int     @id
  one  Float?
  list Float[]
}
PRISMA
# No migration is run, so its engine is not needed.
PRISMA_SCHEMA_ENGINE_BINARY=/bin/true npx prisma generate --schema schema.prisma >generate.log 2>&1
cat >run.cjs <<'JS'
const { PrismaClient } = require("./generated");
const { PrismaPg } = require("@prisma/adapter-pg");
const { Client } = require("pg");
const values = [0.1 + 0.2, 123456789.123456789];
(async () => {
  const db = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.argv[2] }) });
  await db.reading.create({ data: { id: 1, one: values[0], list: values } });
  await db.$disconnect();
  const client = new Client({ connectionString: process.argv[2] });
  await client.connect();
  const { rows: [it] } = await client.query('select one::text, list::text from "Reading"');
  console.log("one", it.one, "list", it.list);
  const { rows: [alone] } = await client.query("select $1::float8[]::text list", [values]);
  console.log("pg alone", alone.list);
  await client.end();
})();
JS
node run.cjs "$url" >seen.log
expect seen.log "one 0.30000000000000004 list {0.3,123456789.1234568}"
expect seen.log "pg alone {0.30000000000000004,123456789.12345679}"
echo "as stated: Prisma 7.10.1 over PostgreSQL 18.4"
