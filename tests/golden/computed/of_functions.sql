-- computed
-- one_author, one_author.best_article, nobody
WITH l0 AS MATERIALIZED (SELECT "public"."full_name"(t0.*) AS c0, (t0.*)::text AS c1 FROM "public"."one_author"("wanted" => $1) AS t0 WHERE NOT (t0.* IS NULL)) SELECT 0::int2, l0.c0, l0.c1 FROM l0 UNION ALL SELECT 1::int2, t1."title", p.k0 FROM (SELECT DISTINCT l0.c1 AS k0 FROM l0) AS p JOIN "public"."best_article"(p.k0::"public"."author") AS t1 ON NOT (t1.* IS NULL) UNION ALL SELECT 2::int2, "public"."full_name"(t2.*), NULL FROM "public"."one_author"("wanted" => $2) AS t2 WHERE NOT (t2.* IS NULL)

-- search_author
SELECT "public"."full_name"(t0.*), (t0.*)::text FROM "public"."search_author"("word" => $1) AS t0 ORDER BY t0."id"

-- search_author.good_articles
SELECT 0::int2, t0."title", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."good_articles"(p.k0::"public"."author") AS t0 ON true ORDER BY t0."id"
