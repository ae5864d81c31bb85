-- native_rules
-- queryDocument
SELECT t0."type", t0."id" FROM "public"."Document" AS t0 WHERE (1 = 0) ORDER BY t0."id"

-- queryDocument, queryDocument
SELECT 0::int2, t0."title", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Chart" AS t0 ON t0."id" = p.k0 AND (1 = 0) UNION ALL SELECT 1::int2, t1."title", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Letter" AS t1 ON t1."id" = p.k0 AND (1 = 0)
