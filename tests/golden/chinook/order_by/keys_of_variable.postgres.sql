-- chinook
-- one, other
(SELECT 0::int2, t0."Milliseconds", t0."AlbumId" FROM "public"."Track" AS t0 ORDER BY t0."Milliseconds", t0."AlbumId" LIMIT $1) UNION ALL (SELECT 1::int2, t1."Milliseconds", t1."AlbumId" FROM "public"."Track" AS t1 ORDER BY t1."AlbumId" DESC, t1."Milliseconds" DESC LIMIT $2)
