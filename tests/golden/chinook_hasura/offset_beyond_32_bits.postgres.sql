-- chinook_hasura
-- Album_aggregate.aggregate
SELECT count(*) FROM (SELECT t0.* FROM "public"."Album" AS t0 OFFSET $1) AS t2

-- literal
SELECT t0."Name" FROM "public"."Genre" AS t0 OFFSET $1

-- text
SELECT t0."Name" FROM "public"."Genre" AS t0 LIMIT $1 OFFSET $2

-- largest
SELECT t0."Name" FROM "public"."Genre" AS t0 ORDER BY t0."Name" LIMIT $1 OFFSET $2

-- Artist
SELECT t0."Name", t0."ArtistId" FROM "public"."Artist" AS t0 ORDER BY t0."ArtistId" LIMIT $1

-- Artist.Artist_Albums
SELECT 0::int2, x.c0, p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) CROSS JOIN LATERAL (SELECT t0."Title" AS c0 FROM "public"."Album" AS t0 WHERE t0."ArtistId" = p.k0 OFFSET $2) AS x

-- Album_group_by
SELECT t0."ArtistId" FROM "public"."Album" AS t0 GROUP BY t0."ArtistId" OFFSET $1

-- page
SELECT t0."Name" FROM "public"."Genre" AS t0 ORDER BY t0."GenreId" LIMIT $1 OFFSET $2
