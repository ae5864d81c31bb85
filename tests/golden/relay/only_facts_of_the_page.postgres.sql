-- relay
-- boat_connection.pageInfo.endCursor
SELECT t0."id" FROM "public"."boat" AS t0 WHERE t0."owner" IS NULL ORDER BY t0."id" LIMIT $1
