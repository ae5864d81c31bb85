-- $1: the schemas that are served. Kinds: r a copy on every node, h rows spread by the column `number`, o one shard, w the server is a
-- worker, not the coordinator. Local tables are left out: those that the coordinator manages have no colocation.
SELECT c.oid AS relation, CASE WHEN p.partmethod <> 'n' THEN 'h' WHEN p.repmodel = 't' THEN 'r' ELSE 'o' END AS kind, p.colocationid::int4 AS colocation,
  a.attnum::int4 AS number
FROM pg_dist_partition p
JOIN pg_catalog.pg_class c ON c.oid = p.logicalrelid::oid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_attribute a
  ON a.attrelid = c.oid AND p.partmethod <> 'n' AND a.attname = column_to_column_name(p.logicalrelid::oid, p.partkey::text)
WHERE n.nspname = ANY ($1) AND (p.partmethod = 'n' AND (p.repmodel = 't' OR p.colocationid > 0) OR p.partmethod <> 'n' AND a.attnum > 0)
UNION ALL
SELECT 0::oid, 'w', 0, 0 FROM pg_dist_local_group WHERE groupid <> 0
