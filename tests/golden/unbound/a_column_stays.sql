-- unbound
-- author
UPDATE "author" AS t0 SET "bio" = ?1 WHERE t0."id" = ?2 RETURNING "author"."id", "author"."name", "author"."bio"
