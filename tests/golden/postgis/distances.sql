-- postgis
-- plane
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_dwithin(t0."area", CASE WHEN left($2, 1) = '{' THEN "public".st_geomfromgeojson($2) ELSE $2::"public"."geometry" END, $1) OFFSET 0 * num_nulls(CASE WHEN left($2, 1) = '{' THEN "public".st_geomfromgeojson($2) ELSE $2::"public"."geometry" END)

-- globe
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_dwithin(t0."center", (CASE WHEN left($2, 1) = '{' THEN "public".st_geomfromgeojson($2) ELSE $2::"public"."geometry" END)::"public"."geography", $1, $3) OFFSET 0 * num_nulls((CASE WHEN left($2, 1) = '{' THEN "public".st_geomfromgeojson($2) ELSE $2::"public"."geometry" END)::"public"."geography")

-- sphere
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_dwithin(t0."center", (CASE WHEN left($2, 1) = '{' THEN "public".st_geomfromgeojson($2) ELSE $2::"public"."geometry" END)::"public"."geography", $1, $3) ORDER BY t0."id" OFFSET 0 * num_nulls((CASE WHEN left($2, 1) = '{' THEN "public".st_geomfromgeojson($2) ELSE $2::"public"."geometry" END)::"public"."geography")

-- low
SELECT t0."id" FROM "public"."tower" AS t0 WHERE "public".st_dwithin(t0."top", CASE WHEN left($2, 1) = '{' THEN "public".st_geomfromgeojson($2) ELSE $2::"public"."geometry" END, $1) ORDER BY t0."id" OFFSET 0 * num_nulls(CASE WHEN left($2, 1) = '{' THEN "public".st_geomfromgeojson($2) ELSE $2::"public"."geometry" END)

-- near
SELECT t0."id" FROM "public"."tower" AS t0 WHERE "public".st_3ddwithin(t0."top", CASE WHEN left($2, 1) = '{' THEN "public".st_geomfromgeojson($2) ELSE $2::"public"."geometry" END, $1) OFFSET 0 * num_nulls(CASE WHEN left($2, 1) = '{' THEN "public".st_geomfromgeojson($2) ELSE $2::"public"."geometry" END)
