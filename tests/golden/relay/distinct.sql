-- relay
-- boat_connection.edges
SELECT t1."owner", t1."name" FROM (SELECT t0.*, t0."owner" AS weir_order_0, t0."id" AS weir_order_1, row_number() OVER (PARTITION BY t0."owner" ORDER BY t0."owner" NULLS LAST, t0."id") AS weir_place FROM "boat" AS t0) AS t1 WHERE t1.weir_place = 1 ORDER BY t1.weir_order_0 NULLS LAST, t1.weir_order_1
