// Writes and reads a table with every column type of TypeORM.
//
// The list of types is TypeORM's own: those that its driver supports. One without a column ends the program.
const { DataSource, EntitySchema } = require("typeorm");
const { inspect } = require("node:util");

const [command, address] = process.argv.slice(2);
const isPostgres = address.startsWith("postgres://");

const moment = new Date("2024-02-29T23:59:59.123Z");
const texts = ["Straße, 東京", ""];
const bytes = [Buffer.from([0, 255, 65]), Buffer.alloc(0)];
const documents = [{ a: [1, 2.5, null], b: { c: true } }, []];
const [whole, small] = [[2147483647, -1], [-32768, 0]];
const [doubles, reals] = [[0.1 + 0.2, 1e300], [0.5, -1e30]];
const prices = ["12345678901234.123456", "-0.000001"];
const days = ["2024-02-29", "1970-01-01"];
const times = ["12:30:15", "00:00:00"];
const moments = [moment, new Date(0)];

// Types with two values and more options; the third row has nulls.
const sqlite = {
  int: [whole], integer: [whole], tinyint: [[127, 0]], smallint: [small], mediumint: [[8388607, -1]], bigint: [["9007199254740991", "-1"]],
  "unsigned big int": [["9007199254740991", "1"]], int2: [small], int8: [["9007199254740991", "-1"]],
  character: [texts], varchar: [texts], "varying character": [texts], nchar: [texts], "native character": [texts], nvarchar: [texts], text: [texts], clob: [texts],
  blob: [bytes], real: [doubles], double: [doubles], "double precision": [doubles], float: [doubles],
  numeric: [[1234.5, -0.25]], decimal: [[1234.5, -0.25]], boolean: [[true, false]],
  date: [days], time: [times], datetime: [moments], json: [documents], jsonb: [documents],
};

const ranges = { int4: "[1,5)", int8: "[1,5000000000)", num: "[0.5,1.25)", ts: "[2024-02-29 00:00:00,2024-03-01 00:00:00)", tstz: "[2024-02-29 00:00:00+00,)", date: "[2024-02-29,2024-03-03)" };
const postgres = {
  int: [whole], int2: [small], int4: [whole], int8: [["9223372036854775807", "-1"]], smallint: [small], integer: [whole], bigint: [["9223372036854775807", "-1"]],
  decimal: [prices, { precision: 20, scale: 6 }], numeric: [prices, { precision: 20, scale: 6 }], real: [reals], float: [doubles], float4: [reals], float8: [doubles],
  "double precision": [doubles], money: [["$1,234.50", "-$0.01"]], "character varying": [texts], varchar: [texts, { length: 40 }],
  character: [["sixsix", "123456"], { length: 6 }], char: [["sixsix", "123456"], { length: 6 }], text: [texts], citext: [texts],
  hstore: [[{ a: "1", b: null }, {}], { hstoreType: "object" }], bytea: [bytes], bit: [["1010", "0000"], { length: 4 }], varbit: [["101", ""]], "bit varying": [["101", ""]],
  timetz: [["12:30:15+02", "00:00:00+00"]], timestamptz: [moments], timestamp: [moments], "timestamp without time zone": [moments], "timestamp with time zone": [moments],
  date: [days], time: [times], "time without time zone": [times], "time with time zone": [["12:30:15+02", "00:00:00+00"]],
  interval: [["3 days 00:00:00.000005", "-1 years"]], bool: [[true, false]], boolean: [[false, true]],
  enum: [["red", "dark blue"], { enum: ["red", "dark blue"], enumName: "color" }],
  point: [["(1,2.5)", "(0,-1)"]], line: [["{1,2,3}", "{0,1,-0.5}"]], lseg: [["[(1,2),(3,4)]", "[(0,0),(0,1)]"]], box: [["(3,4),(1,2)", "(1,1),(0,0)"]],
  path: [["((1,2),(3,4))", "[(0,0),(0,1)]"]], polygon: [["((1,2),(3,4),(5,0))", "((0,0),(0,1),(1,1))"]], circle: [["<(1,2),3>", "<(0,0),0.5>"]],
  cidr: [["10.0.0.0/8", "2001:db8::/32"]], inet: [["10.0.0.1", "2001:db8::1/64"]], macaddr: [["08:00:2b:01:02:03", "00:00:00:00:00:00"]],
  macaddr8: [["08:00:2b:01:02:03:04:05", "00:00:00:00:00:00:00:00"]],
  tsvector: [["'a':1 'b':2", ""]], tsquery: [["'a' & 'b'", "'c'"]], uuid: [["0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c001", "00000000-0000-0000-0000-000000000000"]],
  xml: [["<a>1</a>", "<b/>"]], json: [documents], jsonb: [documents], jsonpath: [['$."a"[*]', "$"]],
  ...Object.fromEntries(Object.entries(ranges).map(([of, it]) => [`${of}range`, [[it, "empty"]]])),
  ...Object.fromEntries(Object.entries(ranges).map(([of, it]) => [`${of}multirange`, [[`{${it}}`, "{}"]]])),
  cube: [[[1, 2], [0]]], ltree: [["a.b_c.D", ""]],
};
// Of extensions that the server of this kit does not have.
const apart = ["geometry", "geography", "vector", "halfvec"];

const types = isPostgres ? postgres : sqlite;
const columns = Object.fromEntries(
  Object.entries(types).map(([type, [, more]]) => [type.replaceAll(" ", "_"), { type, nullable: true, ...more }]),
);
if (isPostgres) columns.list = { type: "int", array: true, nullable: true };
columns.simple_list = { type: "simple-array", nullable: true };
columns.simple_document = { type: "simple-json", nullable: true };

const Everything = new EntitySchema({
  name: "everything",
  columns: {
    id: { type: "int", primary: true, generated: "increment" },
    ...columns,
    created: { type: isPostgres ? "timestamptz" : "datetime", createDate: true },
    version: { type: "int", version: true },
  },
  relations: { friends: { type: "many-to-many", target: "everything", joinTable: true } },
});
const Pairs = new EntitySchema({
  name: "pairs",
  columns: { everything_id: { type: "int", primary: true }, name: { type: "varchar", primary: true }, note: { type: "varchar", unique: true, nullable: true } },
  relations: { of: { type: "many-to-one", target: "everything", joinColumn: { name: "everything_id" } } },
});

const common = { entities: [Everything, Pairs], synchronize: command === "write" };
const source = new DataSource(
  isPostgres ? { type: "postgres", url: address, ...common } : { type: "sqljs", location: address.slice(7), autoSave: true, ...common },
);
const missing = source.driver.supportedDataTypes.filter((it) => !(it in types) && !apart.includes(it));
if (missing.length) throw new Error(`types without a column: ${missing}`);

async function write() {
  const row = (at) => Object.fromEntries(Object.entries(types).map(([type, [values]]) => [type.replaceAll(" ", "_"), values[at]]));
  const lists = (it) => ({ ...(isPostgres && { list: it }), simple_list: it.map(String), simple_document: it });
  const all = source.getRepository("everything");
  const third = await all.save({});
  await all.save({ ...row(0), ...lists([1, 2]), friends: [third] });
  await all.save({ ...row(1), ...lists([7]), friends: [] });
  await source.getRepository("pairs").save([{ everything_id: 1, name: "a", note: "x" }, { everything_id: 1, name: "b" }]);
}

async function read() {
  for (const row of await source.getRepository("everything").find({ order: { id: "ASC" }, relations: { friends: true } })) {
    row.friends = row.friends.map((it) => it.id);
    console.log(inspect(row, { depth: 9 }));
  }
  for (const row of await source.getRepository("pairs").find({ order: { everything_id: "ASC", name: "ASC" } })) console.log(row);
}

source.initialize().then(() => (command === "write" ? write() : read())).then(() => source.destroy());
