-- chinook
-- Artist
INSERT INTO "public"."Artist" AS t0 ("Name") VALUES ($1) RETURNING "ArtistId"

-- Album
INSERT INTO "public"."Album" AS t0 ("Title", "ArtistId") VALUES ($1, $2) RETURNING "Title", "ArtistId"

-- insert_Album
SELECT 0::int2, t0."Name", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Artist" AS t0 ON t0."ArtistId" = p.k0
