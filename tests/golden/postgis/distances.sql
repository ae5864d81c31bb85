-- postgis
-- plane
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_dwithin(t0."area", "public".st_geomfromgeojson($2), $1) OFFSET 0 * num_nulls("public".st_geomfromgeojson($2))

-- globe
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_dwithin(t0."center", "public".st_geomfromgeojson($2)::"public"."geography", $1, $3) OFFSET 0 * num_nulls("public".st_geomfromgeojson($2)::"public"."geography")

-- sphere
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_dwithin(t0."center", "public".st_geomfromgeojson($2)::"public"."geography", $1, $3) ORDER BY t0."id" OFFSET 0 * num_nulls("public".st_geomfromgeojson($2)::"public"."geography")

-- low
SELECT t0."id" FROM "public"."tower" AS t0 WHERE "public".st_dwithin(t0."top", "public".st_geomfromgeojson($2), $1) ORDER BY t0."id" OFFSET 0 * num_nulls("public".st_geomfromgeojson($2))

-- near
SELECT t0."id" FROM "public"."tower" AS t0 WHERE "public".st_3ddwithin(t0."top", "public".st_geomfromgeojson($2), $1) OFFSET 0 * num_nulls("public".st_geomfromgeojson($2))
