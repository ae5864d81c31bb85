-- computed
-- listed, listed.articles
WITH l0 AS MATERIALIZED (SELECT t0."name" AS c0, t0."t0" AS c1, (t0.*)::text AS c2 FROM "public"."listed" AS t0 ORDER BY t0."name") SELECT 0::int2, l0.c0, l0.c1, l0.c2 FROM l0 UNION ALL (SELECT 1::int2, t1."title", NULL, p.k0 FROM (SELECT DISTINCT l0.c2 AS k0 FROM l0) AS p JOIN "public"."listed_articles"(p.k0::"public"."listed") AS t1 ON true ORDER BY t1."id")
