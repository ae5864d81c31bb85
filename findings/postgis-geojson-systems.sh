#!/usr/bin/env bash
# PostGIS 3.6.2 (and 3.3.2) writes reference systems in GeoJSON that it does not read, and others than the shape's:
# - ST_AsGeoJSON names SRID 900913 `urn:ogc:def:crs:spatialreferencing.org::900913`; ST_GeomFromGeoJSON takes that for SRID 0, without
#   an error: its pattern of an authority has letters only;
# - of a `geography` with SRID 4267 ST_AsGeoJSON says EPSG::4326, and of the same value cast to `geometry` EPSG::4267.
# Seen: `read back: 0`, `geography: urn:ogc:def:crs:EPSG::4326`, `geometry: urn:ogc:def:crs:EPSG::4267`.
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
const ask = async (sql) => Object.values((await db.query(sql)).rows[0])[0];
console.log("PostGIS", await ask("SELECT postgis_lib_version()"));
const json = (shape) => `ST_AsGeoJSON(${shape}, 15, 4)`;
const system = (shape) => ask(`SELECT ${json(shape)}::json #>> '{crs,properties,name}'`);
const mercator = "'SRID=900913;POINT(1 2)'::geometry";
console.log(await system(mercator));
console.log("read back:", await ask(`SELECT ST_SRID(ST_GeomFromGeoJSON(${json(mercator)}))`));
const nad = "'SRID=4267;POINT(1 2)'::geography";
console.log("geography:", await system(nad));
console.log("geometry:", await system(`${nad}::geometry`));
JS
node seen.mjs >seen.log
cat seen.log
grep -qxF "PostGIS 3.6.2" seen.log
grep -qxF "urn:ogc:def:crs:spatialreferencing.org::900913" seen.log
grep -qxF "read back: 0" seen.log
grep -qxF "geography: urn:ogc:def:crs:EPSG::4326" seen.log
grep -qxF "geometry: urn:ogc:def:crs:EPSG::4267" seen.log
echo "as stated: PostGIS 3.6.2 in pglite-postgis 0.2.8"
