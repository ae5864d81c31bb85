-- relay
-- boat_connection.edges
SELECT (SELECT t1."name" FROM "harbour" AS t1 WHERE t1."country" = t0."country" AND t1."code" = t0."code" LIMIT 1), (SELECT count(*) FROM "crew" AS t2 WHERE t2."boat_id" = t0."id"), t0."id", t0."name" FROM "boat" AS t0 ORDER BY (SELECT t3."name" FROM "harbour" AS t3 WHERE t3."country" = t0."country" AND t3."code" = t0."code" LIMIT 1) DESC NULLS FIRST, (SELECT count(*) FROM "crew" AS t4 WHERE t4."boat_id" = t0."id") DESC, t0."id" LIMIT ?1
