-- relay
-- node
SELECT t0."country", t0."code" FROM "harbour" AS t0 WHERE (t0."country" = ?1 AND t0."code" = ?2)
