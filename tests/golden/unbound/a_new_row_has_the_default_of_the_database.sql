-- unbound
-- author
INSERT INTO "author" AS t0 ("id") VALUES (?1) RETURNING "id", "name", "bio"
