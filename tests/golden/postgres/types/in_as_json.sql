-- postgres
-- scalar
INSERT INTO "public"."scalar" AS t0 ("id", "small", "large", "digits", "scaled", "single", "double", "price", "yes", "document", "binary_document", "share", "home") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) RETURNING "small", "large", "digits", "scaled", "single", "double", "price", "yes", "document", "binary_document", "home", "share"
