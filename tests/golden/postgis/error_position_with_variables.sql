-- postgis
-- town
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_contains(t0."area", "public".st_geomfromgeojson($1)) OFFSET 0 * num_nulls("public".st_geomfromgeojson($1))
