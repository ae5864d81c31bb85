-- kits_native
-- queryCountry
SELECT t0."name", t0."cid" FROM "Country" AS t0 WHERE t0."id" = ?1 ORDER BY t0."cid"

-- queryCountry.cities
SELECT t0."id", t0."name" FROM "City" AS t0 WHERE t0."country_id" = ?1 ORDER BY t0."name", t0."cid"
