-- native_auth
-- queryVessel
SELECT t0."type", t0."id" FROM "public"."Vessel" AS t0 WHERE (t0."type" IN ('Ship') AND EXISTS (SELECT 1 FROM "public"."Ship" AS t1 WHERE t1."id" = t0."id" AND EXISTS (SELECT 1 FROM "public"."Vessel_all" AS t2 WHERE t2."id" = t1."id" AND ((left(t2."owner", 500) = left($1, 500) AND t2."owner" = $1) AND ((t2."type" IN ('Ship') AND EXISTS (SELECT 1 FROM "public"."Ship" AS t3 WHERE t3."id" = t2."id" AND t3."name" IS NOT NULL)) OR (t2."type" IN ('Raft') AND EXISTS (SELECT 1 FROM "public"."Raft" AS t4 WHERE t4."id" = t2."id" AND t4."name" IS NOT NULL))))))) ORDER BY t0."id"

-- queryVessel, queryVessel
SELECT 0::int2, t0."name", p.n, NULL::int4 FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Ship" AS t0 ON t0."id" = p.k0 AND EXISTS (SELECT 1 FROM "public"."Vessel_all" AS t1 WHERE t1."id" = t0."id" AND ((left(t1."owner", 500) = left($2, 500) AND t1."owner" = $2) AND ((t1."type" IN ('Ship') AND EXISTS (SELECT 1 FROM "public"."Ship" AS t2 WHERE t2."id" = t1."id" AND t2."name" IS NOT NULL)) OR (t1."type" IN ('Raft') AND EXISTS (SELECT 1 FROM "public"."Raft" AS t3 WHERE t3."id" = t1."id" AND t3."name" IS NOT NULL))))) UNION ALL SELECT 1::int2, t4."name", p.n, t4."logs" FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Raft" AS t4 ON t4."id" = p.k0 AND (1 = 0)

-- queryShip
SELECT t0."name" FROM "public"."Ship" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."Vessel_all" AS t1 WHERE t1."id" = t0."id" AND ((left(t1."owner", 500) = left($1, 500) AND t1."owner" = $1) AND ((t1."type" IN ('Ship') AND EXISTS (SELECT 1 FROM "public"."Ship" AS t2 WHERE t2."id" = t1."id" AND t2."name" IS NOT NULL)) OR (t1."type" IN ('Raft') AND EXISTS (SELECT 1 FROM "public"."Raft" AS t3 WHERE t3."id" = t1."id" AND t3."name" IS NOT NULL))))) ORDER BY t0."id"

-- queryRaft
SELECT t0."name" FROM "public"."Raft" AS t0 WHERE (1 = 0) ORDER BY t0."id"
