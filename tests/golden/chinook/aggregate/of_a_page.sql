-- chinook
-- Track_aggregate.aggregate
SELECT count(*), weir_of_numbers(sum(t2."TrackId"), max(t2."TrackId")) FROM (SELECT t0.* FROM "Track" AS t0 ORDER BY t0."TrackId" LIMIT ?1 OFFSET ?2) AS t2

-- Track_aggregate.nodes
SELECT t0."TrackId" FROM "Track" AS t0 ORDER BY t0."TrackId" LIMIT ?1 OFFSET ?2
