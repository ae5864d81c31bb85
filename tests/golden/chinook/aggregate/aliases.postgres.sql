-- chinook
-- t.agg, t.rows
SELECT 0::int2, count(*), sum(t0."Milliseconds"), sum(t0."Bytes"), NULL::int4 FROM "public"."Track" AS t0 WHERE t0."AlbumId" = $1 UNION ALL SELECT 1::int2, NULL, NULL, NULL, t1."TrackId" FROM "public"."Track" AS t1 WHERE t1."AlbumId" = $2
