// Writes and reads a table with every column type of Drizzle.
//
// The list of types is Drizzle's own: the builders that it exports. One without a column ends the program.
import { createClient } from "@libsql/client";
import { asc } from "drizzle-orm";
import { drizzle as overLibsql } from "drizzle-orm/libsql";
import { drizzle as overPostgres } from "drizzle-orm/node-postgres";
import * as pgCore from "drizzle-orm/pg-core";
import * as sqliteCore from "drizzle-orm/sqlite-core";
import { createRequire } from "node:module";
import pg from "pg";
import { inspect } from "node:util";

// Its makers of migrations give the SQL of a schema; one of them is published for `require` alone.
const kit = createRequire(import.meta.url)("drizzle-kit/api");
const [command, address] = process.argv.slice(2);
const isPostgres = address.startsWith("postgres://");
const core = isPostgres ? pgCore : sqliteCore;

const moment = new Date("2024-02-29T23:59:59.123Z");
const texts = ["Straße, 東京", ""];
const documents = [{ a: [1, 2.5, null], b: { c: true } }, []];
const big = 9007199254740991;
const huge = 9223372036854775807n;

// Each builder with a column of it and two values; the third row has nulls.
const sqliteTypes = () => ({
  SQLiteBigIntBuilder: [core.blob("big_blob", { mode: "bigint" }), [huge, -1n]],
  SQLiteBlobBufferBuilder: [core.blob("raw", { mode: "buffer" }), [Buffer.from([0, 255, 65]), Buffer.alloc(0)]],
  SQLiteBlobJsonBuilder: [core.blob("document_blob", { mode: "json" }), documents],
  SQLiteIntegerBuilder: [core.integer("whole"), [big, -1]],
  SQLiteBooleanBuilder: [core.integer("truth", { mode: "boolean" }), [true, false]],
  SQLiteTimestampBuilder: [core.integer("moment", { mode: "timestamp_ms" }), [moment, new Date(0)]],
  SQLiteNumericBuilder: [core.numeric("price"), ["1234.5", "0"]],
  SQLiteNumericNumberBuilder: [core.numeric("price_number", { mode: "number" }), [1234.5, -0.25]],
  SQLiteNumericBigIntBuilder: [core.numeric("price_big", { mode: "bigint" }), [1234567890123n, -1n]],
  SQLiteRealBuilder: [core.real("real"), [0.1 + 0.2, 1e300]],
  SQLiteTextBuilder: [core.text("text"), texts],
  SQLiteTextJsonBuilder: [core.text("document", { mode: "json" }), documents],
  SQLiteCustomColumnBuilder: [
    core.customType({ dataType: () => "varchar(40)", toDriver: (it) => it.join("|"), fromDriver: (it) => it.split("|") })("list"),
    [["a", "b"], ["c"]],
  ],
});

const postgresTypes = () => {
  const [color, size] = [core.pgEnum("color", ["red", "dark blue"]), core.pgEnum("size", { Small: "small", Large: "very large" })];
  const types = {
    PgBigInt53Builder: [core.bigint("big", { mode: "number" }), [big, -1]],
    PgBigInt64Builder: [core.bigint("huge", { mode: "bigint" }), [huge, -1n]],
    PgBigSerial53Builder: [core.bigserial("big_serial", { mode: "number" }), [7, 8]],
    PgBigSerial64Builder: [core.bigserial("huge_serial", { mode: "bigint" }), [7n, 8n]],
    PgBooleanBuilder: [core.boolean("truth"), [true, false]],
    PgCharBuilder: [core.char("char", { length: 6 }), ["sixsix", "123456"]],
    PgCidrBuilder: [core.cidr("cidr"), ["10.0.0.0/8", "2001:db8::/32"]],
    PgArrayBuilder: [core.integer("numbers").array(), [[1, 2], []]],
    PgCustomColumnBuilder: [
      core.customType({ dataType: () => "varchar(40)", toDriver: (it) => it.join("|"), fromDriver: (it) => it.split("|") })("list"),
      [["a", "b"], ["c"]],
    ],
    PgDateBuilder: [core.date("day", { mode: "date" }), [new Date("2024-02-29"), new Date("1970-01-01")]],
    PgDateStringBuilder: [core.date("day_text", { mode: "string" }), ["2024-02-29", "9999-12-31"]],
    PgDoublePrecisionBuilder: [core.doublePrecision("double"), [0.1 + 0.2, 1e300]],
    PgEnumColumnBuilder: [color("color"), ["red", "dark blue"]],
    PgEnumObjectColumnBuilder: [size("size"), ["small", "very large"]],
    PgInetBuilder: [core.inet("inet"), ["10.0.0.1", "2001:db8::1/64"]],
    PgIntegerBuilder: [core.integer("whole"), [2147483647, -1]],
    PgIntervalBuilder: [core.interval("span"), ["3 days 00:00:00.000005", "-1 years"]],
    PgJsonBuilder: [core.json("json"), documents],
    PgJsonbBuilder: [core.jsonb("jsonb"), documents],
    PgLineABCBuilder: [core.line("line_abc", { mode: "abc" }), [{ a: 1, b: 2, c: 3 }, { a: 0, b: 1, c: -0.5 }]],
    PgLineBuilder: [core.line("line", { mode: "tuple" }), [[1, 2, 3], [0, 1, -0.5]]],
    PgMacaddrBuilder: [core.macaddr("mac"), ["08:00:2b:01:02:03", "00:00:00:00:00:00"]],
    PgMacaddr8Builder: [core.macaddr8("mac8"), ["08:00:2b:01:02:03:04:05", "00:00:00:00:00:00:00:00"]],
    PgNumericBigIntBuilder: [core.numeric("price_big", { mode: "bigint", precision: 20 }), [1234567890123n, -1n]],
    PgNumericBuilder: [core.numeric("price", { precision: 20, scale: 6 }), ["12345678901234.123456", "-0.000001"]],
    PgNumericNumberBuilder: [core.numeric("price_number", { mode: "number" }), [1234.5, -0.25]],
    PgPointObjectBuilder: [core.point("point_xy", { mode: "xy" }), [{ x: 1, y: 2.5 }, { x: 0, y: -1 }]],
    PgPointTupleBuilder: [core.point("point", { mode: "tuple" }), [[1, 2.5], [0, -1]]],
    PgRealBuilder: [core.real("real"), [0.5, -1e30]],
    PgSerialBuilder: [core.serial("serial"), [7, 8]],
    PgSmallIntBuilder: [core.smallint("small"), [-32768, 0]],
    PgSmallSerialBuilder: [core.smallserial("small_serial"), [7, 8]],
    PgTextBuilder: [core.text("text"), texts],
    PgTimeBuilder: [core.time("time"), ["12:30:15.25", "00:00:00"]],
    PgTimestampBuilder: [core.timestamp("moment", { withTimezone: true }), [moment, new Date(0)]],
    PgTimestampStringBuilder: [core.timestamp("moment_text", { mode: "string" }), ["2024-02-29 23:59:59.123456", "1970-01-01 00:00:00"]],
    PgUUIDBuilder: [core.uuid("key"), ["0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c001", "00000000-0000-0000-0000-000000000000"]],
    PgVarcharBuilder: [core.varchar("varchar", { length: 40 }), texts],
  };
  return { types, enums: { color, size } };
};

// Builders that make no column of their own, and why.
const apart = new Set([
  // Bases of others, and what is no column.
  ...["Column", "IntColumnBase", "BaseInteger", "Insert", "Select", "Update"].flatMap((it) => [`Pg${it}Builder`, `SQLite${it}Builder`]),
  ...["Check", "ForeignKey", "Index", "PrimaryKey", "Query", "UniqueConstraint", "UniqueOnConstraint"].map((it) => `${it}Builder`),
  ...["ManualView", "View", "ManualMaterializedView", "MaterializedView"].map((it) => `${it}Builder`),
  // Of extensions that the server of this kit does not have.
  ...["Geometry", "GeometryObject", "BinaryVector", "HalfVector", "SparseVector", "Vector"].map((it) => `Pg${it}Builder`),
]);

const { types, enums } = isPostgres ? postgresTypes() : { types: sqliteTypes(), enums: {} };
const missing = Object.keys(core).filter((it) => it.endsWith("Builder") && !(it in types) && !apart.has(it));
if (missing.length) throw new Error(`types without a column: ${missing}`);

const columns = Object.fromEntries(Object.entries(types).map(([name, [column]]) => [name, column]));
const make = isPostgres ? core.pgTable : core.sqliteTable;
const id = () => core.integer("id").primaryKey();
const everything = make("everything", { id: id(), ...columns });
const pairs = make(
  "pairs",
  { of: core.integer("everything_id").notNull().references(() => everything.id), name: core.text("name").notNull(), note: core.text("note").default("none") },
  (it) => [core.primaryKey({ columns: [it.of, it.name] }), core.uniqueIndex("pairs_note").on(it.note)],
);
const schema = { everything, pairs, ...enums };

const client = isPostgres ? new pg.Client(address) : createClient({ url: `file:${address.slice(7)}`, intMode: "number" });
if (isPostgres) await client.connect();
const db = isPostgres ? overPostgres(client) : overLibsql(client);

async function write() {
  const made = isPostgres
    ? await kit.generateMigration(kit.generateDrizzleJson({}), kit.generateDrizzleJson(schema))
    : await kit.generateSQLiteMigration(await kit.generateSQLiteDrizzleJson({}), await kit.generateSQLiteDrizzleJson(schema));
  for (const statement of made) await (isPostgres ? client.query(statement) : client.executeMultiple(statement));
  const row = (at) => Object.fromEntries(Object.entries(types).map(([name, [, values]]) => [name, values[at]]));
  const serials = Object.keys(types).filter((it) => it.includes("Serial"));
  const nulls = Object.fromEntries(Object.keys(types).map((it) => [it, serials.includes(it) ? undefined : null]));
  for (const [at, values] of [row(0), row(1), nulls].entries()) await db.insert(everything).values({ id: at + 1, ...values });
  await db.insert(pairs).values([{ of: 1, name: "a" }, { of: 1, name: "b", note: "other" }]);
}

async function read() {
  for (const row of await db.select().from(everything).orderBy(asc(everything.id))) console.log(inspect(row, { depth: 9 }));
  for (const row of await db.select().from(pairs).orderBy(asc(pairs.of), asc(pairs.name))) console.log(row);
}

await (command === "write" ? write() : read());
await (isPostgres ? client.end() : client.close());
process.exit(0);
