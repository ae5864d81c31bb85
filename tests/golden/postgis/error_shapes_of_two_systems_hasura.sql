-- postgis
-- town
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_contains(t0."area", CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END) OFFSET 0 * num_nulls(CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END)
