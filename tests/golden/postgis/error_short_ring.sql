-- postgis
-- town
INSERT INTO "public"."town" AS t0 ("id", "name", "area") VALUES ($1, $2, CASE WHEN left($3, 1) = '{' THEN "public".st_geomfromgeojson($3) ELSE $3::"public"."geometry" END) RETURNING "id"
