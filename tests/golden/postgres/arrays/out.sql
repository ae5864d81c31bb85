-- postgres
-- list
SELECT t0."id", t0."numbers", t0."words", t0."grid", t0."moods", t0."documents", t0."homes", t0."days", t0."prices" FROM "public"."list" AS t0 ORDER BY t0."id"
