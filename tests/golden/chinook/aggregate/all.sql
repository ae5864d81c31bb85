-- chinook
-- Track_aggregate.aggregate
SELECT count(*), sum(t0."Milliseconds"), sum(t0."UnitPrice"), avg(t0."Milliseconds"), min(t0."Name"), min(t0."Milliseconds"), max(t0."Name"), max(t0."Milliseconds") FROM "Track" AS t0 WHERE t0."AlbumId" = ?1

-- Track_aggregate.nodes
SELECT t0."Name" FROM "Track" AS t0 WHERE t0."AlbumId" = ?1
