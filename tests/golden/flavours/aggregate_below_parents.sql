-- { Artist(limit: 3) { Artist_Albums_aggregate { aggregate { count max { Title } } } } }

-- postgresql, cockroachdb, yugabytedb, citus
WITH l0 AS MATERIALIZED (SELECT t0."ArtistId" AS c0 FROM "public"."Artist" AS t0 LIMIT $1) SELECT 0::int2, l0.c0, NULL::int8, NULL::varchar FROM l0 UNION ALL SELECT 1::int2, p.k0, count(t1."ArtistId"), max(t1."Title") FROM (SELECT l0.c0 AS k0 FROM l0) AS p LEFT JOIN "public"."Album" AS t1 ON t1."ArtistId" = p.k0 GROUP BY p.k0
-- $1 int8 = 3
