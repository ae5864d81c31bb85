-- native_mutations
-- stored
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1 ORDER BY t0."id"

-- stored.country.capital.capitalOf
SELECT t0."code" FROM "Country" AS t0 WHERE t0."id" = ?1

-- stored.country.capital
SELECT t0."name", t0."capitalOf_id" FROM "City" AS t0 WHERE t0."capitalOf_id" = ?1

-- stored.country
SELECT t0."id" FROM "Country" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- other
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1 ORDER BY t0."id"

-- other.country.capital.capitalOf
SELECT t0."code" FROM "Country" AS t0 WHERE t0."id" = ?1

-- other.country.capital
SELECT t0."name", t0."capitalOf_id" FROM "City" AS t0 WHERE t0."capitalOf_id" = ?1

-- other.country
SELECT t0."id" FROM "Country" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- back
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- back.city.capitalOf.capital
SELECT t0."name" FROM "City" AS t0 WHERE t0."capitalOf_id" = ?1

-- back.city.capitalOf
SELECT t0."code", t0."id" FROM "Country" AS t0 WHERE t0."id" = ?1

-- back.city
SELECT t0."capitalOf_id" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- required
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- required.city.country
SELECT t0."code" FROM "Country" AS t0 WHERE t0."id" = ?1

-- required.city
SELECT t0."country_id" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- list
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1 ORDER BY t0."id"

-- list.person.loves
SELECT t0."name" FROM "City_lovers" AS t1 JOIN "City" AS t0 ON t0."id" = t1."city_id" WHERE t1."person_id" = ?1 ORDER BY t1."city_id"

-- list.person
SELECT t0."id" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- married
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1 ORDER BY t0."id"

-- married.person.spouse.spouse
SELECT t0."email" FROM "Person" AS t0 WHERE t0."id" = ?1

-- married.person.spouse
SELECT t0."email", t0."spouse_id" FROM "Person" AS t0 WHERE t0."id" = ?1

-- married.person
SELECT t0."spouse_id" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- mutual
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1 ORDER BY t0."id"

-- mutual.person.spouse.spouse
SELECT t0."email" FROM "Person" AS t0 WHERE t0."id" = ?1

-- mutual.person.spouse
SELECT t0."email", t0."spouse_id" FROM "Person" AS t0 WHERE t0."id" = ?1

-- mutual.person
SELECT t0."spouse_id" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- same
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1 ORDER BY t0."id"

-- same.country.capital
SELECT t0."name" FROM "City" AS t0 WHERE t0."capitalOf_id" = ?1

-- same.country
SELECT t0."id" FROM "Country" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- null
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1 ORDER BY t0."id"

-- null.person.spouse
SELECT t0."email" FROM "Person" AS t0 WHERE t0."id" = ?1

-- null.person.loves
SELECT t0."name" FROM "City_lovers" AS t1 JOIN "City" AS t0 ON t0."id" = t1."city_id" WHERE t1."person_id" = ?1 ORDER BY t1."city_id"

-- null.person
SELECT t0."spouse_id", t0."id" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
