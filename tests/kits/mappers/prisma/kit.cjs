// Writes and reads a table with every field type of Prisma; `schema` writes the schema that the client is generated from.
//
// The list of types is Prisma's own: the scalars, and the native types that its schema module names for the database. One without a
// column ends the program.
const fs = require("node:fs");
const { inspect } = require("node:util");

const [command, address] = process.argv.slice(2);
const isPostgres = address.startsWith("postgres://");

const texts = ["Straße, 東京", ""];
const bytes = [Uint8Array.from([0, 255, 65]), new Uint8Array()];
const moments = [new Date("2024-02-29T23:59:59.123Z"), new Date(0)];
const documents = [{ a: [1, 2.5, null], b: { c: true } }, []];
const key = ["0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c001", "00000000-0000-0000-0000-000000000000"];
const whole = [2147483647, -1];
// The adapter of SQLite refuses to read more than a number of JavaScript holds.
const big = [isPostgres ? 9223372036854775807n : 9007199254740991n, -1n];

// Names of scalars with the type of their column in SQLite and in PostgreSQL, and two values; the third row has nulls.
const scalars = {
  String: ["TEXT", "TEXT", texts],
  Boolean: ["BOOLEAN", "BOOLEAN", [true, false]],
  Int: ["INTEGER", "INTEGER", whole],
  BigInt: ["BIGINT", "BIGINT", big],
  Float: ["REAL", "DOUBLE PRECISION", [0.1 + 0.2, 1e300]],
  Decimal: ["DECIMAL", "DECIMAL(65,30)", ["1234.5", "-0.25"]],
  DateTime: ["DATETIME", "TIMESTAMP(3)", moments],
  Json: ["JSONB", "JSONB", documents],
  Bytes: ["BLOB", "BYTEA", bytes],
};

// Native types with their arguments, the type of their column, and two values.
const native = {
  SmallInt: ["SMALLINT", [-32768, 0]],
  Integer: ["INTEGER", whole],
  BigInt: ["BIGINT", big],
  Decimal: ["DECIMAL(20,6)", ["12345678901234.123456", "-0.000001"], "(20, 6)"],
  Money: ["MONEY", ["1234.5", "-0.01"]],
  Inet: ["INET", ["10.0.0.1", "2001:db8::1/64"]],
  Oid: ["OID", [2147483647, 0]],
  Citext: ["CITEXT", texts],
  Real: ["REAL", [0.5, -0.25]],
  DoublePrecision: ["DOUBLE PRECISION", [0.1 + 0.2, 1e300]],
  VarChar: ["VARCHAR(40)", texts, "(40)"],
  Char: ["CHAR(6)", ["sixsix", "123456"], "(6)"],
  Text: ["TEXT", texts],
  ByteA: ["BYTEA", bytes],
  Timestamp: ["TIMESTAMP(6)", moments, "(6)"],
  Timestamptz: ["TIMESTAMPTZ(6)", moments, "(6)"],
  Date: ["DATE", [new Date("2024-02-29"), new Date("1970-01-01")]],
  Time: ["TIME(6)", [new Date("1970-01-01T12:30:15.250Z"), new Date(0)], "(6)"],
  Timetz: ["TIMETZ(6)", [new Date("1970-01-01T12:30:15.250Z"), new Date(0)], "(6)"],
  Boolean: ["BOOLEAN", [true, false]],
  Bit: ["BIT(4)", ["1010", "0000"], "(4)"],
  VarBit: ["VARBIT(8)", ["101", "1"], "(8)"],
  Uuid: ["UUID", key],
  Xml: ["XML", ["<a>1</a>", "<b/>"]],
  Json: ["JSON", documents],
  JsonB: ["JSONB", documents],
};

const provider = isPostgres ? "postgresql" : "sqlite";
const { native_types: nativeTypes } = require("@prisma/prisma-schema-wasm");
const known = JSON.parse(nativeTypes(JSON.stringify([["kit.prisma", `datasource db {\n  provider = "${provider}"\n}\n`]])));
const missing = known.filter((it) => !(it.name in native));
if (missing.length) throw new Error(`native types without a column: ${missing.map((it) => it.name)}`);

// Fields with their line in the schema, the type of their column, and their values.
const fields = {};
for (const [name, [sqlite, postgres, values]] of Object.entries(scalars)) {
  fields[`any_${name}`] = [`${name}?`, isPostgres ? postgres : sqlite, values];
  if (isPostgres) fields[`list_${name}`] = [`${name}[]`, `${postgres}[]`, values.map((it) => [it])];
}
for (const { name, prisma_types: [scalar] } of known) {
  const [type, values, options = ""] = native[name];
  fields[`db_${name}`] = [`${scalar}? @db.${name}${options}`, type, values];
}
fields.color = ["Color?", isPostgres ? `"Color"` : "TEXT", ["red", "dark_blue"]];

const lines = (format) => Object.entries(fields).map(([name, it]) => format(name, it)).join("\n");

const schema = () => `generator client {
  provider = "prisma-client-js"
  output   = "./generated"
}
datasource db {
  provider = "${provider}"
}
enum Color {
  red
  dark_blue
}
model Everything {
  id    Int    @id @default(autoincrement())
${lines((name, [line]) => `  ${name} ${line}`)}
  email String? @unique
  pairs Pair[]
}
model Pair {
  everythingId Int
  name         String
  note         String?
  everything   Everything @relation(fields: [everythingId], references: [id])
  @@id([everythingId, name])
}
`;

// As `prisma migrate` writes them: a unique field is an index, no constraint.
const tables = () => `
${isPostgres ? `CREATE EXTENSION citext; CREATE TYPE "Color" AS ENUM ('red', 'dark_blue');` : ""}
CREATE TABLE "Everything" ("id" ${isPostgres ? "SERIAL NOT NULL PRIMARY KEY" : "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT"},
${lines((name, [, type]) => `"${name}" ${type},`)} "email" TEXT);
CREATE UNIQUE INDEX "Everything_email_key" ON "Everything"("email");
CREATE TABLE "Pair" ("everythingId" INTEGER NOT NULL, "name" TEXT NOT NULL, "note" TEXT, PRIMARY KEY ("everythingId", "name"),
  CONSTRAINT "Pair_everythingId_fkey" FOREIGN KEY ("everythingId") REFERENCES "Everything" ("id") ON DELETE RESTRICT ON UPDATE CASCADE);`;

async function make() {
  if (isPostgres) {
    const client = new (require("pg").Client)(address);
    await client.connect();
    await client.query(tables());
    return client.end();
  }
  const client = require("@libsql/client").createClient({ url: `file:${address.slice(7)}` });
  await client.executeMultiple(tables());
  client.close();
}

function open() {
  const { PrismaClient } = require("./generated");
  const adapter = isPostgres
    ? new (require("@prisma/adapter-pg").PrismaPg)({ connectionString: address })
    : new (require("@prisma/adapter-libsql").PrismaLibSql)({ url: `file:${address.slice(7)}` });
  return new PrismaClient({ adapter });
}

async function write() {
  await make();
  const db = open();
  const row = (at) => Object.fromEntries(Object.entries(fields).map(([name, [, , values]]) => [name, values[at]]));
  for (const data of [row(0), row(1), {}]) await db.everything.create({ data });
  await db.pair.createMany({ data: [{ everythingId: 1, name: "a", note: "x" }, { everythingId: 1, name: "b" }] });
  await db.$disconnect();
}

async function read() {
  const db = open();
  for (const row of await db.everything.findMany({ orderBy: { id: "asc" } })) console.log(inspect(row, { depth: 9 }));
  for (const row of await db.pair.findMany({ orderBy: [{ everythingId: "asc" }, { name: "asc" }] })) console.log(row);
  await db.$disconnect();
}

if (command === "schema") fs.writeFileSync("schema.prisma", schema());
else (command === "write" ? write() : read());
