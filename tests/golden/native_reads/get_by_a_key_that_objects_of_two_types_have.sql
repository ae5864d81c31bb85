-- native_reads
-- shared
SELECT t0."type", t0."id" FROM "Work_all" AS t0 WHERE t0."code" = ?1

-- shared
SELECT t0."title" FROM "Film" AS t0 WHERE t0."id" = ?1

-- shared
SELECT t0."title" FROM "Book" AS t0 WHERE t0."id" = ?1

-- kinds
SELECT t0."type", t0."id" FROM "Work_all" AS t0 WHERE t0."code" = ?1

-- own
SELECT t0."type", t0."id" FROM "Work_all" AS t0 WHERE t0."code" = ?1

-- own
SELECT t0."title" FROM "Film" AS t0 WHERE t0."id" = ?1

-- own
SELECT t0."title", t0."pages" FROM "Book" AS t0 WHERE t0."id" = ?1

-- both
SELECT t0."type", t0."id" FROM "Work_all" AS t0 WHERE (t0."id" = ?1 AND t0."code" = ?2)

-- both
SELECT t0."title" FROM "Film" AS t0 WHERE t0."id" = ?1

-- both
SELECT t0."title" FROM "Book" AS t0 WHERE t0."id" = ?1

-- none
SELECT t0."type", t0."id" FROM "Work_all" AS t0 WHERE t0."code" = ?1

-- none
SELECT t0."title" FROM "Film" AS t0 WHERE t0."id" = ?1

-- none
SELECT t0."title" FROM "Book" AS t0 WHERE t0."id" = ?1

-- film
SELECT t0."minutes" FROM "Film" AS t0 WHERE t0."code" = ?1
