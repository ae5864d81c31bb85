-- postgres
-- flight
INSERT INTO "public"."flight" AS t0 ("line", "number", "seats") VALUES ($1, $2, $3) RETURNING "line", "starts", "number"

-- booking
INSERT INTO "public"."booking" AS t0 ("line", "number", "seat", "passenger") VALUES ($1, $2, $3, $4) RETURNING 1

-- insert_flight_one
SELECT 0::int2, t0."seat", t0."label", t0."line", t0."number", p.n FROM unnest($1, $2) WITH ORDINALITY AS p(k0, k1, n) JOIN "public"."booking" AS t0 ON t0."line" = p.k0 AND t0."number" = p.k1 ORDER BY t0."seat"
