-- postgis
-- first
SELECT t0."image" FROM "public"."sheet" AS t0 WHERE t0."id" = $1

-- same
SELECT t0."id" FROM "public"."sheet" AS t0 WHERE "public".st_intersects(t0."image", $1)

-- shape
SELECT t0."id" FROM "public"."sheet" AS t0 WHERE "public".st_intersects(t0."image", CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END) OFFSET 0 * num_nulls(CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END)

-- band
SELECT t0."id" FROM "public"."sheet" AS t0 WHERE "public".st_intersects(t0."image", $2, CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END) OFFSET 0 * num_nulls(CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END)

-- also_band
SELECT t0."id" FROM "public"."sheet" AS t0 WHERE "public".st_intersects(t0."image", CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END, $2) OFFSET 0 * num_nulls(CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END)

-- missing
SELECT t0."id" FROM "public"."sheet" AS t0 WHERE t0."image" IS NULL
