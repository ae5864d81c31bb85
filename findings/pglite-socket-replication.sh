#!/usr/bin/env bash
# PGlite 0.5.14 behind its socket server 0.2.17 with several connections: all are one session, and what one asks for when
# it connects concerns the others. After one client connected in replication mode (`replication=database`), which is
# answered as by a server, a statement with parameters of a client that was connected before is refused.
# Seen: `1`, then `IDENTIFY_SYSTEM: 1 row`, then `extended query protocol not supported in a replication connection`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --ignore-scripts @electric-sql/pglite@0.5.14 @electric-sql/pglite-socket@0.2.17 pg@8.23.1 >>npm.log 2>&1
cat >seen.mjs <<'JS'
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import pg from "pg";
const server = new PGLiteSocketServer({ db: await PGlite.create(), host: "127.0.0.1", port: 0, maxConnections: 5 });
const listening = new Promise((done) => server.addEventListener("listening", (event) => done(event.detail)));
await server.start();
const { port } = await listening;
const connect = async (more) => {
  const client = new pg.Client({ host: "127.0.0.1", port, user: "postgres", database: "postgres", ...more });
  await client.connect();
  return client;
};
const first = await connect({});
console.log((await first.query("select $1::int as n", [1])).rows[0].n);
const second = await connect({ replication: "database" });
console.log(`IDENTIFY_SYSTEM: ${(await second.query("IDENTIFY_SYSTEM")).rowCount ?? 1} row`);
await first.query("select $1::int as n", [1]).catch((error) => console.log(error.message));
process.exit(0);
JS
node seen.mjs >seen.log 2>&1
cat seen.log
grep -qx 1 seen.log
grep -qF "extended query protocol not supported in a replication connection" seen.log
echo "as stated: PGlite 0.5.14, pglite-socket 0.2.17"
