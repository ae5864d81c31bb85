-- mutation { insert_Album(objects: [{Title: "a", ArtistId: 1}, {Title: "b", Album_Artist: {data: {Name: "c"}}}], on_conflict: {constraint: Album_pkey, update_columns: [Title], where: {AlbumId: {_gt: 3}}}) { affected_rows returning { AlbumId } } }

-- postgresql, yugabytedb, citus
INSERT INTO "public"."Album" AS t0 ("Title", "ArtistId") VALUES ($1, $2) ON CONFLICT ON CONSTRAINT "Album_pkey" DO UPDATE SET "Title" = excluded."Title" WHERE t0."AlbumId" > $3 RETURNING "AlbumId"
-- $1 varchar
-- $2 int4
-- $3 int4 = 3
INSERT INTO "public"."Artist" AS t0 ("Name") VALUES ($1) RETURNING "ArtistId"
-- $1 varchar

-- cockroachdb
INSERT INTO "public"."Album" AS t0 ("Title", "ArtistId") VALUES ($1, $2) ON CONFLICT ("AlbumId") DO UPDATE SET "Title" = excluded."Title" WHERE t0."AlbumId" > $3 RETURNING "AlbumId"
-- $1 varchar
-- $2 int4
-- $3 int4 = 3
INSERT INTO "public"."Artist" AS t0 ("Name") VALUES ($1) RETURNING "ArtistId"
-- $1 varchar
