-- functions
-- newest_album, none
SELECT 0::int2, t0."title" FROM (SELECT f.* FROM "public"."newest_album"() AS f WHERE NOT (f IS NULL)) AS t0 UNION ALL SELECT 1::int2, t1."title" FROM (SELECT f.* FROM "public"."newest_album"("before" => $1) AS f WHERE NOT (f IS NULL)) AS t1
