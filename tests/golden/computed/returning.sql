-- computed
-- author
INSERT INTO "public"."author" AS t0 ("id", "first_name") VALUES ($1, $2) RETURNING "public"."full_name"(t0.*), "public"."facts"(t0.*) #> $3, (t0.*)::text, "id"

-- article
INSERT INTO "public"."article" AS t0 ("title", "author_id", "rating") VALUES ($1, $2, $3) RETURNING 1

-- author
UPDATE "public"."author" AS t0 SET "last_name" = $1 WHERE t0."id" = $2 RETURNING "public"."full_name"(t0.*), (t0.*)::text

-- author
DELETE FROM "public"."author" AS t0 WHERE t0."id" = $1 RETURNING "public"."full_name"(t0.*), (t0.*)::text

-- insert_author
SELECT 0::int2, t0."title", "public"."stars"(t0.*), p.n, NULL::int8 FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."good_articles"(p.k0::"public"."author") AS t0 ON true UNION ALL SELECT 1::int2, NULL, NULL, p.n, x.c0 FROM unnest($1) WITH ORDINALITY AS p(k0, n) CROSS JOIN LATERAL (SELECT count(*) AS c0 FROM "public"."find_articles"(p.k0::"public"."author", "word" => $2) AS t1) AS x

-- update_author_by_pk
SELECT 0::int2, t0."title", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."best_article"(p.k0::"public"."author") AS t0 ON NOT (t0.* IS NULL)

-- delete_author_by_pk
SELECT 0::int2, t0."title", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."good_articles"(p.k0::"public"."author") AS t0 ON true
