-- postgres
-- sale_aggregate.aggregate
SELECT sum(t0."whole") FROM "public"."sale" AS t0
