-- shop
-- contains
SELECT t0."name" FROM "thing" AS t0 WHERE weir_json_contains(t0."doc", ?1)

-- whole
SELECT t0."name" FROM "thing" AS t0 WHERE weir_json(t0."doc") = weir_json(?1)

-- listed
SELECT t0."name" FROM "thing" AS t0 WHERE weir_json(t0."doc") IN (SELECT weir_json(value) FROM json_each(?1))

-- contained
SELECT t0."name" FROM "thing" AS t0 WHERE weir_json_contains(?1, t0."doc")

-- object
SELECT t0."name" FROM "thing" AS t0 WHERE weir_json_contains(t0."doc", ?1)

-- nested
SELECT t0."name" FROM "thing" AS t0 WHERE (weir_json_contains(t0."doc", ?1) AND iif(t0."doc" IS NULL, NULL, NOT EXISTS (SELECT 1 FROM json_each(?2) AS k WHERE k.value NOT IN (SELECT CASE json_type(t0."doc") WHEN 'object' THEN j.key WHEN 'array' THEN iif(j.type = 'text', j.value, NULL) END FROM json_each(t0."doc") AS j WHERE CASE json_type(t0."doc") WHEN 'object' THEN j.key WHEN 'array' THEN iif(j.type = 'text', j.value, NULL) END IS NOT NULL))))

-- none
SELECT t0."name" FROM "thing" AS t0 WHERE weir_json_contains(t0."doc", ?1)

-- spread
SELECT t0."name" FROM "thing" AS t0 WHERE weir_json_contains(t0."doc", ?1)
