-- postgis
-- first
SELECT t0."image" FROM "public"."sheet" AS t0 WHERE t0."id" = $1

-- same
SELECT t0."id" FROM "public"."sheet" AS t0 WHERE "public".st_intersects(t0."image", $1)

-- shape
SELECT t0."id" FROM "public"."sheet" AS t0 WHERE "public".st_intersects(t0."image", "public".st_geomfromgeojson($1)) OFFSET 0 * num_nulls("public".st_geomfromgeojson($1))

-- band
SELECT t0."id" FROM "public"."sheet" AS t0 WHERE "public".st_intersects(t0."image", $2, "public".st_geomfromgeojson($1)) OFFSET 0 * num_nulls("public".st_geomfromgeojson($1))

-- also_band
SELECT t0."id" FROM "public"."sheet" AS t0 WHERE "public".st_intersects(t0."image", "public".st_geomfromgeojson($1), $2) OFFSET 0 * num_nulls("public".st_geomfromgeojson($1))

-- missing
SELECT t0."id" FROM "public"."sheet" AS t0 WHERE t0."image" IS NULL
