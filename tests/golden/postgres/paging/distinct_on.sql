-- postgres
-- booking
SELECT DISTINCT ON (t0."line", t0."number") t0."line", t0."number", t0."seat", t0."passenger" FROM "public"."booking" AS t0 ORDER BY t0."line", t0."number", t0."seat" DESC
