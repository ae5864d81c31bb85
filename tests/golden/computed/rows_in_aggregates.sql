-- computed
-- author
SELECT (t0.*)::text FROM "public"."author" AS t0 ORDER BY t0."id"

-- author.find_articles_aggregate.aggregate, author.find_articles_aggregate.nodes
SELECT 0::int2, x.c0, x.c1, p.n, NULL::text FROM unnest($1) WITH ORDINALITY AS p(k0, n) CROSS JOIN LATERAL (SELECT count(*) AS c0, max(t0."rating") AS c1 FROM "public"."find_articles"(p.k0::"public"."author", "word" => $2) AS t0) AS x UNION ALL SELECT 1::int2, NULL, NULL, p.n, t1."title" FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."find_articles"(p.k0::"public"."author", "word" => $3) AS t1 ON true
