UNION ALL
-- Of each base type, as bits: the operators 1 `=`, 2 `<>`, 4 `<`, 8 `<=`, 16 `>`, 32 `>=`, 64 `~=` between two values; 128: it can be sorted,
-- 256: it has hashes; 512: it has a maximum, 1024: it has one as the type that it becomes by itself; 2048: an extension has operators of
-- its own for sets in arrays of it.
SELECT 'o', a.oid, NULL, NULL, NULL, bit_or(a.bits)::int8::oid, 0::oid, NULL, NULL, NULL, 0, NULL
FROM (
  WITH own AS (
    SELECT t.oid, t.oid AS like_type FROM pg_catalog.pg_type t
    LEFT JOIN pg_catalog.pg_type e ON e.typarray = t.oid WHERE t.typtype = 'b' AND e.oid IS NULL
  ), casts AS (
    SELECT c.castsource AS oid, c.casttarget AS like_type, c.castmethod = 'b' AS is_binary,
      count(*) OVER (PARTITION BY c.castsource) = 1 AS is_only
    FROM pg_catalog.pg_cast c WHERE c.castcontext = 'i'
  ), likes AS (
    SELECT oid, like_type FROM own UNION SELECT oid, like_type FROM casts WHERE is_binary
  ), maxima AS (
    SELECT p.proargtypes[0] AS of_type FROM pg_catalog.pg_proc p
    WHERE p.proname = 'max' AND p.prokind = 'a' AND p.pronargs = 1 AND pg_function_is_visible(p.oid)
  )
  SELECT oid, 0 AS bits FROM own
  UNION ALL
  SELECT l.oid, CASE o.oprname WHEN '=' THEN 1 WHEN '<>' THEN 2 WHEN '<' THEN 4 WHEN '<=' THEN 8 WHEN '>' THEN 16
    WHEN '>=' THEN 32 ELSE 64 END
  FROM likes l
  JOIN pg_catalog.pg_operator o ON o.oprleft = l.like_type AND o.oprright = l.like_type
  WHERE o.oprname IN ('=', '<>', '<', '<=', '>', '>=', '~=') AND o.oprresult = 'bool'::regtype AND pg_operator_is_visible(o.oid)
  UNION ALL
  SELECT l.oid, CASE m.amname WHEN 'btree' THEN 128 ELSE 256 END
  FROM likes l
  JOIN pg_catalog.pg_opclass c ON c.opcintype = l.like_type AND c.opcdefault
  JOIN pg_catalog.pg_am m ON m.oid = c.opcmethod AND m.amname IN ('btree', 'hash')
  UNION ALL
  SELECT oid, 512 FROM own JOIN maxima ON of_type = like_type
  UNION ALL
  SELECT oid, 1024 FROM casts JOIN maxima ON of_type = like_type WHERE is_binary OR is_only
  UNION ALL
  SELECT t.oid, 2048 FROM pg_catalog.pg_type t JOIN pg_catalog.pg_operator o ON o.oprleft = t.typarray
  WHERE t.typarray <> 0 AND o.oprright = o.oprleft AND o.oprname IN ('@>', '<@') AND o.oprnamespace <> 'pg_catalog'::regnamespace
) a
GROUP BY a.oid
