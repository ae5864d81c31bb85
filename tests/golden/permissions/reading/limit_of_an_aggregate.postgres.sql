-- permissions
-- boat_aggregate.aggregate, boat_aggregate.nodes
WITH l0 AS MATERIALIZED (SELECT count(*) AS c0 FROM "public"."boat" AS t0) SELECT 0::int2, l0.c0, NULL::int4 FROM l0 UNION ALL (SELECT 1::int2, NULL, t1."id" FROM "public"."boat" AS t1 ORDER BY t1."id" LIMIT $1)
