-- mutation { update_Track(where: {TrackId: {_eq: 1}}, _set: {Name: "a", Composer: null}, _inc: {Milliseconds: 5}) { affected_rows returning { Name } } }

-- postgresql, cockroachdb, yugabytedb, citus
UPDATE "public"."Track" AS t0 SET "Milliseconds" = t0."Milliseconds" + $1, "Name" = $2, "Composer" = NULL WHERE t0."TrackId" = $3 RETURNING "Name"
-- $1 int4 = 5
-- $2 varchar = a
-- $3 int4 = 1
