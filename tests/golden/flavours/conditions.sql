-- { Track(where: {_or: [{Name: {_ilike: "%a%", _nregex: "^[0-9]"}}, {TrackId: {_in: [1, 2]}}, {Composer: {_similar: "A%", _nin: ["AC/DC"]}}],
--   Track_Album: {Album_Artist: {Name: {_is_null: false}}}, Track_InvoiceLines_aggregate: {count: {predicate: {_gt: 1}}}},
--   order_by: [{Track_Album: {Title: desc_nulls_last}}, {Track_InvoiceLines_aggregate: {count: asc}}, {TrackId: asc}], limit: 5, offset: 2) { TrackId } }

-- postgresql, yugabytedb
SELECT t0."TrackId" FROM "public"."Track" AS t0 WHERE (((t0."Name" ILIKE $1 AND t0."Name" !~ $2) OR t0."TrackId" = ANY($3) OR (t0."Composer" <> ALL($4) AND t0."Composer" SIMILAR TO $5)) AND EXISTS (SELECT 1 FROM "public"."Album" AS t1 WHERE t1."AlbumId" = t0."AlbumId" AND EXISTS (SELECT 1 FROM "public"."Artist" AS t2 WHERE t2."ArtistId" = t1."ArtistId" AND t2."Name" IS NOT NULL)) AND (SELECT count(*) FROM "public"."InvoiceLine" AS t3 WHERE t3."TrackId" = t0."TrackId") > $6) ORDER BY (SELECT t4."Title" FROM "public"."Album" AS t4 WHERE t4."AlbumId" = t0."AlbumId" LIMIT 1) DESC NULLS LAST, (SELECT count(*) FROM "public"."InvoiceLine" AS t5 WHERE t5."TrackId" = t0."TrackId"), t0."TrackId" LIMIT $7 OFFSET $8 + 0 * num_nulls('' ~ $2, '' SIMILAR TO $5)
-- $1 text = %a%
-- $2 text = ^[0-9]
-- $3 int4[] = {"1","2"}
-- $4 varchar[] = {"AC/DC"}
-- $5 text = A%
-- $6 int8 = 1
-- $7 int8 = 5
-- $8 int8 = 2

-- cockroachdb
SELECT t0."TrackId" FROM "public"."Track" AS t0 WHERE (((t0."Name" ILIKE $1 AND t0."Name" !~ $2) OR t0."TrackId" = ANY($3) OR (t0."Composer" <> ALL($4) AND t0."Composer" SIMILAR TO $5)) AND EXISTS (SELECT 1 FROM "public"."Album" AS t1 WHERE t1."AlbumId" = t0."AlbumId" AND EXISTS (SELECT 1 FROM "public"."Artist" AS t2 WHERE t2."ArtistId" = t1."ArtistId" AND t2."Name" IS NOT NULL)) AND (SELECT count(*) FROM "public"."InvoiceLine" AS t3 WHERE t3."TrackId" = t0."TrackId") > $6) ORDER BY (SELECT t4."Title" FROM "public"."Album" AS t4 WHERE t4."AlbumId" = t0."AlbumId" LIMIT 1) DESC, (SELECT count(*) FROM "public"."InvoiceLine" AS t5 WHERE t5."TrackId" = t0."TrackId"), t0."TrackId" LIMIT $7 OFFSET $8
-- $1 text = %a%
-- $2 text = ^[0-9]
-- $3 int4[] = {"1","2"}
-- $4 varchar[] = {"AC/DC"}
-- $5 text = A%
-- $6 int8 = 1
-- $7 int8 = 5
-- $8 int8 = 2

-- citus
SELECT t0."TrackId" FROM "public"."Track" AS t0 WHERE (((t0."Name" ILIKE $1 AND t0."Name" !~ $2) OR t0."TrackId" = ANY($3) OR (t0."Composer" <> ALL($4) AND t0."Composer" SIMILAR TO $5)) AND EXISTS (SELECT 1 FROM "public"."Album" AS t1 WHERE t1."AlbumId" = t0."AlbumId" AND EXISTS (SELECT 1 FROM "public"."Artist" AS t2 WHERE t2."ArtistId" = t1."ArtistId" AND t2."Name" IS NOT NULL)) AND (SELECT count(*) FROM "public"."InvoiceLine" AS t3 WHERE t3."TrackId" = t0."TrackId") > $6) ORDER BY (SELECT t4."Title" FROM "public"."Album" AS t4 WHERE t4."AlbumId" = t0."AlbumId" LIMIT 1) DESC NULLS LAST, (SELECT count(*) FROM "public"."InvoiceLine" AS t5 WHERE t5."TrackId" = t0."TrackId"), t0."TrackId" LIMIT $7 OFFSET $8
-- $1 text = %a%
-- $2 text = ^[0-9]
-- $3 int4[] = {"1","2"}
-- $4 varchar[] = {"AC/DC"}
-- $5 text = A%
-- $6 int8 = 1
-- $7 int8 = 5
-- $8 int8 = 2
