-- True if the tables `{told}` are in the publication `{publication}`, their rows are in the relations `{holders}` as before, with so many `{edges}`
-- between them, and an UPDATE of these does not fail for the lack of a replica identity. The second column differs when a statement may have
-- changed values without changing a row: the type of a column, the expression of a generated one, the name of an enum's value.
WITH told AS (SELECT unnest('{told}'::oid[]) AS oid), holder AS (SELECT unnest('{holders}'::oid[]) AS oid)
SELECT (
  (SELECT count(*) FROM told) = (
    SELECT count(*) FROM pg_catalog.pg_publication p
    JOIN pg_catalog.pg_publication_rel r ON r.prpubid = p.oid
    JOIN told ON told.oid = r.prrelid
    WHERE p.pubname = '{publication}')
  AND {edges} = (
    SELECT count(*) FROM pg_catalog.pg_inherits i
    JOIN holder above ON above.oid = i.inhparent
    JOIN holder below ON below.oid = i.inhrelid)
  -- An heir does not join the publication by itself. A partition does, but the rows that it brings when it is attached are not told.
  AND NOT EXISTS (
    SELECT FROM pg_catalog.pg_inherits i
    JOIN holder ON holder.oid = i.inhparent
    WHERE NOT EXISTS (SELECT FROM holder below WHERE below.oid = i.inhrelid))
  AND NOT EXISTS (
    SELECT FROM holder JOIN pg_catalog.pg_class c ON c.oid = holder.oid
    WHERE c.relkind = 'r' AND c.relreplident <> 'f' AND NOT EXISTS (
      SELECT FROM pg_catalog.pg_index i
      WHERE i.indrelid = c.oid AND i.indisvalid
        AND CASE c.relreplident WHEN 'd' THEN i.indisprimary ELSE i.indisreplident END))
)::text,
concat_ws(' ',
  (SELECT concat(count(*), ':', sum(a.xmin::text::numeric)) FROM holder
    JOIN pg_catalog.pg_attribute a ON a.attrelid = holder.oid AND a.attnum > 0),
  (SELECT concat(count(*), ':', sum(d.xmin::text::numeric)) FROM holder
    JOIN pg_catalog.pg_attrdef d ON d.adrelid = holder.oid),
  (SELECT concat(count(*), ':', sum(e.xmin::text::numeric)) FROM pg_catalog.pg_enum e))
