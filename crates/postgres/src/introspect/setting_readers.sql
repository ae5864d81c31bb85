-- $1: the schemas that are served. What reads settings of the session: kind, name, text.
SELECT * FROM (
  SELECT CASE WHEN p.prorettype = 'trigger'::regtype THEN 'trigger' WHEN p.provolatile = 'v' THEN 'volatile' ELSE 'function' END,
    n.nspname || '.' || p.proname, CASE p.prosrc WHEN '' THEN pg_get_functiondef(p.oid) ELSE p.prosrc END AS body
  FROM pg_catalog.pg_proc p
  JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
  JOIN pg_catalog.pg_language l ON l.oid = p.prolang
  WHERE n.nspname = ANY ($1) AND p.prokind IN ('f', 'p') AND l.lanname IN ('sql', 'plpgsql')
  UNION ALL
  SELECT CASE WHEN p.polcmd IN ('r', '*') THEN 'policy' ELSE 'write_policy' END, n.nspname || '.' || c.relname || '.' || p.polname,
    concat_ws(' ', pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
  FROM pg_catalog.pg_policy p
  JOIN pg_catalog.pg_class c ON c.oid = p.polrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = ANY ($1)
  UNION ALL
  SELECT 'view', n.nspname || '.' || c.relname, pg_get_viewdef(c.oid)
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = ANY ($1) AND c.relkind = 'v'
    AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
) AS found (kind, name, body)
WHERE found.body ILIKE '%current_setting%'
ORDER BY 1, 2
LIMIT 1000
