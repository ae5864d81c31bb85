-- chinook
-- Artist
INSERT INTO "public"."Artist" AS t0 ("Name") VALUES ($1) RETURNING "Name", "ArtistId"

-- Album
INSERT INTO "public"."Album" AS t0 ("Title", "ArtistId") VALUES ($1, $2) RETURNING 1

-- Album
INSERT INTO "public"."Album" AS t0 ("Title", "ArtistId") VALUES ($1, $2) RETURNING "AlbumId"

-- Track
INSERT INTO "public"."Track" AS t0 ("Name", "AlbumId", "MediaTypeId", "Milliseconds", "UnitPrice") VALUES ($1, $2, $3, $4, $5) RETURNING 1

-- insert_Artist_one
WITH l0 AS MATERIALIZED (SELECT t0."Title" AS c0, t0."AlbumId" AS c1, p.n AS k0 FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Album" AS t0 ON t0."ArtistId" = p.k0 ORDER BY t0."Title") SELECT 0::int2, l0.c0, l0.c1, l0.k0 FROM l0 UNION ALL SELECT 1::int2, t1."Name", t1."AlbumId", NULL FROM "public"."Track" AS t1 WHERE t1."AlbumId" = ANY(ARRAY(SELECT DISTINCT l0.c1 FROM l0))
