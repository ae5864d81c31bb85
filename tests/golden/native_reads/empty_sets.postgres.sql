-- native_reads
-- queryCountry, aggregateCity, queryAnimal
(SELECT 0::int2, NULL::text, NULL::int8 FROM "public"."Country" AS t0 ORDER BY t0."id" LIMIT $1) UNION ALL SELECT 1::int2, NULL, NULL FROM "public"."City" AS t1 UNION ALL (SELECT 2::int2, t2."type", t2."id" FROM "public"."Animal" AS t2 ORDER BY t2."id" LIMIT $2)
