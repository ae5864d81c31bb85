-- relay
-- boat_connection.edges
SELECT t0."price", t0."id", t0."name" FROM "public"."boat" AS t0 WHERE ((t0."price" > $1 OR (t0."price" IS NOT NULL AND $1 IS NULL)) OR ((t0."price" = $1 OR (t0."price" IS NULL AND $1 IS NULL)) AND t0."id" > $2)) ORDER BY t0."price" NULLS FIRST, t0."id" LIMIT $3
