-- postgres
-- shop_order
SELECT t0."id", t0."select", t0."car_id" FROM "shop"."order" AS t0

-- shop_order.car
SELECT 0::int2, t0."color", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."car" AS t0 ON t0."id" = p.k0

-- car
SELECT t0."id" FROM "public"."car" AS t0 ORDER BY t0."id"

-- car.shop_orders
SELECT 0::int2, t0."id", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "shop"."order" AS t0 ON t0."car_id" = p.k0
