-- predicates
-- all
SELECT t0."name" FROM "station" AS t0 WHERE (SELECT min(weir_comparable_truth(t1."wet")) FROM "reading" AS t1 WHERE t1."station_id" = t0."id") = ?1

-- some
SELECT t0."name" FROM "station" AS t0 WHERE (SELECT max(weir_comparable_truth(t1."wet")) FROM "reading" AS t1 WHERE t1."station_id" = t0."id") = ?1

-- none
SELECT t0."name" FROM "station" AS t0 WHERE (SELECT max(weir_comparable_truth(t1."wet")) FROM "reading" AS t1 WHERE t1."station_id" = t0."id") = ?1

-- high
SELECT t0."name" FROM "station" AS t0 WHERE (SELECT max(weir_comparable_truth(t1."wet")) FROM "reading" AS t1 WHERE t1."station_id" = t0."id" AND t1."level" > ?1) IS NULL
