-- chinook
-- Track_aggregate.aggregate
SELECT count(*), weir_of_numbers(sum(t0."Milliseconds"), max(t0."Milliseconds")), weir_of_numbers(sum(t0."UnitPrice"), max(t0."UnitPrice")), weir_of_numbers(avg(t0."Milliseconds"), max(t0."Milliseconds")), min(t0."Name"), min(t0."Milliseconds"), max(t0."Name"), max(t0."Milliseconds") FROM "Track" AS t0 WHERE t0."AlbumId" = ?1

-- Track_aggregate.nodes
SELECT t0."Name" FROM "Track" AS t0 WHERE t0."AlbumId" = ?1
