-- functions
-- first
SELECT t0."word" FROM "public"."count_visit"("word" => $1) AS t0
