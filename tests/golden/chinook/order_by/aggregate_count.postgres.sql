-- chinook
-- Artist, Artist.Artist_Albums_aggregate.aggregate
WITH l0 AS MATERIALIZED (SELECT t0."Name" AS c0, t0."ArtistId" AS c1 FROM "public"."Artist" AS t0 ORDER BY (SELECT count(*) FROM "public"."Album" AS t1 WHERE t1."ArtistId" = t0."ArtistId") DESC, t0."ArtistId" LIMIT $1) SELECT 0::int2, l0.c0, l0.c1, NULL::int8 FROM l0 UNION ALL SELECT 1::int2, NULL, p.k0, count(t2."ArtistId") FROM (SELECT l0.c1 AS k0 FROM l0) AS p LEFT JOIN "public"."Album" AS t2 ON t2."ArtistId" = p.k0 GROUP BY p.k0
