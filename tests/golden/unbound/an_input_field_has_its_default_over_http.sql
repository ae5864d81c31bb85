-- unbound
-- author
INSERT INTO "author" AS t0 ("id", "name") VALUES (?1, ?2) ON CONFLICT ("id") DO NOTHING RETURNING "author"."id", "author"."name"

-- author
INSERT INTO "author" AS t0 ("id", "name") VALUES (?1, ?2) ON CONFLICT ("id") DO NOTHING RETURNING 1
