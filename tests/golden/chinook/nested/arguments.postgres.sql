-- chinook
-- Artist
SELECT t0."Name", t0."ArtistId" FROM "public"."Artist" AS t0 WHERE t0."ArtistId" = ANY($1) ORDER BY t0."ArtistId"

-- Artist.Artist_Albums
SELECT 0::int2, x.c0, p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) CROSS JOIN LATERAL (SELECT t0."Title" AS c0 FROM "public"."Album" AS t0 WHERE t0."ArtistId" = p.k0 AND t0."Title" ILIKE $2 ORDER BY t0."Title" DESC LIMIT $3 OFFSET $4) AS x
