-- postgis
-- town
SELECT t0."id" FROM "public"."town" AS t0 WHERE t0."center" = (CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END)::"public"."geography" OFFSET 0 * num_nulls((CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END)::"public"."geography")
