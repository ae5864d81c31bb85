-- postgres
-- scalar_aggregate.aggregate, scalar_group_by
SELECT 0::int2, min(t0."host"), max(t0."host"), NULL::int4 FROM "public"."scalar" AS t0 UNION ALL SELECT 1::int2, max(t1."host"), NULL, t1."id" FROM "public"."scalar" AS t1 GROUP BY t1."id" HAVING max(t1."host") > $1
