-- postgres
-- late_flight, line_seats, line_count, measure
WITH l3 AS MATERIALIZED (SELECT t3."year" AS c0, t3."value" AS c1 FROM "public"."measure" AS t3 ORDER BY t3."year") SELECT 0::int2, t0."line", t0."number", t0."seats", NULL::int8, NULL::numeric FROM "public"."late_flight" AS t0 UNION ALL SELECT 1::int2, t1."line", NULL, NULL, t1."seats", NULL FROM "public"."line_seats" AS t1 UNION ALL SELECT 2::int2, t2."line", NULL, NULL, t2."flights", NULL FROM "public"."line_count" AS t2 UNION ALL SELECT 3::int2, NULL, NULL, l3.c0, NULL, l3.c1 FROM l3
