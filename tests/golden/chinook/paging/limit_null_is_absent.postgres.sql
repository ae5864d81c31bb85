-- chinook
-- MediaType
SELECT t0."Name" FROM "public"."MediaType" AS t0 ORDER BY t0."MediaTypeId"
