-- computed
-- author
SELECT (t0.*)::text FROM "public"."author" AS t0 ORDER BY (SELECT t1."title" FROM "public"."best_article"(t0.*) AS t1 WHERE NOT (t1.* IS NULL) LIMIT 1)

-- author.best_article
SELECT 0::int2, t0."title", "public"."stars"(t0.*), p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."best_article"(p.k0::"public"."author") AS t0 ON NOT (t0.* IS NULL)

-- with
SELECT "public"."full_name"(t0.*) FROM "public"."author" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."best_article"(t0.*) AS t1 WHERE NOT (t1.* IS NULL))
