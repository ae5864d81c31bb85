-- native_rules
-- addLog
SELECT t0."id" FROM "public"."Log" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."Sailor" AS t1 WHERE t1."id" = t0."by_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL)) AND t0."id" = ANY($2)

-- addLog
SELECT t0."id" FROM "public"."Sailor" AS t0 WHERE (t0."login" = $1 AND t0."login" IS NOT NULL) AND t0."id" = ANY($2)

-- addLog
SELECT t0."id" FROM "public"."Boat" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."Fleet" AS t1 WHERE t1."id" = t0."fleet_id" AND EXISTS (SELECT 1 FROM "public"."Sailor" AS t2 JOIN "public"."Fleet_members" AS t3 ON t3."fleet_id" = t1."id" WHERE t2."id" = t3."sailor_id" AND (t2."login" = $1 AND t2."login" IS NOT NULL))) AND t0."id" = ANY($2)

-- addLog
SELECT t0."line" FROM "public"."Log" AS t0 WHERE (1 = 0) AND t0."id" = ANY($1) ORDER BY t0."id"

-- addLog: find id of Log where line = value
SELECT t0."id" FROM "public"."Log" AS t0 WHERE t0."line" = $1

-- addLog: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- addLog: insert a row of Log (id, line, sealed, by_id, boat_id)
INSERT INTO "public"."Log" AS t0 ("id", "line", "sealed", "by_id", "boat_id") VALUES ($1, $2, $3, $4, $5)
