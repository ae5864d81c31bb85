-- native_mutations
-- stored
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1 ORDER BY t0."id"

-- stored: find id of City where name = value
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1

-- stored: clear capitalOf_id of City where capitalOf_id = value and id <> value
UPDATE "City" AS t0 SET "capitalOf_id" = NULL WHERE (t0."capitalOf_id" = ?1 AND t0."id" <> ?2)

-- stored: update rows of City (capitalOf_id) where id = value
UPDATE "City" AS t0 SET "capitalOf_id" = ?1 WHERE t0."id" = ?2

-- stored: update rows of City (capitalOf_id) where capitalOf_id in values and id = value
UPDATE "City" AS t0 SET "capitalOf_id" = ?1 WHERE (t0."capitalOf_id" IN (SELECT value FROM json_each(?2)) AND t0."id" = ?3)

-- stored.country
SELECT t0."id" FROM "Country" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- stored.country.capital
SELECT t0."name", t0."capitalOf_id" FROM "City" AS t0 WHERE t0."capitalOf_id" = ?1

-- stored.country.capital.capitalOf
SELECT t0."code" FROM "Country" AS t0 WHERE t0."id" = ?1

-- other
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1 ORDER BY t0."id"

-- other: find id of City where name = value
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1

-- other: clear capitalOf_id of City where capitalOf_id = value and id <> value
UPDATE "City" AS t0 SET "capitalOf_id" = NULL WHERE (t0."capitalOf_id" = ?1 AND t0."id" <> ?2)

-- other: update rows of City (capitalOf_id) where id = value
UPDATE "City" AS t0 SET "capitalOf_id" = ?1 WHERE t0."id" = ?2

-- other: update rows of City (capitalOf_id) where capitalOf_id in values and id = value
UPDATE "City" AS t0 SET "capitalOf_id" = ?1 WHERE (t0."capitalOf_id" IN (SELECT value FROM json_each(?2)) AND t0."id" = ?3)

-- other.country
SELECT t0."id" FROM "Country" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- other.country.capital
SELECT t0."name", t0."capitalOf_id" FROM "City" AS t0 WHERE t0."capitalOf_id" = ?1

-- other.country.capital.capitalOf
SELECT t0."code" FROM "Country" AS t0 WHERE t0."id" = ?1

-- back
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- back: find id of Country where code = value
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1

-- back: clear capitalOf_id of City where capitalOf_id = value and id <> value
UPDATE "City" AS t0 SET "capitalOf_id" = NULL WHERE (t0."capitalOf_id" = ?1 AND t0."id" <> ?2)

-- back: update rows of City (capitalOf_id) where id = value
UPDATE "City" AS t0 SET "capitalOf_id" = ?1 WHERE t0."id" = ?2

-- back: update rows of City (capitalOf_id) where id in values and capitalOf_id = value
UPDATE "City" AS t0 SET "capitalOf_id" = ?1 WHERE (t0."id" IN (SELECT value FROM json_each(?2)) AND t0."capitalOf_id" = ?3)

-- back.city
SELECT t0."capitalOf_id" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- back.city.capitalOf
SELECT t0."code", t0."id" FROM "Country" AS t0 WHERE t0."id" = ?1

-- back.city.capitalOf.capital
SELECT t0."name" FROM "City" AS t0 WHERE t0."capitalOf_id" = ?1

-- required
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- required: find id of Country where code = value
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1

-- required: update rows of City (country_id) where id = value
UPDATE "City" AS t0 SET "country_id" = ?1 WHERE t0."id" = ?2

-- required.city
SELECT t0."country_id" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- required.city.country
SELECT t0."code" FROM "Country" AS t0 WHERE t0."id" = ?1

-- list
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1 ORDER BY t0."id"

-- list: find id of City where name = value
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1

-- list: update rows of Person (visits) where id in values
UPDATE "Person" AS t0 SET "visits" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))

-- list: insert a row of City_lovers (person_id, city_id) unless it is there
INSERT INTO "City_lovers" AS t0 ("person_id", "city_id") VALUES (?1, ?2) ON CONFLICT DO NOTHING

-- list: delete rows of City_lovers where person_id in values and city_id = value
DELETE FROM "City_lovers" AS t0 WHERE (t0."person_id" IN (SELECT value FROM json_each(?1)) AND t0."city_id" = ?2)

-- list.person
SELECT t0."id" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- list.person.loves
SELECT t0."name" FROM "City_lovers" AS t1 JOIN "City" AS t0 ON t0."id" = t1."city_id" WHERE t1."person_id" = ?1 ORDER BY t1."city_id"

-- married
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1 ORDER BY t0."id"

-- married: find id of Person where email = value
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1

-- married: reserve numbers of objects
SELECT next_id FROM weir_store

-- married: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- married: update rows of Person (visits) where id in values
UPDATE "Person" AS t0 SET "visits" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))

-- married: clear spouse_id of Person where spouse_id = value and id <> value
UPDATE "Person" AS t0 SET "spouse_id" = NULL WHERE (t0."spouse_id" = ?1 AND t0."id" <> ?2)

-- married: insert a row of Person (id, email, nick, mood, visits, joined, joined_at, spouse_id, password)
INSERT INTO "Person" AS t0 ("id", "email", "nick", "mood", "visits", "joined", "joined_at", "spouse_id", "password") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)

-- married: update rows of Person (spouse_id) where id = value
UPDATE "Person" AS t0 SET "spouse_id" = ?1 WHERE t0."id" = ?2

-- married.person
SELECT t0."spouse_id" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- married.person.spouse
SELECT t0."email", t0."spouse_id" FROM "Person" AS t0 WHERE t0."id" = ?1

-- married.person.spouse.spouse
SELECT t0."email" FROM "Person" AS t0 WHERE t0."id" = ?1

-- mutual
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1 ORDER BY t0."id"

-- mutual: find id of Person where email = value
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1

-- mutual: reserve numbers of objects
SELECT next_id FROM weir_store

-- mutual: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- mutual: update rows of Person (visits) where id in values
UPDATE "Person" AS t0 SET "visits" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))

-- mutual: clear spouse_id of Person where spouse_id = value and id <> value
UPDATE "Person" AS t0 SET "spouse_id" = NULL WHERE (t0."spouse_id" = ?1 AND t0."id" <> ?2)

-- mutual: insert a row of Person (id, email, nick, mood, visits, joined, joined_at, spouse_id, password)
INSERT INTO "Person" AS t0 ("id", "email", "nick", "mood", "visits", "joined", "joined_at", "spouse_id", "password") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)

-- mutual: update rows of Person (spouse_id) where id = value
UPDATE "Person" AS t0 SET "spouse_id" = ?1 WHERE t0."id" = ?2

-- mutual: update rows of Person (spouse_id) where id in values and spouse_id = value
UPDATE "Person" AS t0 SET "spouse_id" = ?1 WHERE (t0."id" IN (SELECT value FROM json_each(?2)) AND t0."spouse_id" = ?3)

-- mutual: update rows of Person (spouse_id) where spouse_id in values and id = value
UPDATE "Person" AS t0 SET "spouse_id" = ?1 WHERE (t0."spouse_id" IN (SELECT value FROM json_each(?2)) AND t0."id" = ?3)

-- mutual.person
SELECT t0."spouse_id" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- mutual.person.spouse
SELECT t0."email", t0."spouse_id" FROM "Person" AS t0 WHERE t0."id" = ?1

-- mutual.person.spouse.spouse
SELECT t0."email" FROM "Person" AS t0 WHERE t0."id" = ?1

-- same
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1 ORDER BY t0."id"

-- same: find id of City where name = value
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1

-- same: clear capitalOf_id of City where capitalOf_id = value and id <> value
UPDATE "City" AS t0 SET "capitalOf_id" = NULL WHERE (t0."capitalOf_id" = ?1 AND t0."id" <> ?2)

-- same: update rows of City (capitalOf_id) where id = value
UPDATE "City" AS t0 SET "capitalOf_id" = ?1 WHERE t0."id" = ?2

-- same: update rows of City (capitalOf_id) where capitalOf_id in values and id = value
UPDATE "City" AS t0 SET "capitalOf_id" = ?1 WHERE (t0."capitalOf_id" IN (SELECT value FROM json_each(?2)) AND t0."id" = ?3)

-- same.country
SELECT t0."id" FROM "Country" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- same.country.capital
SELECT t0."name" FROM "City" AS t0 WHERE t0."capitalOf_id" = ?1

-- null
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1 ORDER BY t0."id"

-- null: find id of Person where email = value
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1

-- null: find id of City where name = value
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1

-- null: reserve numbers of objects
SELECT next_id FROM weir_store

-- null: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- null: update rows of Person (visits) where id in values
UPDATE "Person" AS t0 SET "visits" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))

-- null: clear spouse_id of Person where spouse_id = value and id <> value
UPDATE "Person" AS t0 SET "spouse_id" = NULL WHERE (t0."spouse_id" = ?1 AND t0."id" <> ?2)

-- null: insert a row of Person (id, email, nick, mood, visits, joined, joined_at, spouse_id, password)
INSERT INTO "Person" AS t0 ("id", "email", "nick", "mood", "visits", "joined", "joined_at", "spouse_id", "password") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)

-- null: update rows of Person (spouse_id) where id = value
UPDATE "Person" AS t0 SET "spouse_id" = ?1 WHERE t0."id" = ?2

-- null: insert a row of City_lovers (person_id, city_id) unless it is there
INSERT INTO "City_lovers" AS t0 ("person_id", "city_id") VALUES (?1, ?2) ON CONFLICT DO NOTHING

-- null: update rows of Person (spouse_id) where id in values
UPDATE "Person" AS t0 SET "spouse_id" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))

-- null: update rows of Person (spouse_id) where spouse_id in values
UPDATE "Person" AS t0 SET "spouse_id" = ?1 WHERE t0."spouse_id" IN (SELECT value FROM json_each(?2))

-- null: delete rows of City_lovers where person_id in values
DELETE FROM "City_lovers" AS t0 WHERE t0."person_id" IN (SELECT value FROM json_each(?1))

-- null.person
SELECT t0."spouse_id", t0."id" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- null.person.spouse
SELECT t0."email" FROM "Person" AS t0 WHERE t0."id" = ?1

-- null.person.loves
SELECT t0."name" FROM "City_lovers" AS t1 JOIN "City" AS t0 ON t0."id" = t1."city_id" WHERE t1."person_id" = ?1 ORDER BY t1."city_id"
