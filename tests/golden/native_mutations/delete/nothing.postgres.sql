-- native_mutations
-- deleteCity
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- deleteCity
SELECT t0."name" FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- deleteCity: delete rows of City_lovers where city_id in values
DELETE FROM "public"."City_lovers" AS t0 WHERE t0."city_id" = ANY($1)

-- deleteCity: delete rows of Person_likes where thing_id in values
DELETE FROM "public"."Person_likes" AS t0 WHERE t0."thing_id" = ANY($1)

-- deleteCity: delete rows of City_tags where id in values
DELETE FROM "public"."City_tags" AS t0 WHERE t0."id" = ANY($1)

-- deleteCity: delete rows of City where id in values
DELETE FROM "public"."City" AS t0 WHERE t0."id" = ANY($1)

-- deleteCity: delete rows of Thing where id in values
DELETE FROM "public"."Thing" AS t0 WHERE t0."id" = ANY($1)
