-- native_names
-- updatePart
SELECT t0."id" FROM "Part" AS t0 WHERE t0."and" = ?1 ORDER BY t0."id"

-- updatePart: reserve numbers of objects
SELECT next_id FROM weir_store

-- updatePart: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- updatePart: update rows of Part (has, and, or, or_at) where id in values
UPDATE "Part" AS t0 SET "has" = ?1, "and" = ?2, "or" = ?3, "or_at" = ?4 WHERE t0."id" IN (SELECT value FROM json_each(?5))

-- updatePart: insert a row of Node (id, type)
INSERT INTO "Node" AS t0 ("id", "type") VALUES (?1, ?2)

-- updatePart: insert a row of Part (id, desc, asc, has, and, or, or_at, then_id)
INSERT INTO "Part" AS t0 ("id", "desc", "asc", "has", "and", "or", "or_at", "then_id") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)

-- updatePart: update rows of Part (then_id) where id = value
UPDATE "Part" AS t0 SET "then_id" = ?1 WHERE t0."id" = ?2

-- updatePart: insert a row of Part_not (id, value) unless it is there
INSERT INTO "Part_not" AS t0 ("id", "value") VALUES (?1, ?2) ON CONFLICT DO NOTHING

-- updatePart: update rows of Part (desc) where id in values
UPDATE "Part" AS t0 SET "desc" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))

-- updatePart: delete rows of Part_not where id in values and value = value
DELETE FROM "Part_not" AS t0 WHERE (t0."id" IN (SELECT value FROM json_each(?1)) AND t0."value" = ?2)

-- updatePart.part
SELECT t0."has" FROM "Part" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- upsert: find id of Owner where name = value
SELECT t0."id" FROM "Owner" AS t0 WHERE t0."name" = ?1

-- upsert: reserve numbers of objects
SELECT next_id FROM weir_store

-- upsert: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- upsert: insert a row of Node (id, type)
INSERT INTO "Node" AS t0 ("id", "type") VALUES (?1, ?2)

-- upsert: insert a row of Owner (id, name, has_id)
INSERT INTO "Owner" AS t0 ("id", "name", "has_id") VALUES (?1, ?2, ?3)

-- upsert: insert a row of Owner_or (owner_id, or_id) unless it is there
INSERT INTO "Owner_or" AS t0 ("owner_id", "or_id") VALUES (?1, ?2) ON CONFLICT DO NOTHING

-- upsert: update rows of Owner (name) where id = value
UPDATE "Owner" AS t0 SET "name" = ?1 WHERE t0."id" = ?2

-- upsert.owner
SELECT t0."name", t0."has_id", t0."id" FROM "Owner" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- upsert.owner.has
SELECT t0."has" FROM "Part" AS t0 WHERE t0."id" = ?1

-- upsert.owner.or
SELECT t0."name" FROM "Owner_or" AS t1 JOIN "Owner" AS t0 ON t0."id" = t1."or_id" WHERE t1."owner_id" = ?1 ORDER BY t0."name", t1."or_id"
