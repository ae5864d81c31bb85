-- relay
-- boat_connection.edges
SELECT DISTINCT ON (t0."owner") t0."owner", t0."name" FROM "public"."boat" AS t0 ORDER BY t0."owner", t0."id"
