-- chinook
-- Album
SELECT t0."Title" FROM "public"."Album" AS t0 LIMIT $1
