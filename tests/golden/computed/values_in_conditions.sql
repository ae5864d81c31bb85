-- computed
-- by_name
SELECT "public"."full_name"(t0.*) FROM "public"."author" AS t0 WHERE "public"."full_name"(t0.*) ILIKE $1 ORDER BY "public"."full_name"(t0.*) DESC

-- stars
SELECT t0."title", "public"."stars"(t0.*) FROM "public"."article" AS t0 WHERE "public"."stars"(t0.*) = ANY($1) ORDER BY (SELECT "public"."full_name"(t1.*) FROM "public"."author" AS t1 WHERE t1."id" = t0."author_id" LIMIT 1), "public"."stars"(t0.*) DESC

-- through
SELECT "public"."full_name"(t0.*) FROM "public"."author" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."article" AS t1 WHERE t1."author_id" = t0."id" AND "public"."stars"(t1.*) < $1)
