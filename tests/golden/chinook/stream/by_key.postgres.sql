-- chinook
-- Album_stream
SELECT t0."AlbumId", txid_current_snapshot()::text, t0."Title" FROM "public"."Album" AS t0 WHERE t0."AlbumId" > $1 ORDER BY t0."AlbumId" LIMIT $2
