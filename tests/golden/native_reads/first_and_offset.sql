-- native_reads
-- two
SELECT t0."name" FROM "City" AS t0 ORDER BY t0."id" LIMIT ?1

-- last
SELECT t1."name" FROM (SELECT t0.* FROM "City" AS t0 ORDER BY t0."id" DESC LIMIT ?1) AS t1 ORDER BY t1."id"

-- all
SELECT t0."name" FROM "City" AS t0 ORDER BY t0."id" LIMIT ?1 OFFSET ?2

-- one
SELECT t0."name" FROM "City" AS t0 ORDER BY t0."id" LIMIT ?1 OFFSET ?2
