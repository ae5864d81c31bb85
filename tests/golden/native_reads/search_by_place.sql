-- native_reads
-- near
SELECT t0."name" FROM "City" AS t0 WHERE (t0."id" IN (SELECT id FROM "City_at_boxes" WHERE west <= weir_east(?1, ?2) AND east >= weir_west(?1, ?2) AND south <= weir_north(?1, ?2) AND north >= weir_south(?1, ?2)) AND weir_near(?1, ?2, t0."at_longitude", t0."at_latitude")) ORDER BY t0."id"

-- lies
SELECT t0."name" FROM "City" AS t0 WHERE (t0."id" IN (SELECT id FROM "City_at_boxes" WHERE west <= weir_east(?1) AND east >= weir_west(?1) AND south <= weir_north(?1) AND north >= weir_south(?1)) AND weir_within(?1, t0."at_longitude", t0."at_latitude")) ORDER BY t0."id"

-- covers
SELECT t0."name" FROM "City" AS t0 WHERE (t0."id" IN (SELECT id FROM "City_region_boxes" WHERE west <= weir_east(?1) AND east >= weir_west(?1) AND south <= weir_north(?1) AND north >= weir_south(?1)) AND weir_contains(?1, t0."region")) ORDER BY t0."id"

-- hole
SELECT t0."name" FROM "City" AS t0 WHERE (t0."id" IN (SELECT id FROM "City_region_boxes" WHERE west <= weir_east(?1) AND east >= weir_west(?1) AND south <= weir_north(?1) AND north >= weir_south(?1)) AND weir_contains(?1, t0."region")) ORDER BY t0."id"

-- around
SELECT t0."name" FROM "City" AS t0 WHERE (t0."id" IN (SELECT id FROM "City_region_boxes" WHERE west <= weir_east(?1) AND east >= weir_west(?1) AND south <= weir_north(?1) AND north >= weir_south(?1)) AND weir_contains(?1, t0."region")) ORDER BY t0."id"

-- meets
SELECT t0."name" FROM "City" AS t0 WHERE (t0."id" IN (SELECT id FROM "City_parts_boxes" WHERE west <= weir_east(?1) AND east >= weir_west(?1) AND south <= weir_north(?1) AND north >= weir_south(?1)) AND weir_intersects(?1, t0."parts")) ORDER BY t0."id"
