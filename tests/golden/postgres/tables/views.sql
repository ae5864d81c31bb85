-- postgres
-- late_flight
SELECT t0."line", t0."number", t0."seats" FROM "public"."late_flight" AS t0

-- line_seats
SELECT t0."line", t0."seats" FROM "public"."line_seats" AS t0

-- line_count
SELECT t0."line", t0."flights" FROM "public"."line_count" AS t0

-- measure
SELECT t0."year", t0."value" FROM "public"."measure" AS t0 ORDER BY t0."year"
