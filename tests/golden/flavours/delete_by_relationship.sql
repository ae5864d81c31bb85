-- mutation { delete_PlaylistTrack(where: {PlaylistTrack_Playlist: {Name: {_eq: "Grunge"}}, PlaylistTrack_Track: {Milliseconds: {_gt: 250000}}}) { affected_rows returning { TrackId } } }

-- postgresql, cockroachdb, yugabytedb, citus
DELETE FROM "public"."PlaylistTrack" AS t0 WHERE (EXISTS (SELECT 1 FROM "public"."Track" AS t1 WHERE t1."TrackId" = t0."TrackId" AND t1."Milliseconds" > $1) AND EXISTS (SELECT 1 FROM "public"."Playlist" AS t2 WHERE t2."PlaylistId" = t0."PlaylistId" AND t2."Name" = $2)) RETURNING "TrackId"
-- $1 int4 = 250000
-- $2 varchar = Grunge
