-- $1: the schemas that are served. Unique indexes count where they hold at once.
SELECT k.contype::text AS kind, k.conrelid AS relation, k.conname::text AS name, k.conkey AS columns,
  k.confrelid AS target, k.confkey AS target_columns, k.convalidated AS holds,
  k.confdeltype::text AS on_delete, k.confupdtype::text AS on_update,
  -- The column is not there before PostgreSQL 18.
  coalesce((to_jsonb(k) ->> 'conperiod')::bool, false) AS of_period,
  k.condeferrable AS deferrable, '' AS target_text
FROM pg_catalog.pg_constraint k
JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = ANY ($1) AND NOT c.relispartition AND k.contype IN ('p', 'u', 'f')
UNION ALL
-- An index of some rows, over expressions or by another equality than its columns' is no key of the table (`j`), but one that an
-- upsert may name. The columns of such are all that it reads.
SELECT CASE WHEN x.is_key THEN 'i' ELSE 'j' END, x.indrelid, x.name,
  CASE WHEN x.is_key THEN (string_to_array(x.indkey::text, ' ')::int2[])[1 : x.indnkeyatts]
    ELSE ARRAY(SELECT DISTINCT d.refobjsubid::int2 FROM pg_catalog.pg_depend d
      WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = x.indexrelid
        AND d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid = x.indrelid AND d.refobjsubid > 0
      ORDER BY 1) END,
  0::oid, NULL, true, NULL, NULL, false, false,
  CASE WHEN x.is_key THEN '' ELSE (
    SELECT '(' || string_agg(pg_get_indexdef(x.indexrelid, p.at, false)
      || coalesce(' COLLATE ' || quote_ident(ln.nspname) || '.' || quote_ident(l.collname), '')
      || coalesce(' ' || quote_ident(xn.nspname) || '.' || quote_ident(o.opcname), ''), ', ' ORDER BY p.at) || ')'
    FROM generate_series(1, x.indnkeyatts) p(at)
    LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = x.indrelid AND a.attnum > 0
      AND a.attnum = (string_to_array(x.indkey::text, ' ')::int2[])[p.at]
    LEFT JOIN pg_catalog.pg_collation l ON l.oid = (string_to_array(x.indcollation::text, ' ')::oid[])[p.at]
      AND l.oid <> a.attcollation
    LEFT JOIN pg_catalog.pg_namespace ln ON ln.oid = l.collnamespace
    LEFT JOIN pg_catalog.pg_opclass o ON o.oid = (string_to_array(x.indclass::text, ' ')::oid[])[p.at] AND NOT o.opcdefault
    LEFT JOIN pg_catalog.pg_namespace xn ON xn.oid = o.opcnamespace
  ) || coalesce(' WHERE ' || pg_get_expr(x.indpred, x.indrelid), '') END
FROM (
  SELECT i.*, x.relname::text AS name,
    i.indpred IS NULL AND i.indexprs IS NULL
      AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = i.indexrelid AND a.attnum <= i.indnkeyatts
          AND a.attcollation <> (SELECT b.attcollation FROM pg_catalog.pg_attribute b
            WHERE b.attrelid = i.indrelid AND b.attnum = (string_to_array(i.indkey::text, ' ')::int2[])[a.attnum]))
      -- Those for patterns compare bytes, so that equal texts are equal.
      AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_opclass o
        WHERE o.oid = ANY (string_to_array(i.indclass::text, ' ')::oid[]) AND NOT o.opcdefault
          AND o.opcname::text NOT LIKE '%_pattern_ops') AS is_key
  FROM pg_catalog.pg_index i
  JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
  JOIN pg_catalog.pg_class c ON c.oid = i.indrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_catalog.pg_constraint k ON k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x')
  WHERE n.nspname = ANY ($1) AND NOT c.relispartition AND k.oid IS NULL
    AND i.indisunique AND i.indisvalid AND i.indimmediate
    -- By its columns an upsert would find a key of the same that is checked late too, and be refused.
    AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_index d
      WHERE d.indrelid = i.indrelid AND d.indisunique AND NOT d.indimmediate AND i.indexprs IS NULL
        AND ARRAY(SELECT unnest((string_to_array(d.indkey::text, ' ')::int2[])[1 : d.indnkeyatts]) ORDER BY 1)
          = ARRAY(SELECT unnest((string_to_array(i.indkey::text, ' ')::int2[])[1 : i.indnkeyatts]) ORDER BY 1))
) x
ORDER BY 1, 3
