-- functions
-- album
SELECT t0."title", t0."artist_id" FROM "public"."add_album"("title" => $1, "artist" => $2) AS t0

-- add_album
SELECT 0::int2, t0."name", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."artist" AS t0 ON t0."id" = p.k0
