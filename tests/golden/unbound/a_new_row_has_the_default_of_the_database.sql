-- unbound
-- author
INSERT INTO "author" AS t0 ("id") VALUES (?1) RETURNING "author"."id", "author"."name", "author"."bio"
