-- native_reads
-- two
SELECT t0."name", t0."population" FROM "public"."City" AS t0 WHERE (t0."name" IS NOT NULL AND t0."population" IS NOT NULL) ORDER BY t0."name" DESC, t0."id" LIMIT $1

-- last
SELECT t1."name", t1."population" FROM (SELECT t0.* FROM "public"."City" AS t0 WHERE (t0."name" IS NOT NULL AND t0."population" IS NOT NULL) ORDER BY t0."id" DESC LIMIT $1) AS t1 ORDER BY t1."id"

-- second
SELECT t0."name", t0."area" FROM "public"."City" AS t0 WHERE t0."area" IS NOT NULL ORDER BY t0."id" LIMIT $1 OFFSET $2

-- below
SELECT t0."code", t0."id" FROM "public"."Country" AS t0 WHERE (t0."code" IS NOT NULL AND EXISTS (SELECT 1 FROM "public"."City" AS t1 WHERE t1."country_id" = t0."id" AND (t1."name" IS NOT NULL AND t1."population" IS NOT NULL AND t1."area" IS NOT NULL))) ORDER BY t0."id" LIMIT $1

-- below.cities
SELECT 0::int2, x.c0, x.c1, x.c2, p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) CROSS JOIN LATERAL (SELECT t0."name" AS c0, t0."population" AS c1, t0."area" AS c2 FROM "public"."City" AS t0 WHERE t0."country_id" = p.k0 AND (t0."name" IS NOT NULL AND t0."population" IS NOT NULL AND t0."area" IS NOT NULL) ORDER BY t0."name" DESC, t0."id" LIMIT $2) AS x

-- passed
SELECT t0."code", t0."id" FROM "public"."Country" AS t0 WHERE (t0."code" IS NOT NULL AND EXISTS (SELECT 1 FROM "public"."City" AS t1 WHERE t1."country_id" = t0."id" AND (t1."name" IS NOT NULL AND t1."population" IS NOT NULL))) ORDER BY t0."id"

-- passed.cities
SELECT 0::int2, x.c0, x.c1, p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) CROSS JOIN LATERAL (SELECT t0."name" AS c0, t0."population" AS c1 FROM "public"."City" AS t0 WHERE t0."country_id" = p.k0 AND (t0."name" IS NOT NULL AND t0."population" IS NOT NULL) ORDER BY t0."id" OFFSET $2) AS x
