-- native_reads
-- needed
SELECT t0."name" FROM "City" AS t0 WHERE (t0."id" IN (SELECT rowid FROM "City_name_trigrams" WHERE "City_name_trigrams" MATCH ?1) AND weir_regex(?2, t0."name")) ORDER BY t0."id"

-- any
SELECT t0."name" FROM "City" AS t0 WHERE (t0."id" IN (SELECT rowid FROM "City_name_trigrams" WHERE "City_name_trigrams" MATCH ?1) AND weir_regex(?2, t0."name")) ORDER BY t0."id"

-- variable
SELECT t0."name" FROM "City" AS t0 WHERE (t0."id" IN (SELECT rowid FROM "City_name_trigrams" WHERE "City_name_trigrams" MATCH ?1) AND weir_regex(?2, t0."name")) ORDER BY t0."id"
