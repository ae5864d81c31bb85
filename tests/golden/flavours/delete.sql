-- mutation { delete_Playlist(where: {Name: {_like: "x%"}}) { affected_rows } delete_Album_by_pk(AlbumId: 1000) { Title } }

-- postgresql, cockroachdb, yugabytedb, citus
DELETE FROM "public"."Playlist" AS t0 WHERE t0."Name" LIKE $1 RETURNING 1
-- $1 text = x%
DELETE FROM "public"."Album" AS t0 WHERE t0."AlbumId" = $1 RETURNING "Title"
-- $1 int4 = 1000
