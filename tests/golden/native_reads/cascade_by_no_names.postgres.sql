-- native_reads
-- queryCity
SELECT t0."name", t0."population", t0."id" FROM "public"."City" AS t0 WHERE (t0."name" IS NOT NULL AND t0."population" IS NOT NULL AND EXISTS (SELECT 1 FROM "public"."City_tags" AS t1 WHERE t1."id" = t0."id")) ORDER BY t0."id"

-- queryCity.tags
SELECT 0::int2, t0."value", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."City_tags" AS t0 ON t0."id" = p.k0 ORDER BY t0."place"
