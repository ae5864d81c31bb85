-- chinook
-- Employee_by_pk
SELECT t0."LastName", t0."ReportsTo" FROM "Employee" AS t0 WHERE t0."EmployeeId" = ?1

-- Employee_by_pk.Employee_Employee
SELECT t0."LastName" FROM "Employee" AS t0 WHERE t0."EmployeeId" = ?1
