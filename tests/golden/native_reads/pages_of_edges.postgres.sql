-- native_reads
-- queryCountry
SELECT t0."code", t0."id" FROM "public"."Country" AS t0 ORDER BY t0."id"

-- queryCountry.first, queryCountry.last, queryCountry.large
WITH l2 AS MATERIALIZED (SELECT t3."name" AS c0, p.n AS k0 FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."City" AS t3 ON t3."country_id" = p.k0 AND t3."population" > $4 ORDER BY t3."id") SELECT 0::int2, x.c0, p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) CROSS JOIN LATERAL (SELECT t0."name" AS c0 FROM "public"."City" AS t0 WHERE t0."country_id" = p.k0 ORDER BY t0."name" DESC, t0."id" LIMIT $2) AS x UNION ALL SELECT 1::int2, x.c0, p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) CROSS JOIN LATERAL (SELECT t2."name" AS c0 FROM (SELECT t1.* FROM "public"."City" AS t1 WHERE t1."country_id" = p.k0 ORDER BY t1."id" DESC LIMIT $3) AS t2 ORDER BY t2."id") AS x UNION ALL SELECT 2::int2, l2.c0, l2.k0 FROM l2
