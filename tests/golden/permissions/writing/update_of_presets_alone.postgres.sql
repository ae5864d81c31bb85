-- permissions
-- boat
UPDATE "public"."boat" AS t0 SET "sold_at" = $1 WHERE t0."price" < $2 AND t0."id" = $3 RETURNING 1
