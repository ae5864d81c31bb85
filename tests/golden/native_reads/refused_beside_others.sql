-- native_reads
-- a
SELECT t0."name" FROM "City" AS t0 WHERE t0."id" = ?1

-- b
SELECT t0."name" FROM "Country" AS t0 WHERE t0."code" = ?1

-- c
SELECT t0."name" FROM "City" AS t0 WHERE t0."founded_at" = ?1 ORDER BY t0."id"

-- d
SELECT t0."name", t0."country_id" FROM "City" AS t0 ORDER BY t0."name", t0."id" LIMIT ?1

-- d.country
SELECT t0."code" FROM "Country" AS t0 WHERE t0."id" = ?1

-- e
SELECT t0."name" FROM "City" AS t0 WHERE t0."population" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- f
SELECT count(*) FROM "City" AS t0 WHERE weir_regex(?1, t0."name")

-- g
SELECT t0."email" FROM "Person" AS t0 ORDER BY t0."id"

-- h
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1

-- h.cities
SELECT t0."name" FROM "City" AS t0 WHERE t0."country_id" = ?1 AND t0."founded_at" < ?2 ORDER BY t0."id"
