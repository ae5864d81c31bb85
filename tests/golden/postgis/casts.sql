-- postgis
-- globe, plane
WITH l0 AS MATERIALIZED (SELECT t0."name" AS c0 FROM "public"."town" AS t0 WHERE "public".st_dwithin(t0."area"::"public"."geography", "public".st_geomfromgeojson($2)::"public"."geography", $1, $3) ORDER BY t0."id") SELECT 0::int2, l0.c0 FROM l0 UNION ALL SELECT 1::int2, t1."name" FROM "public"."town" AS t1 WHERE "public".st_within(t1."center"::"public"."geometry", "public".st_geomfromgeojson($4))
