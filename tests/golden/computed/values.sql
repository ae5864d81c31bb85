-- computed
-- author, author.article_authors
WITH l0 AS MATERIALIZED (SELECT "public"."full_name"(t0.*) AS c0, "public"."seen_by"("of_author" => t0.*, "session" => '{"x-hasura-role":"admin"}') AS c1, t0."id" AS c2 FROM "public"."author" AS t0 ORDER BY t0."id") SELECT 0::int2, l0.c0, l0.c1, l0.c2, NULL::int4 FROM l0 UNION ALL SELECT 1::int2, x.c0, NULL, x.c1, p.k0 FROM (SELECT l0.c2 AS k0 FROM l0) AS p CROSS JOIN LATERAL (SELECT t1."title" AS c0, "public"."stars"(t1.*) AS c1 FROM "public"."article" AS t1 WHERE t1."author_id" = p.k0 ORDER BY t1."id" LIMIT $1) AS x
