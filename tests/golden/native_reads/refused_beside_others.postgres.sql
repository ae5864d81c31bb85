-- native_reads
-- a, b, f, h, h.cities
WITH l3 AS MATERIALIZED (SELECT t3."id" AS c0 FROM "public"."Country" AS t3 WHERE t3."code" = $4) SELECT 0::int2, t0."name", NULL::int8, NULL::int8 FROM "public"."City" AS t0 WHERE t0."id" = $1 UNION ALL SELECT 1::int2, t1."name", NULL, NULL FROM "public"."Country" AS t1 WHERE t1."code" = $2 UNION ALL SELECT 2::int2, NULL, count(*), NULL FROM "public"."City" AS t2 WHERE t2."name" ~ $3 UNION ALL SELECT 3::int2, NULL, NULL, l3.c0 FROM l3 UNION ALL (SELECT 4::int2, t4."name", NULL, t4."country_id" FROM "public"."City" AS t4 WHERE t4."country_id" = ANY(ARRAY(SELECT l3.c0 FROM l3)) AND t4."founded_at" < $5 ORDER BY t4."id") OFFSET 0 * num_nulls('' ~ $3)

-- c
SELECT t0."name" FROM "public"."City" AS t0 WHERE t0."founded_at" = $1 ORDER BY t0."id"

-- d
SELECT t0."name", t0."country_id" FROM "public"."City" AS t0 ORDER BY t0."name", t0."id" LIMIT $1

-- d.country
SELECT 0::int2, t0."code", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Country" AS t0 ON t0."id" = p.k0

-- e
SELECT t0."name" FROM "public"."City" AS t0 WHERE t0."population" = ANY($1) ORDER BY t0."id"

-- g
SELECT t0."email" FROM "public"."Person" AS t0 ORDER BY t0."id"
