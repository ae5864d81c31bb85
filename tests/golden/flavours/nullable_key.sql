-- { Employee(order_by: {EmployeeId: asc}) { LastName Employee_Employee { LastName } Employee_Employees_aggregate { aggregate { count } } } }

-- postgresql, yugabytedb, citus
WITH l0 AS MATERIALIZED (SELECT t0."LastName" AS c0, t0."ReportsTo" AS c1, t0."EmployeeId" AS c2 FROM "public"."Employee" AS t0 ORDER BY t0."EmployeeId") SELECT 0::int2, l0.c0, l0.c1, l0.c2, NULL::int8 FROM l0 UNION ALL SELECT 1::int2, t1."LastName", t1."EmployeeId", NULL, NULL FROM "public"."Employee" AS t1 WHERE t1."EmployeeId" = ANY(ARRAY(SELECT DISTINCT l0.c1 FROM l0)) UNION ALL SELECT 2::int2, NULL, p.k0, NULL, count(t2."ReportsTo") FROM (SELECT l0.c2 AS k0 FROM l0) AS p LEFT JOIN "public"."Employee" AS t2 ON t2."ReportsTo" = p.k0 GROUP BY p.k0

-- cockroachdb
WITH l0 AS MATERIALIZED (SELECT t0."LastName" AS c0, t0."ReportsTo" AS c1, t0."EmployeeId" AS c2 FROM "public"."Employee" AS t0 ORDER BY t0."EmployeeId") SELECT 0::int2, l0.c0, l0.c1, l0.c2, NULL::int8 FROM l0 UNION ALL SELECT 1::int2, t1."LastName", t1."EmployeeId", NULL, NULL FROM (SELECT DISTINCT l0.c1 AS k0 FROM l0 WHERE l0.c1 IS NOT NULL) AS p JOIN "public"."Employee" AS t1 ON t1."EmployeeId" = p.k0 UNION ALL SELECT 2::int2, NULL, p.k0, NULL, count(t2."ReportsTo") FROM (SELECT l0.c2 AS k0 FROM l0) AS p LEFT JOIN "public"."Employee" AS t2 ON t2."ReportsTo" = p.k0 GROUP BY p.k0
