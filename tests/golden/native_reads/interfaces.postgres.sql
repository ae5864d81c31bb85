-- native_reads
-- queryAnimal
SELECT t0."type", t0."id" FROM "public"."Animal" AS t0 ORDER BY t0."id"

-- queryAnimal, queryAnimal.keeper, queryAnimal, queryAnimal.keeper
WITH l0 AS MATERIALIZED (SELECT t0."name" AS c0, t0."legs" AS c1, t0."keeper_id" AS c2, p.n AS k0 FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Dog" AS t0 ON t0."id" = p.k0), l2 AS MATERIALIZED (SELECT t2."name" AS c0, t2."legs" AS c1, t2."lives" AS c2, t2."keeper_id" AS c3, p.n AS k0 FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Cat" AS t2 ON t2."id" = p.k0) SELECT 0::int2, l0.c0, l0.c1, l0.c2, l0.k0, NULL::int4 FROM l0 UNION ALL SELECT 1::int2, t1."email", NULL, t1."id", NULL, NULL FROM "public"."Person" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT DISTINCT l0.c2 FROM l0)) UNION ALL SELECT 2::int2, l2.c0, l2.c1, l2.c3, l2.k0, l2.c2 FROM l2 UNION ALL SELECT 3::int2, t3."email", NULL, t3."id", NULL, NULL FROM "public"."Person" AS t3 WHERE t3."id" = ANY(ARRAY(SELECT DISTINCT l2.c3 FROM l2))

-- sorted
SELECT t0."type", t0."id" FROM "public"."Animal_all" AS t0 WHERE t0."legs" = $1 ORDER BY t0."name" DESC, t0."id"

-- sorted, sorted
SELECT 0::int2, t0."name", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Dog" AS t0 ON t0."id" = p.k0 UNION ALL SELECT 1::int2, t1."name", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Cat" AS t1 ON t1."id" = p.k0
