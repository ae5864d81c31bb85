-- relay
-- node, node.harbour
WITH l0 AS MATERIALIZED (SELECT t0."id" AS c0, t0."name" AS c1, t0."country" AS c2, t0."code" AS c3 FROM "public"."boat" AS t0 WHERE t0."id" = $1) SELECT 0::int2, l0.c0, l0.c1, l0.c2, l0.c3 FROM l0 UNION ALL SELECT 1::int2, NULL, t1."name", p.k0, p.k1 FROM (SELECT DISTINCT l0.c2 AS k0, l0.c3 AS k1 FROM l0) AS p JOIN "public"."harbour" AS t1 ON t1."country" = p.k0 AND t1."code" = p.k1
