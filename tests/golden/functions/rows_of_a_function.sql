-- functions
-- search_album, search_album.album_artist
WITH l0 AS MATERIALIZED (SELECT t0."title" AS c0, t0."artist_id" AS c1 FROM "public"."search_album"("word" => $1) AS t0 WHERE t0."artist_id" = $2 ORDER BY t0."title" DESC LIMIT $3) SELECT 0::int2, l0.c0, l0.c1 FROM l0 UNION ALL SELECT 1::int2, t1."name", t1."id" FROM "public"."artist" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT DISTINCT l0.c1 FROM l0))
