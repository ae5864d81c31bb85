-- permissions
-- harbour
SELECT t0."name", t0."id" FROM "public"."harbour" AS t0 ORDER BY t0."id"

-- harbour.boats_aggregate.aggregate
SELECT 0::int2, count(t0."harbour_id"), max(t0."name"), p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) LEFT JOIN "public"."boat" AS t0 ON t0."harbour_id" = p.k0 AND (t0."owner" = $2 AND t0."owner" IS NOT NULL) GROUP BY p.n
