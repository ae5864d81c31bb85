-- postgis
-- sheet
SELECT t0."id" FROM "public"."sheet" AS t0 WHERE "public".st_intersects(t0."image", $1)
