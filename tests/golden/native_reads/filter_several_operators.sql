-- native_reads
-- queryCity
SELECT t0."name" FROM "City" AS t0 WHERE (t0."id" IN (SELECT rowid FROM "City_name_terms" WHERE "City_name_terms" MATCH ?1) AND t0."id" IN (SELECT rowid FROM "City_name_terms" WHERE "City_name_terms" MATCH ?2) AND t0."population" IN (SELECT value FROM json_each(?3)) AND t0."population" < ?4 AND t0."population" >= ?5) ORDER BY t0."id"
