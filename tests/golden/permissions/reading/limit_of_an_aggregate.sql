-- permissions
-- boat_aggregate.aggregate
SELECT count(*) FROM "boat" AS t0

-- boat_aggregate.nodes
SELECT t0."id" FROM "boat" AS t0 ORDER BY t0."id" LIMIT ?1
