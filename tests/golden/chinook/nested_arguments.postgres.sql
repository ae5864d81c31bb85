-- chinook
-- Artist, Artist.Artist_Albums
WITH l0 AS MATERIALIZED (SELECT t0."Name" AS c0, t0."ArtistId" AS c1 FROM "public"."Artist" AS t0 WHERE t0."ArtistId" = ANY($1) ORDER BY t0."ArtistId") SELECT 0::int2, l0.c0, l0.c1 FROM l0 UNION ALL SELECT 1::int2, x.c0, p.k0 FROM (SELECT l0.c1 AS k0 FROM l0) AS p CROSS JOIN LATERAL (SELECT t1."Title" AS c0 FROM "public"."Album" AS t1 WHERE t1."ArtistId" = p.k0 AND t1."Title" ILIKE $2 ORDER BY t1."Title" DESC LIMIT $3 OFFSET $4) AS x
