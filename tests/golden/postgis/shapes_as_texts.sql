-- postgis
-- ewkt
SELECT t0."id" FROM "public"."town" AS t0 WHERE "public".st_equals(t0."area", CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END) OFFSET 0 * num_nulls(CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END)

-- listed
SELECT t0."id" FROM "public"."town" AS t0 WHERE t0."center" = ANY(ARRAY(SELECT (CASE WHEN left(v, 1) = '{' THEN "public".st_geomfromgeojson(v) ELSE v::"public"."geometry" END)::"public"."geography" FROM unnest($1) AS v)) OFFSET 0 * num_nulls(ARRAY(SELECT (CASE WHEN left(v, 1) = '{' THEN "public".st_geomfromgeojson(v) ELSE v::"public"."geometry" END)::"public"."geography" FROM unnest($1) AS v))

-- variable
SELECT t0."id" FROM "public"."town" AS t0 WHERE t0."center" = (CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END)::"public"."geography" OFFSET 0 * num_nulls((CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END)::"public"."geography")

-- wkb
SELECT t0."id" FROM "public"."town" AS t0 WHERE "public".st_contains(t0."area", CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END) OFFSET 0 * num_nulls(CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END)

-- json
SELECT t0."id" FROM "public"."town" AS t0 WHERE t0."center" = (CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END)::"public"."geography" OFFSET 0 * num_nulls((CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END)::"public"."geography")

-- near
SELECT t0."id" FROM "public"."town" AS t0 WHERE "public".st_dwithin(t0."center", (CASE WHEN left($2, 1) = '{' THEN "public".st_geomfromgeojson($2) ELSE $2::"public"."geometry" END)::"public"."geography", $1, $3) OFFSET 0 * num_nulls((CASE WHEN left($2, 1) = '{' THEN "public".st_geomfromgeojson($2) ELSE $2::"public"."geometry" END)::"public"."geography")
