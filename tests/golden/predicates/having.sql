-- predicates
-- reading_group_by
SELECT t0."station_id" FROM "reading" AS t0 GROUP BY t0."station_id" HAVING (max(t0."level") > CAST(?1 AS NUMERIC) AND max(t0."level") < CAST(?2 AS NUMERIC) AND weir_of_numbers(sum(t0."flow"), max(t0."flow")) > CAST(?3 AS NUMERIC)) ORDER BY t0."station_id"
