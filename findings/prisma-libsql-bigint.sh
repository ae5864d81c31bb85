#!/usr/bin/env bash
# Prisma 7.10.1 (client 7.10.0) with @prisma/adapter-libsql 7.10.0 on a SQLite file: a BigInt above 2^53 - 1 can be written and never read.
# `create` throws, although the row is stored with all its digits; `findFirst` throws too, and a filter by the value finds the row.
# Seen: `create RangeError Received integer which cannot be safely represented as a JavaScript number`, then `stored 9007199254740993`,
# `find RangeError …`, `found by value [ { id: 1 } ]`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --ignore-scripts --no-audit --no-fund prisma@7.10.1 @prisma/client@7.10.0 @prisma/adapter-libsql@7.10.0 >>npm.log 2>&1
cat >schema.prisma <<'PRISMA'
generator client {
  provider = "prisma-client-js"
  output   = "./generated"
}
datasource db {
  provider = "sqlite"
}
model Counter {
  id    Int    @id
  value BigInt
}
PRISMA
# No migration is run, so its engine is not needed.
PRISMA_SCHEMA_ENGINE_BINARY=/bin/true npx prisma generate --schema schema.prisma >generate.log 2>&1
cat >run.cjs <<'JS'
const { PrismaClient } = require("./generated");
const { PrismaLibSql } = require("@prisma/adapter-libsql");
const told = (error) => `${error.constructor.name} ${error.message}`;
(async () => {
  const db = new PrismaClient({ adapter: new PrismaLibSql({ url: "file:counter.db" }) });
  await db.$executeRawUnsafe('create table "Counter" (id integer primary key, value bigint not null)');
  const value = 9007199254740993n;
  await db.counter.create({ data: { id: 1, value } }).catch((error) => console.log("create", told(error)));
  const [{ text }] = await db.$queryRawUnsafe(`select value || '' text from "Counter"`);
  console.log("stored", text);
  await db.counter.findFirst().catch((error) => console.log("find", told(error)));
  console.log("found by value", await db.counter.findMany({ where: { value }, select: { id: true } }));
  await db.$disconnect();
})();
JS
node run.cjs >seen.log
for line in "create RangeError Received integer which cannot be safely represented as a JavaScript number" "stored 9007199254740993" \
  "find RangeError Received integer" "found by value [ { id: 1 } ]"; do
  grep -qF -- "$line" seen.log || { echo "changed: \`$line\` is not in the output:"; cat seen.log; exit 1; }
done
echo "as stated: Prisma 7.10.1 with libSQL"
