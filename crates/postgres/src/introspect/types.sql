-- $1: the schemas that are served. Functions are read from these alone, types from everywhere.
-- Arrays and the types of tables' rows are left out: the ones follow from their elements, the others are no columns.
SELECT 't' AS what, t.oid, n.nspname::text, t.typname::text, t.typtype::text AS letter,
  t.typarray AS other,
  CASE t.typtype WHEN 'd' THEN t.typbasetype WHEN 'r' THEN r.rngsubtype ELSE m.rngtypid END AS of,
  coalesce(l.names, f.names) AS names, f.types, NULL::text AS modes, 0 AS defaults, NULL::text AS comment
FROM pg_catalog.pg_type t
JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
LEFT JOIN pg_catalog.pg_class c ON c.oid = t.typrelid
LEFT JOIN pg_catalog.pg_type e ON e.typarray = t.oid
LEFT JOIN pg_catalog.pg_range r ON r.rngtypid = t.oid
LEFT JOIN (
  -- The column is not there before PostgreSQL 14.
  SELECT rngtypid, (to_jsonb(r) ->> 'rngmultitypid')::oid AS oid FROM pg_catalog.pg_range r
) m ON m.oid = t.oid
LEFT JOIN (
  SELECT enumtypid, array_agg(enumlabel::text ORDER BY enumsortorder) AS names
  FROM pg_catalog.pg_enum GROUP BY enumtypid
) l ON l.enumtypid = t.oid
LEFT JOIN (
  SELECT a.attrelid, array_agg(a.attname::text ORDER BY a.attnum) AS names,
    array_agg(a.atttypid ORDER BY a.attnum) AS types
  FROM pg_catalog.pg_attribute a
  JOIN pg_catalog.pg_class c ON c.oid = a.attrelid AND c.relkind = 'c'
  WHERE a.attnum > 0 AND NOT a.attisdropped GROUP BY a.attrelid
) f ON f.attrelid = t.typrelid
WHERE t.typisdefined AND e.oid IS NULL AND (t.typrelid = 0 OR c.relkind = 'c')
  AND (n.nspname <> 'pg_catalog' OR t.oid >= 16384)
