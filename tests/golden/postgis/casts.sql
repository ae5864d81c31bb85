-- postgis
-- globe
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_dwithin(t0."area"::"public"."geography", "public".st_geomfromgeojson($2)::"public"."geography", $1, $3) ORDER BY t0."id" OFFSET 0 * num_nulls("public".st_geomfromgeojson($2)::"public"."geography")

-- plane
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_within(t0."center"::"public"."geometry", "public".st_geomfromgeojson($1)) OFFSET 0 * num_nulls("public".st_geomfromgeojson($1))
