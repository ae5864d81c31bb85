-- permissions
-- boat
SELECT t0."id", t0."harbour_id" FROM "public"."boat" AS t0 ORDER BY t0."id"

-- boat.harbour
SELECT 0::int2, t0."name", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."harbour" AS t0 ON t0."id" = p.k0 AND t0."name" = $2
