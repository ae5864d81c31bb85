-- postgis
-- town
INSERT INTO "public"."town" AS t0 ("id", "name", "area", "center") VALUES ($1, $2, CASE WHEN left($3, 1) = '{' THEN "public".st_geomfromgeojson($3) ELSE $3::"public"."geometry" END, (CASE WHEN left($4, 1) = '{' THEN "public".st_geomfromgeojson($4) ELSE $4::"public"."geometry" END)::"public"."geography") RETURNING "public".st_asgeojson("area", 30, 4)::json, "public".st_asgeojson("center"::"public"."geometry", 30, 4)::json

-- town
UPDATE "public"."town" AS t0 SET "center" = (CASE WHEN left($1, 1) = '{' THEN "public".st_geomfromgeojson($1) ELSE $1::"public"."geometry" END)::"public"."geography" WHERE t0."id" = $2 RETURNING "public".st_asgeojson("center"::"public"."geometry", 30, 4)::json
