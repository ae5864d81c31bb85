-- computed
-- some
SELECT "public"."full_name"(t0.*) FROM "public"."author" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."good_articles"(t0.*) AS t1 WHERE t1."title" LIKE $1)

-- many
SELECT "public"."full_name"(t0.*) FROM "public"."author" AS t0 WHERE (SELECT count(*) FROM "public"."good_articles"(t0.*) AS t1) > $1

-- none
SELECT "public"."full_name"(t0.*) FROM "public"."author" AS t0 WHERE NOT (EXISTS (SELECT 1 FROM "public"."good_articles"(t0.*) AS t1))

-- sorted
SELECT "public"."full_name"(t0.*) FROM "public"."author" AS t0 ORDER BY (SELECT count(*) FROM "public"."good_articles"(t0.*) AS t1) DESC, t0."id"
