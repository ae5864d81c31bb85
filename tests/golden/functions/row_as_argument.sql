-- functions
-- two
SELECT t0."id", t0."title" FROM "public"."albums_of"("who" => $1, "lowest" => $2) AS t0

-- one
SELECT t0."id", t0."title" FROM "public"."albums_of"("who" => $1, "lowest" => $2) AS t0
