-- mutation { update_Track_many(updates: [{where: {AlbumId: {_eq: 1}, Track_Genre: {Name: {_eq: "Rock"}}}, _inc: {Milliseconds: 1}}, {where: {TrackId: {_in: [2, 3]}}, _set: {Composer: null}}]) { affected_rows } }

-- postgresql, cockroachdb, yugabytedb, citus
UPDATE "public"."Track" AS t0 SET "Milliseconds" = t0."Milliseconds" + $1 WHERE (t0."AlbumId" = $2 AND EXISTS (SELECT 1 FROM "public"."Genre" AS t1 WHERE t1."GenreId" = t0."GenreId" AND t1."Name" = $3)) RETURNING 1
-- $1 int4 = 1
-- $2 int4 = 1
-- $3 varchar = Rock
UPDATE "public"."Track" AS t0 SET "Composer" = NULL WHERE t0."TrackId" = ANY($1) RETURNING 1
-- $1 int4[] = {"2","3"}
