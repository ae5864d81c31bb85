-- native_reads
-- queryCity
SELECT t0."name" FROM "City" AS t0 WHERE (t0."id" IN (SELECT id FROM "City_at_boxes" WHERE west <= weir_east(?1) AND east >= weir_west(?1) AND south <= weir_north(?1) AND north >= weir_south(?1)) AND weir_within(?1, t0."at_longitude", t0."at_latitude")) ORDER BY t0."id"
