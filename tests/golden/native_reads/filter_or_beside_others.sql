-- native_reads
-- wins
SELECT t0."name" FROM "City" AS t0 WHERE (t0."population" = ?1 OR t0."name" IN (SELECT value FROM json_each(?2))) ORDER BY t0."id"

-- inner
SELECT t0."name" FROM "City" AS t0 WHERE (t0."name" IN (SELECT value FROM json_each(?1)) AND t0."population" > ?2) ORDER BY t0."id"
