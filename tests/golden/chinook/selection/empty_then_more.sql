-- chinook
-- Album
SELECT t0."Title" FROM "Album" AS t0 LIMIT ?1
