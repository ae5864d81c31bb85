-- postgres
-- flight
INSERT INTO "public"."flight" AS t0 ("line", "number", "seats") VALUES ($1, $2, $3) RETURNING "line", "number"

-- booking
INSERT INTO "public"."booking" AS t0 ("line", "number", "seat", "passenger") VALUES ($1, $2, $3, $4) RETURNING "label", "line", "number"

-- insert_booking
SELECT 0::int2, t0."line", t0."number", t0."seats", p.n FROM unnest($1, $2) WITH ORDINALITY AS p(k0, k1, n) JOIN "public"."flight" AS t0 ON t0."line" = p.k0 AND t0."number" = p.k1
