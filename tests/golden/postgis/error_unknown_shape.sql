-- postgis
-- town
INSERT INTO "public"."town" AS t0 ("id", "name", "area") VALUES ($1, $2, "public".st_geomfromgeojson($3)) RETURNING "id"
