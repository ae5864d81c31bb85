-- functions
-- newest_album, none
SELECT 0::int2, t0."title" FROM "public"."newest_album"() AS t0 WHERE NOT (t0.* IS NULL) UNION ALL SELECT 1::int2, t1."title" FROM "public"."newest_album"("before" => $1) AS t1 WHERE NOT (t1.* IS NULL)
