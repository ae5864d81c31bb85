-- mutation { insert_PlaylistTrack(objects: [{PlaylistId: 1, TrackId: 3402}, {PlaylistId: 2, TrackId: 1}], on_conflict: {constraint: PlaylistTrack_pkey, update_columns: []}) { affected_rows } }

-- postgresql, yugabytedb, citus
INSERT INTO "public"."PlaylistTrack" AS t0 ("PlaylistId", "TrackId") VALUES ($1, $2) ON CONFLICT ON CONSTRAINT "PlaylistTrack_pkey" DO NOTHING RETURNING 1
-- $1 int4
-- $2 int4

-- cockroachdb
INSERT INTO "public"."PlaylistTrack" AS t0 ("PlaylistId", "TrackId") VALUES ($1, $2) ON CONFLICT ("PlaylistId", "TrackId") DO NOTHING RETURNING 1
-- $1 int4
-- $2 int4
