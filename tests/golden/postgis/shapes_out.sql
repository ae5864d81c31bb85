-- postgis
-- town
SELECT t0."name", "public".st_asgeojson(t0."area", 30, 4)::json, "public".st_asgeojson(t0."center"::"public"."geometry", 30, 4)::json FROM "public"."town" AS t0 ORDER BY t0."id"
