-- functions
-- word
SELECT t0."id" FROM "public"."few_albums"("word" => $1) AS t0

-- first
SELECT t0."id" FROM "public"."few_albums"($1, $2) AS t0

-- both
SELECT t0."id" FROM "public"."few_albums"($1, $2, $3) AS t0
