-- chinook
-- Album
SELECT t1."ArtistId", t1."Title" FROM (SELECT t0.*, t0."ArtistId" AS weir_order_0, t0."Title" AS weir_order_1, row_number() OVER (PARTITION BY t0."ArtistId" ORDER BY t0."ArtistId", t0."Title" DESC) AS weir_place FROM "Album" AS t0) AS t1 WHERE t1.weir_place = 1 ORDER BY t1.weir_order_0, t1.weir_order_1 DESC LIMIT ?1
