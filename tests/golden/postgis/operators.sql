-- postgis
-- contains
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_contains(t0."area", CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END) OFFSET 0 * num_nulls(CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END)

-- within
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_within(t0."area", CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END) OFFSET 0 * num_nulls(CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END)

-- intersects
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_intersects(t0."area", CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END) ORDER BY t0."id" OFFSET 0 * num_nulls(CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END)

-- intersects_3d
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_3dintersects(t0."area", CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END) ORDER BY t0."id" OFFSET 0 * num_nulls(CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END)

-- overlaps
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_overlaps(t0."area", CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END) OFFSET 0 * num_nulls(CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END)

-- crosses
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_crosses(t0."area", CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END) ORDER BY t0."id" OFFSET 0 * num_nulls(CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END)

-- touches
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_touches(t0."area", CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END) ORDER BY t0."id" OFFSET 0 * num_nulls(CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END)

-- equals
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_equals(t0."area", CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END) OFFSET 0 * num_nulls(CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END)

-- on_the_globe
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_intersects(t0."center", (CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END)::"public"."geography") OFFSET 0 * num_nulls((CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END)::"public"."geography")
