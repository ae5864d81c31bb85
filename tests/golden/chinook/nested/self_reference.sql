-- chinook
-- Employee
SELECT t0."LastName", t0."ReportsTo", t0."EmployeeId" FROM "Employee" AS t0 ORDER BY t0."EmployeeId" LIMIT ?1

-- Employee.Employee_Employee
SELECT t0."LastName" FROM "Employee" AS t0 WHERE t0."EmployeeId" = ?1

-- Employee.Employee_Employees
SELECT t0."LastName" FROM "Employee" AS t0 WHERE t0."ReportsTo" = ?1 ORDER BY t0."EmployeeId"
