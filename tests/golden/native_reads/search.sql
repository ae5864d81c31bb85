-- native_reads
-- terms
SELECT t0."name" FROM "City" AS t0 WHERE t0."id" IN (SELECT rowid FROM "City_name_terms" WHERE "City_name_terms" MATCH ?1) ORDER BY t0."id"

-- any
SELECT t0."name" FROM "City" AS t0 WHERE t0."id" IN (SELECT rowid FROM "City_name_terms" WHERE "City_name_terms" MATCH ?1) ORDER BY t0."id"

-- text
SELECT t0."name" FROM "City" AS t0 WHERE t0."id" IN (SELECT rowid FROM "City_name_fulltext" WHERE "City_name_fulltext" MATCH ?1) ORDER BY t0."id"

-- pattern
SELECT t0."name" FROM "City" AS t0 WHERE weir_regex(?1, t0."name") ORDER BY t0."id"

-- quoted
SELECT t0."name" FROM "City" AS t0 WHERE t0."id" IN (SELECT rowid FROM "City_name_terms" WHERE "City_name_terms" MATCH ?1) ORDER BY t0."id"

-- empty
SELECT t0."name" FROM "City" AS t0 WHERE t0."id" IN (SELECT rowid FROM "City_name_terms" WHERE "City_name_terms" MATCH ?1) ORDER BY t0."id"
