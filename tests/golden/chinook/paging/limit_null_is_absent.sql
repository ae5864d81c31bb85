-- chinook
-- MediaType
SELECT t0."Name" FROM "MediaType" AS t0 ORDER BY t0."MediaTypeId"
