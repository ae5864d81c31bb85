-- native_mutations
-- updatePerson
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1 ORDER BY t0."id"

-- updatePerson
WITH l0 AS MATERIALIZED (SELECT t0."nick" AS c0, t0."spouse_id" AS c1, t0."id" AS c2 FROM "public"."Person" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, l0.c1, l0.c2 FROM l0 UNION ALL SELECT 1::int2, t1."email", t1."id", NULL FROM "public"."Person" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c1 FROM l0)) UNION ALL (SELECT 2::int2, t2."email", t3."person_id", NULL FROM "public"."Person_friends" AS t3 JOIN "public"."Person" AS t2 ON t2."id" = t3."friends_id" WHERE t3."person_id" = ANY(ARRAY(SELECT l0.c2 FROM l0)) ORDER BY t3."friends_id")
