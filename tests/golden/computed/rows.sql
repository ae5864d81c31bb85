-- computed
-- author
SELECT (t0.*)::text FROM "public"."author" AS t0 ORDER BY t0."id"

-- author.good_articles, author.good_articles.article_author, author.first
WITH l0 AS MATERIALIZED (SELECT t0."title" AS c0, t0."author_id" AS c1, p.n AS k0 FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."good_articles"(p.k0::"public"."author") AS t0 ON true ORDER BY t0."rating" DESC) SELECT 0::int2, l0.c0, l0.c1, l0.k0 FROM l0 UNION ALL SELECT 1::int2, "public"."full_name"(t1.*), t1."id", NULL FROM "public"."author" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT DISTINCT l0.c1 FROM l0)) UNION ALL SELECT 2::int2, x.c0, NULL, p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) CROSS JOIN LATERAL (SELECT t2."title" AS c0 FROM "public"."find_articles"(p.k0::"public"."author", "word" => $2) AS t2 WHERE "public"."stars"(t2.*) > $3 ORDER BY t2."title" LIMIT $4) AS x
