-- permissions
-- crew
SELECT t0."name", t0."boat_id" FROM "public"."crew" AS t0 ORDER BY t0."id"

-- crew.boat
SELECT 0::int2, t0."name", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."boat" AS t0 ON t0."id" = p.k0 AND (t0."owner" = $2 AND t0."owner" IS NOT NULL)
