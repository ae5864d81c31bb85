-- $1: the schemas that are served. Unique indexes count where they hold for all rows and at once.
SELECT k.contype::text AS kind, k.conrelid AS relation, k.conname::text AS name, k.conkey AS columns,
  k.confrelid AS target, k.confkey AS target_columns, k.convalidated AS holds,
  k.confdeltype::text AS on_delete, k.confupdtype::text AS on_update,
  -- The column is not there before PostgreSQL 18.
  coalesce((to_jsonb(k) ->> 'conperiod')::bool, false) AS of_period,
  k.condeferrable AS deferrable
FROM pg_catalog.pg_constraint k
JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = ANY ($1) AND NOT c.relispartition AND k.contype IN ('p', 'u', 'f')
UNION ALL
SELECT 'i', i.indrelid, x.relname::text,
  (string_to_array(i.indkey::text, ' ')::int2[])[1 : i.indnkeyatts], 0::oid, NULL, true, NULL, NULL,
  false, false
FROM pg_catalog.pg_index i
JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
JOIN pg_catalog.pg_class c ON c.oid = i.indrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_constraint k ON k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x')
WHERE n.nspname = ANY ($1) AND NOT c.relispartition AND k.oid IS NULL
  AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL
ORDER BY 1, 3
