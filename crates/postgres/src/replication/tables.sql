-- Tables with the columns of their primary keys, a row per column, and why a change of theirs would not be told.
SELECT c.oid::text, n.nspname::text, c.relname::text, a.attname::text,
  CASE
    WHEN c.relkind = 'f' OR c.relpersistence <> 'p' THEN 'its changes are not logged'
    WHEN NOT pg_has_role(c.relowner, 'USAGE') THEN 'the login does not own it'
    WHEN c.relforcerowsecurity THEN 'its rows are secured by policies'
    -- From PostgreSQL 18 on an UPDATE fails where a generated column, which is not published, is part of the replica identity.
    WHEN current_setting('server_version_num')::int >= 180000 AND EXISTS (
      SELECT FROM pg_catalog.pg_attribute g
      WHERE g.attrelid = c.oid AND g.attgenerated <> '' AND NOT g.attisdropped AND (c.relreplident = 'f' OR EXISTS (
        SELECT FROM pg_catalog.pg_index r WHERE r.indrelid = c.oid AND g.attnum = ANY (r.indkey::int2[])
          AND CASE c.relreplident WHEN 'i' THEN r.indisreplident ELSE r.indisprimary END
      ))
    ) THEN 'a generated column is part of its replica identity'
    -- A partition that is made later is published at once, with the primary key of its parent or none.
    WHEN c.relkind = 'p' AND i.indimmediate THEN ''
    WHEN c.relkind = 'p' THEN 'it is partitioned and has no primary key for new partitions'
    WHEN c.relreplident = 'f' THEN ''
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
WHERE c.relkind IN ('r', 'p', 'f') AND n.nspname <> 'information_schema' AND (n.nspname !~ '^pg_' OR c.relpersistence = 't')
ORDER BY c.oid, k.place
