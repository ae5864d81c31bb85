-- native_auth
-- queryBoat
SELECT t0."reg" FROM "public"."Boat" AS t0 WHERE t0."open" = $1 ORDER BY t0."id"
