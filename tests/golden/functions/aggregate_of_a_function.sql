-- functions
-- search_album_aggregate.aggregate
SELECT count(*), max(t0."title") FROM "public"."search_album"("word" => $1) AS t0
