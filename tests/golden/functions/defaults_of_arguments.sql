-- functions
-- all
SELECT t0."id" FROM "public"."search_album"("word" => $1) AS t0 ORDER BY t0."id"

-- none
SELECT t0."id" FROM "public"."search_album"("word" => $1, "of_artist" => $2) AS t0

-- null
SELECT t0."id" FROM "public"."search_album"("word" => $1, "of_artist" => NULL) AS t0 ORDER BY t0."id"
