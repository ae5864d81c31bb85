-- native_mutations
-- set
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- set: update rows of City (at_longitude, at_latitude) where id in values
UPDATE "City" AS t0 SET "at_longitude" = ?1, "at_latitude" = ?2 WHERE t0."id" IN (SELECT value FROM json_each(?3))

-- set.city
SELECT t0."at_longitude", t0."at_latitude" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- other
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- other: update rows of City (at_longitude, at_latitude) where id in values and at_longitude = value and at_latitude = value
UPDATE "City" AS t0 SET "at_longitude" = ?1, "at_latitude" = ?2 WHERE (t0."id" IN (SELECT value FROM json_each(?3)) AND t0."at_longitude" = ?4 AND t0."at_latitude" = ?5)

-- other.city
SELECT t0."at_longitude", t0."at_latitude" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- same
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- same: update rows of City (at_longitude, at_latitude) where id in values and at_longitude = value and at_latitude = value
UPDATE "City" AS t0 SET "at_longitude" = ?1, "at_latitude" = ?2 WHERE (t0."id" IN (SELECT value FROM json_each(?3)) AND t0."at_longitude" = ?4 AND t0."at_latitude" = ?5)

-- same.city
SELECT t0."at_longitude", t0."at_latitude" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
