-- native_mutations
-- set
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- other
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- same
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- set: update rows of City (area, area_west, area_south, area_east, area_north) where id in values
UPDATE "City" AS t0 SET "area" = ?1, "area_west" = ?2, "area_south" = ?3, "area_east" = ?4, "area_north" = ?5 WHERE t0."id" IN (SELECT value FROM json_each(?6))

-- other: update rows of City (area, area_west, area_south, area_east, area_north) where id in values and area = value
UPDATE "City" AS t0 SET "area" = ?1, "area_west" = ?2, "area_south" = ?3, "area_east" = ?4, "area_north" = ?5 WHERE (t0."id" IN (SELECT value FROM json_each(?6)) AND t0."area" = ?7)

-- same: update rows of City (area, area_west, area_south, area_east, area_north) where id in values and area = value
UPDATE "City" AS t0 SET "area" = ?1, "area_west" = ?2, "area_south" = ?3, "area_east" = ?4, "area_north" = ?5 WHERE (t0."id" IN (SELECT value FROM json_each(?6)) AND t0."area" = ?7)
