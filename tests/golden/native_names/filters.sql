-- native_names
-- desc
SELECT t0."desc" FROM "Part" AS t0 WHERE t0."desc" = ?1 ORDER BY t0."id"

-- term
SELECT t0."desc" FROM "Part" AS t0 WHERE t0."id" IN (SELECT rowid FROM "Part_desc_terms" WHERE "Part_desc_terms" MATCH ?1) ORDER BY t0."id"

-- text
SELECT t0."desc" FROM "Part" AS t0 WHERE t0."id" IN (SELECT rowid FROM "Part_desc_fulltext" WHERE "Part_desc_fulltext" MATCH ?1) ORDER BY t0."id"

-- ngram
SELECT t0."desc" FROM "Part" AS t0 WHERE (t0."id" IN (SELECT rowid FROM "Part_desc_trigrams" WHERE "Part_desc_trigrams" MATCH ?1) AND weir_sequence(?2, t0."desc")) ORDER BY t0."id"

-- regexp
SELECT t0."desc" FROM "Part" AS t0 WHERE (t0."id" IN (SELECT rowid FROM "Part_desc_trigrams" WHERE "Part_desc_trigrams" MATCH ?1) AND weir_regex(?2, t0."desc")) ORDER BY t0."id"

-- asc
SELECT t0."asc" FROM "Part" AS t0 WHERE t0."asc" >= ?1 ORDER BY t0."id"

-- has_
SELECT t0."has" FROM "Part" AS t0 WHERE t0."has" = ?1 ORDER BY t0."id"

-- has
SELECT t0."desc" FROM "Part" AS t0 WHERE (t0."has" IS NOT NULL AND t0."then_id" IS NOT NULL) ORDER BY t0."id"

-- has_either
SELECT t0."desc" FROM "Part" AS t0 WHERE (t0."then_id" IS NOT NULL OR t0."has" IS NOT NULL) ORDER BY t0."id"

-- and_
SELECT t0."and" FROM "Part" AS t0 WHERE (t0."and" = ?1 AND t0."asc" < ?2) ORDER BY t0."id"

-- or_
SELECT t0."or" FROM "Part" AS t0 WHERE t0."or_at" >= ?1 ORDER BY t0."id"

-- not_
SELECT t0."id" FROM "Part" AS t0 WHERE (EXISTS (SELECT 1 FROM "Part_not" AS t1 WHERE t1."id" = t0."id" AND t1."value" = ?1) AND (EXISTS (SELECT 1 FROM "Part_not" AS t2 WHERE t2."id" = t0."id" AND t2."value" = ?2)) IS NOT TRUE) ORDER BY t0."id"

-- not_.not
SELECT t0."value" FROM "Part_not" AS t0 WHERE t0."id" = ?1 ORDER BY t0."place"

-- then
SELECT t0."then_id" FROM "Part" AS t0 WHERE EXISTS (SELECT 1 FROM "Part" AS t1 WHERE t1."id" = t0."then_id" AND t1."asc" = ?1) ORDER BY t0."id"

-- then.then
SELECT t0."desc" FROM "Part" AS t0 WHERE t0."id" = ?1

-- edges
SELECT t0."name", t0."has_id", t0."id" FROM "Owner" AS t0 WHERE (EXISTS (SELECT 1 FROM "Part" AS t1 WHERE t1."id" = t0."has_id" AND t1."asc" = ?1) AND EXISTS (SELECT 1 FROM "Owner" AS t2 JOIN "Owner_or" AS t3 ON t3."owner_id" = t0."id" WHERE t2."id" = t3."or_id" AND t2."name" = ?2)) ORDER BY t0."id"

-- edges.has
SELECT t0."asc" FROM "Part" AS t0 WHERE t0."id" = ?1

-- edges.or
SELECT t0."name" FROM "Owner_or" AS t1 JOIN "Owner" AS t0 ON t0."id" = t1."or_id" WHERE t1."owner_id" = ?1 ORDER BY t1."or_id"
