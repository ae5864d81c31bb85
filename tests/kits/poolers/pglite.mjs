// pglite.mjs DUMP SETTINGS PORT CONNECTIONS: serves PGlite with what pg_dump wrote in it, and with the settings of the database.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { btree_gist } from "@electric-sql/pglite/contrib/btree_gist";
import { citext } from "@electric-sql/pglite/contrib/citext";
import { hstore } from "@electric-sql/pglite/contrib/hstore";
import { ltree } from "@electric-sql/pglite/contrib/ltree";
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm";
const [dump, settings, port, connections] = process.argv.slice(2);
const extensions = { btree_gist, citext, hstore, ltree, pg_trgm };
// Making an empty database takes PGlite 2.4 s, loading one 0.4 s, and each case has its own.
const empty = new URL(`empty-${Object.keys(extensions).join("-")}.tar`, import.meta.url);
if (!existsSync(empty)) {
  const made = await PGlite.create({ extensions });
  const part = new URL(`empty.${process.pid}.tar`, import.meta.url);
  writeFileSync(part, Buffer.from(await (await made.dumpDataDir("none")).arrayBuffer()));
  renameSync(part, empty);
  await made.close();
}
const db = await PGlite.create({ extensions, loadDataDir: new Blob([readFileSync(empty)]) });
// What begins with a backslash is for psql.
await db.exec(readFileSync(dump, "utf8").replace(/^\\.*$/gm, ""));
// The dump sets them for its own session, which is the only one.
await db.exec("RESET ALL; SET search_path = \"$user\", public; SET TimeZone = 'UTC'");
await db.exec(readFileSync(settings, "utf8"));
const server = new PGLiteSocketServer({ db, host: "127.0.0.1", port: Number(port), maxConnections: Number(connections) });
await server.start();
