-- postgis
-- town
INSERT INTO "public"."town" AS t0 ("id", "name", "area", "center") VALUES ($1, $2, "public".st_geomfromgeojson($3), "public".st_geomfromgeojson($4)::"public"."geography") RETURNING "public".st_asgeojson("area", 15, 4)::json, "public".st_asgeojson("center", 15, 4)::json
