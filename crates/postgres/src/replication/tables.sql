-- Tables with the columns of their primary keys, a row per column, and why a change of theirs would not be told.
SELECT c.oid::text, n.nspname::text, c.relname::text, a.attname::text,
  CASE
    WHEN c.relkind = 'f' OR c.relpersistence <> 'p' THEN 'its changes are not logged'
    WHEN NOT pg_has_role(c.relowner, 'USAGE') THEN 'the login does not own it'
    WHEN c.relforcerowsecurity THEN 'its rows are secured by policies'
    WHEN c.relkind = 'p' OR c.relreplident = 'f' THEN ''
    WHEN c.relreplident = 'd' AND i.indimmediate THEN ''
    WHEN c.relreplident = 'i' AND EXISTS (
      SELECT FROM pg_catalog.pg_index r WHERE r.indrelid = c.oid AND r.indisreplident AND r.indisvalid
    ) THEN ''
    ELSE 'it has neither a primary key nor a replica identity'
  END
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_index i ON i.indrelid = c.oid AND i.indisprimary AND i.indisvalid
LEFT JOIN LATERAL unnest(i.indkey) WITH ORDINALITY k (number, place) ON k.place <= i.indnkeyatts
LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number
WHERE c.relkind IN ('r', 'p', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
ORDER BY c.oid, k.place
