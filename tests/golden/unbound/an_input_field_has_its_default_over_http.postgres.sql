-- unbound
-- author
INSERT INTO "public"."author" AS t0 ("id", "name") VALUES ($1, $2) ON CONFLICT ON CONSTRAINT "author_pkey" DO NOTHING RETURNING "id", "name"

-- author
INSERT INTO "public"."author" AS t0 ("id", "name") VALUES ($1, $2) ON CONFLICT ON CONSTRAINT "author_pkey" DO NOTHING RETURNING 1
