-- chinook
-- Track_aggregate.aggregate
SELECT count(*), weir_of_numbers(sum(t0."Bytes"), max(t0."Bytes")), weir_of_numbers(avg(t0."Bytes"), max(t0."Bytes")), max(t0."Name"), weir_stddev_samp(t0."Bytes") FROM "Track" AS t0 WHERE t0."TrackId" < ?1

-- Track_aggregate.nodes
SELECT t0."Name" FROM "Track" AS t0 WHERE t0."TrackId" < ?1
