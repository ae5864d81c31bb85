-- computed
-- author
SELECT "public"."full_name"(t0.*), "public"."seen_by"("of_author" => t0.*, "session" => $1), t0."id" FROM "public"."author" AS t0 ORDER BY t0."id"

-- author.article_authors
SELECT 0::int2, x.c0, x.c1, p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) CROSS JOIN LATERAL (SELECT t0."title" AS c0, "public"."stars"(t0.*) AS c1 FROM "public"."article" AS t0 WHERE t0."author_id" = p.k0 ORDER BY t0."id" LIMIT $2) AS x
