-- native_reads
-- aggregateCity, none, aggregateAnimal
SELECT 0::int2, count(*), min(t0."name"), max(t0."name"), sum(t0."population"), max(t0."population"), sum(t0."area"), NULL::int8 FROM "public"."City" AS t0 UNION ALL SELECT 1::int2, count(*), NULL, NULL, NULL, max(t1."population"), NULL, NULL FROM "public"."City" AS t1 WHERE t1."name" = $1 UNION ALL SELECT 2::int2, count(*), NULL, NULL, NULL, NULL, NULL, sum(t2."legs") FROM "public"."Animal_all" AS t2

-- queryCountry
SELECT t0."id" FROM "public"."Country" AS t0 ORDER BY t0."id"

-- queryCountry.citiesAggregate
SELECT 0::int2, count(t0."country_id"), max(t0."population"), p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) LEFT JOIN "public"."City" AS t0 ON t0."country_id" = p.k0 GROUP BY p.n
