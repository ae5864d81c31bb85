-- native_names
-- updatePart
SELECT t0."id" FROM "Part" AS t0 WHERE t0."and" = ?1 ORDER BY t0."id"

-- updatePart.part
SELECT t0."has" FROM "Part" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- upsert.owner.has
SELECT t0."has" FROM "Part" AS t0 WHERE t0."id" = ?1

-- upsert.owner.or
SELECT t0."name" FROM "Owner_or" AS t1 JOIN "Owner" AS t0 ON t0."id" = t1."or_id" WHERE t1."owner_id" = ?1 ORDER BY t0."name", t1."or_id"

-- upsert.owner
SELECT t0."name", t0."has_id", t0."id" FROM "Owner" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
