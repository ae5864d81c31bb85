-- { Album(distinct_on: ArtistId, order_by: [{ArtistId: asc}, {Title: desc}], limit: 3) { Title } }

-- postgresql, cockroachdb, yugabytedb, citus
SELECT DISTINCT ON (t0."ArtistId") t0."Title" FROM "public"."Album" AS t0 ORDER BY t0."ArtistId", t0."Title" DESC LIMIT $1
-- $1 int8 = 3
