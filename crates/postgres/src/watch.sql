-- $1: the schemas that are served.
WITH schemas AS MATERIALIZED (
  SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = ANY ($1)
), relations AS MATERIALIZED (
  SELECT c.oid, c.relkind AS kind,
    hashtextextended(concat_ws(' ', c.oid, c.relnamespace, c.relkind, c.relispartition, c.relacl, c.relname), 0) AS sum
  FROM pg_catalog.pg_class c JOIN schemas s ON s.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
), parts AS (
  SELECT 1 AS part, sum::numeric FROM relations
  UNION ALL SELECT 2, a.xmin::text::numeric FROM pg_catalog.pg_attribute a JOIN relations r ON r.oid = a.attrelid
    WHERE a.attnum > 0
  UNION ALL SELECT 3, k.xmin::text::numeric FROM pg_catalog.pg_constraint k JOIN relations r ON r.oid = k.conrelid
  UNION ALL SELECT 4, i.xmin::text::numeric FROM pg_catalog.pg_index i JOIN relations r ON r.oid = i.indrelid
    WHERE i.indisunique
  UNION ALL SELECT 5, w.xmin::text::numeric FROM pg_catalog.pg_rewrite w JOIN relations r ON r.oid = w.ev_class
  UNION ALL SELECT 6, g.xmin::text::numeric FROM pg_catalog.pg_trigger g JOIN relations r ON r.oid = g.tgrelid
    WHERE NOT g.tgisinternal
  UNION ALL SELECT 7, p.xmin::text::numeric FROM pg_catalog.pg_proc p JOIN schemas s ON s.oid = p.pronamespace
  -- Enums, domains and composite types are served from everywhere; what is built in has lower numbers.
  UNION ALL SELECT 8, t.xmin::text::numeric FROM pg_catalog.pg_type t
    WHERE t.oid >= 16384 AND t.typtype IN ('e', 'd', 'r', 'm')
  UNION ALL SELECT 9, a.xmin::text::numeric FROM pg_catalog.pg_attribute a
    JOIN pg_catalog.pg_class c ON c.oid = a.attrelid WHERE c.relkind = 'c'
  UNION ALL SELECT 10, e.xmin::text::numeric FROM pg_catalog.pg_enum e
  UNION ALL SELECT 11, d.xmin::text::numeric FROM pg_catalog.pg_description d WHERE d.objoid >= 16384
)
SELECT string_agg(concat_ws(':', part, rows, sum), ' ' ORDER BY part)
FROM (SELECT part, count(*) AS rows, sum(sum) AS sum FROM parts GROUP BY part) AS parts
