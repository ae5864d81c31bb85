-- postgis
-- globe
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_dwithin(t0."area"::"public"."geography", (CASE WHEN left($2, 1) = '{' THEN "public".st_geomfromgeojson($2) ELSE $2::"public"."geometry" END)::"public"."geography", $1, $3) ORDER BY t0."id" OFFSET 0 * num_nulls((CASE WHEN left($2, 1) = '{' THEN "public".st_geomfromgeojson($2) ELSE $2::"public"."geometry" END)::"public"."geography")

-- plane
SELECT t0."name" FROM "public"."town" AS t0 WHERE "public".st_within(t0."center"::"public"."geometry", CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END) OFFSET 0 * num_nulls(CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END)
