-- chinook
-- Employee_by_pk, Employee_by_pk.Employee_Employee
WITH l0 AS MATERIALIZED (SELECT t0."LastName" AS c0, t0."ReportsTo" AS c1 FROM "public"."Employee" AS t0 WHERE t0."EmployeeId" = $1) SELECT 0::int2, l0.c0, l0.c1 FROM l0 UNION ALL SELECT 1::int2, t1."LastName", t1."EmployeeId" FROM "public"."Employee" AS t1 WHERE t1."EmployeeId" = ANY(ARRAY(SELECT DISTINCT l0.c1 FROM l0))
