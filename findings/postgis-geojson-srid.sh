#!/usr/bin/env bash
# PostGIS 3.6.2 (in PGlite 0.5.8) reads one text of GeoJSON in two ways: `ST_GeomFromGeoJSON` gives it SRID 4326, the cast of the same text
# to `geometry` SRID 0. So a value that went out by `ST_AsGeoJSON` and comes back by the cast has lost its SRID, and cannot be compared
# with what it was. A text with a `crs` in it has that SRID both ways. A column `geometry(Point, 4326)` takes both.
# Seen: `cast 0, function 4326`, `3857 and 3857`, `Operation on mixed SRID geometries`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --ignore-scripts @electric-sql/pglite@0.5.8 @electric-sql/pglite-postgis@0.2.8 >>npm.log 2>&1
cat >seen.mjs <<'JS'
import { PGlite } from "@electric-sql/pglite";
import { postgis } from "@electric-sql/pglite-postgis";
const db = await PGlite.create({ extensions: { postgis } });
await db.exec("CREATE EXTENSION postgis");
const one = async (sql) => Object.values((await db.query(sql)).rows[0]);
console.log("PostGIS", (await one("SELECT postgis_lib_version()"))[0]);
const plain = `{"type":"Point","coordinates":[1,2]}`;
const [cast, made] = await one(`SELECT ST_SRID('${plain}'::geometry), ST_SRID(ST_GeomFromGeoJSON('${plain}')) AS made`);
console.log(`cast ${cast}, function ${made}`);
const crs = `{"type":"Point","crs":{"type":"name","properties":{"name":"EPSG:3857"}},"coordinates":[1,2]}`;
console.log((await one(`SELECT ST_SRID('${crs}'::geometry), ST_SRID(ST_GeomFromGeoJSON('${crs}')) AS made`)).join(" and "));
await db.exec(`CREATE TABLE place (at geometry(Point, 4326)); INSERT INTO place VALUES ('${plain}'), (ST_GeomFromGeoJSON('${plain}'))`);
console.log((await one("SELECT count(*) FROM place"))[0], "rows");
await db.query("SELECT ST_Equals(at, ST_AsGeoJSON(at)::geometry) FROM place").catch((error) => console.log(error.message));
process.exit(0);
JS
node seen.mjs >seen.log 2>&1
cat seen.log
grep -qx "PostGIS 3.6.2" seen.log
grep -qx "cast 0, function 4326" seen.log
grep -qx "3857 and 3857" seen.log
grep -qx "2 rows" seen.log
grep -qF "mixed SRID geometries" seen.log
echo "as stated: PostGIS 3.6.2"
