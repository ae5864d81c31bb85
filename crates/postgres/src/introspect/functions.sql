UNION ALL
SELECT 'f', p.oid, n.nspname::text, p.proname::text, p.provolatile::text,
  CASE WHEN p.proretset THEN 1::oid ELSE 0::oid END, p.prorettype,
  p.proargnames, coalesce(p.proallargtypes, p.proargtypes::oid[]),
  array_to_string(p.proargmodes, ''), p.pronargdefaults::int, d.description
FROM pg_catalog.pg_proc p
JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
LEFT JOIN pg_catalog.pg_description d
  ON d.objoid = p.oid AND d.classoid = 'pg_catalog.pg_proc'::regclass AND d.objsubid = 0
LEFT JOIN pg_catalog.pg_depend x
  ON x.objid = p.oid AND x.classid = 'pg_catalog.pg_proc'::regclass AND x.deptype IN ('e', 'i')
WHERE n.nspname = ANY ($1) AND p.prokind = 'f' AND x.objid IS NULL AND has_function_privilege(p.oid, 'EXECUTE')
  AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype)
