-- native_reads
-- aggregateCity
SELECT substr(min((CAST(t0."founded_at" + 2000000000000000000 AS text) || t0."founded") COLLATE "C"), 20), substr(max((CAST(t0."founded_at" + 2000000000000000000 AS text) || t0."founded") COLLATE "C"), 20), min(t0."area"), max(t0."area") FROM "public"."City" AS t0

-- queryCountry
SELECT t0."id" FROM "public"."Country" AS t0 ORDER BY t0."id"

-- queryCountry.citiesAggregate
SELECT 0::int2, substr(min((CAST(t0."founded_at" + 2000000000000000000 AS text) || t0."founded") COLLATE "C"), 20), substr(max((CAST(t0."founded_at" + 2000000000000000000 AS text) || t0."founded") COLLATE "C"), 20), p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) LEFT JOIN "public"."City" AS t0 ON t0."country_id" = p.k0 GROUP BY p.n
