-- permissions
-- harbour
SELECT t0."id" FROM "public"."harbour" AS t0 ORDER BY t0."id"

-- harbour.boats
SELECT 0::int2, x.c0, p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) CROSS JOIN LATERAL (SELECT t0."id" AS c0 FROM "public"."boat" AS t0 WHERE t0."harbour_id" = p.k0 ORDER BY t0."id" LIMIT $2) AS x
