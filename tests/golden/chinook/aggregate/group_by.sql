-- chinook
-- Track_group_by
SELECT t0."GenreId", count(*), weir_of_numbers(avg(t0."Milliseconds"), max(t0."Milliseconds")) FROM "Track" AS t0 WHERE t0."GenreId" < ?1 GROUP BY t0."GenreId" ORDER BY t0."GenreId" NULLS LAST
