-- native_auth
-- addLog
SELECT t0."id" FROM "public"."Boat" AS t0 WHERE t0."open" = $1 AND t0."id" = ANY($2)

-- addLog
SELECT t0."line" FROM "public"."Log" AS t0 WHERE (1 = 0) AND t0."id" = ANY($1) ORDER BY t0."id"

-- addLog: find id of Log where line = value
SELECT t0."id" FROM "public"."Log" AS t0 WHERE t0."line" = $1

-- addLog: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- addLog: insert a row of Log (id, line, boat_id)
INSERT INTO "public"."Log" AS t0 ("id", "line", "boat_id") VALUES ($1, $2, $3)
