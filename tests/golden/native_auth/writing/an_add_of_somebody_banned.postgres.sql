-- native_auth
-- addLog
SELECT t0."id" FROM "public"."Boat" AS t0 WHERE t0."open" = $1 AND t0."id" = ANY($2)

-- addLog: find id of Log where line = value
SELECT t0."id" FROM "public"."Log" AS t0 WHERE t0."line" = $1

-- addLog: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- addLog: insert a row of Log (id, line, boat_id)
INSERT INTO "public"."Log" AS t0 ("id", "line", "boat_id") VALUES ($1, $2, $3)

-- b: find id of Crew where login = value
SELECT t0."id" FROM "public"."Crew" AS t0 WHERE t0."login" = $1

-- b: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- b: insert a row of Crew (id, login)
INSERT INTO "public"."Crew" AS t0 ("id", "login") VALUES ($1, $2)
