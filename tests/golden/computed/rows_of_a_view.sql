-- computed
-- listed
SELECT t0."name", t0."t0", (t0.*)::text FROM "public"."listed" AS t0 ORDER BY t0."name"

-- listed.articles
SELECT 0::int2, t0."title", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."listed_articles"(p.k0::"public"."listed") AS t0 ON true ORDER BY t0."id"
