-- postgis
-- contains
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_contains(t0."area", "public".st_geomfromgeojson($1)) OFFSET 0 * num_nulls("public".st_geomfromgeojson($1))

-- within
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_within(t0."area", "public".st_geomfromgeojson($1)) OFFSET 0 * num_nulls("public".st_geomfromgeojson($1))

-- intersects
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_intersects(t0."area", "public".st_geomfromgeojson($1)) ORDER BY t0."id" OFFSET 0 * num_nulls("public".st_geomfromgeojson($1))

-- intersects_3d
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_3dintersects(t0."area", "public".st_geomfromgeojson($1)) ORDER BY t0."id" OFFSET 0 * num_nulls("public".st_geomfromgeojson($1))

-- overlaps
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_overlaps(t0."area", "public".st_geomfromgeojson($1)) OFFSET 0 * num_nulls("public".st_geomfromgeojson($1))

-- crosses
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_crosses(t0."area", "public".st_geomfromgeojson($1)) ORDER BY t0."id" OFFSET 0 * num_nulls("public".st_geomfromgeojson($1))

-- touches
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_touches(t0."area", "public".st_geomfromgeojson($1)) ORDER BY t0."id" OFFSET 0 * num_nulls("public".st_geomfromgeojson($1))

-- equals
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_equals(t0."area", "public".st_geomfromgeojson($1)) OFFSET 0 * num_nulls("public".st_geomfromgeojson($1))

-- on_the_globe
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_intersects(t0."center", "public".st_geomfromgeojson($1)::"public"."geography") OFFSET 0 * num_nulls("public".st_geomfromgeojson($1)::"public"."geography")
