-- $1: the schemas that are served. The roles that this login may set, and what they may do with each table, by column.
SELECT r.rolname::text, n.nspname::text, c.relname::text,
  coalesce(array_agg(a.attname::text ORDER BY a.attnum) FILTER (WHERE has_column_privilege(r.oid, c.oid, a.attnum, 'SELECT')), '{}'),
  coalesce(array_agg(a.attname::text ORDER BY a.attnum) FILTER (WHERE has_column_privilege(r.oid, c.oid, a.attnum, 'INSERT')), '{}'),
  coalesce(array_agg(a.attname::text ORDER BY a.attnum) FILTER (WHERE has_column_privilege(r.oid, c.oid, a.attnum, 'UPDATE')), '{}'),
  has_table_privilege(r.oid, c.oid, 'DELETE')
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
CROSS JOIN pg_catalog.pg_roles r
WHERE n.nspname = ANY ($1) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
  AND NOT r.rolsuper AND r.rolname <> current_user AND r.rolname NOT LIKE 'pg\_%'
  AND pg_has_role(current_user, r.oid, CASE WHEN current_setting('server_version_num')::int4 >= 160000 THEN 'SET' ELSE 'MEMBER' END)
  AND has_schema_privilege(r.oid, n.oid, 'USAGE')
  AND (has_any_column_privilege(r.oid, c.oid, 'SELECT, INSERT, UPDATE') OR has_table_privilege(r.oid, c.oid, 'DELETE'))
GROUP BY r.oid, r.rolname, n.nspname, c.oid, c.relname
ORDER BY r.rolname, n.nspname, c.relname
LIMIT 100000
