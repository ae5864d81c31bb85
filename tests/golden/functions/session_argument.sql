-- functions
-- my_album
SELECT t0."title" FROM "public"."my_album"("hasura_session" => $1) AS t0 ORDER BY t0."id" LIMIT $2
