-- $1: the schemas that are served. Partitions are served through their table; what belongs to an extension is left out where all tables are served.
WITH RECURSIVE safe AS MATERIALIZED (
  -- Operators that fail for no value: comparisons of values that do not hold others, and what PostgreSQL itself takes for such.
  SELECT ':opno ' AS place, o.oid FROM pg_catalog.pg_operator o
  JOIN pg_catalog.pg_proc f ON f.oid = o.oprcode
  LEFT JOIN (SELECT k.amopopr FROM pg_catalog.pg_amop k JOIN pg_catalog.pg_am m ON m.oid = k.amopmethod
    WHERE m.amname IN ('btree', 'hash') AND k.amopopr < 16384
      AND k.amoplefttype NOT IN ('anyarray'::regtype, 'record'::regtype)) k ON k.amopopr IN (o.oid, o.oprnegate)
  WHERE f.proleakproof OR k.amopopr IS NOT NULL
  -- Casts of numbers to larger ones, and of texts.
  UNION ALL SELECT ':funcid ', c.castfunc FROM pg_catalog.pg_cast c
  WHERE c.castcontext = 'i' AND c.castsource IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'float4'::regtype, 'bpchar'::regtype, 'name'::regtype)
    AND c.casttarget IN ('int4'::regtype, 'int8'::regtype, 'float4'::regtype, 'float8'::regtype, 'numeric'::regtype, 'text'::regtype, 'varchar'::regtype)
), sifts AS (
  -- Views that select rows by a condition that may fail, and views of them: those that take columns from one table unchanged.
  SELECT v.oid FROM (
    SELECT w.ev_class AS oid,
      split_part(split_part(w.ev_action::text, ':jointree', 2), ':targetList', 1) AS conditions
    FROM pg_catalog.pg_rewrite w
    JOIN pg_catalog.pg_class c ON c.oid = w.ev_class
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'v' AND w.ev_type = '1' AND n.nspname NOT IN ('pg_catalog', 'information_schema')
  ) v
  WHERE regexp_replace(v.conditions, '[{](FROMEXPR|RANGETBLREF|OPEXPR|SCALARARRAYOPEXPR|DISTINCTEXPR|NULLIFEXPR|BOOLEXPR|NULLTEST'
      || '|FUNCEXPR|BOOLEANTEST|VAR|CONST|RELABELTYPE|ARRAYEXPR|ARRAY|COALESCEEXPR|COALESCE|SQLVALUEFUNCTION) ', '', 'g') LIKE '%{%'
    OR EXISTS (SELECT 1 FROM unnest(ARRAY[':opno ', ':funcid ']) AS k (place)
      CROSS JOIN unnest(string_to_array(v.conditions, k.place)) WITH ORDINALITY AS p (piece, number)
      WHERE p.number > 1 AND (k.place, split_part(p.piece, ' ', 1)::oid) NOT IN (SELECT s.place, s.oid FROM safe s))
  UNION
  SELECT w.ev_class FROM sifts s
  JOIN pg_catalog.pg_depend d ON d.refobjid = s.oid AND d.refclassid = 'pg_catalog.pg_class'::regclass
    AND d.classid = 'pg_catalog.pg_rewrite'::regclass
  JOIN pg_catalog.pg_rewrite w ON w.oid = d.objid
), relations AS MATERIALIZED (
  SELECT c.oid, n.nspname::text AS schema, c.relname::text AS name, c.relkind::text AS kind, c.reltype,
    -- What was never analysed says -1, before PostgreSQL 14 it has no pages.
    CASE WHEN c.relkind = 'v' OR c.reltuples < 0 OR c.relpages = 0 THEN NULL ELSE c.reltuples::int8 END AS rows,
    -- Bits: 4 update, 8 insert, 16 delete.
    CASE WHEN c.relkind IN ('v', 'f') THEN pg_relation_is_updatable(c.oid, true)
      WHEN c.relkind = 'm' THEN 0
      -- Citus' storage by columns takes new rows alone.
      WHEN m.amname = 'columnar' THEN 8 ELSE 28 END AS can,
    has_table_privilege(c.oid, 'SELECT') AS readable,
    -- A write does more than it says: triggers (its own or its partitions', not those that log events), rules, tables that inherit, rows in other schemas.
    c.oid IN (SELECT t.tgrelid FROM pg_catalog.pg_trigger t WHERE NOT t.tgisinternal AND t.tgname NOT LIKE 'notify\_hasura\_%'
      UNION ALL SELECT i.inhparent FROM pg_catalog.pg_trigger t
        JOIN pg_catalog.pg_inherits i ON i.inhrelid = t.tgrelid WHERE NOT t.tgisinternal AND t.tgname NOT LIKE 'notify\_hasura\_%'
      UNION ALL SELECT w.ev_class FROM pg_catalog.pg_rewrite w WHERE w.ev_type <> '1'
      UNION ALL SELECT unnest(ARRAY[i.inhrelid, i.inhparent]) FROM pg_catalog.pg_inherits i
        JOIN pg_catalog.pg_class k ON k.oid = i.inhrelid WHERE NOT k.relispartition AND k.relkind IN ('r', 'f')
      UNION ALL SELECT k.confrelid FROM pg_catalog.pg_constraint k
        JOIN pg_catalog.pg_class o ON o.oid = k.conrelid JOIN pg_catalog.pg_namespace m ON m.oid = o.relnamespace
        WHERE k.contype = 'f' AND m.nspname <> ALL ($1)
          AND (k.confdeltype IN ('c', 'n', 'd') OR k.confupdtype IN ('c', 'n', 'd'))) AS acts,
    -- Triggers after an insert or update: neither BEFORE (2) nor INSTEAD OF (64).
    c.oid IN (SELECT t.tgrelid FROM pg_catalog.pg_trigger t
        WHERE NOT t.tgisinternal AND t.tgname NOT LIKE 'notify\_hasura\_%' AND t.tgtype & 66 = 0 AND t.tgtype & 20 <> 0
      UNION ALL SELECT i.inhparent FROM pg_catalog.pg_trigger t
        JOIN pg_catalog.pg_inherits i ON i.inhrelid = t.tgrelid
        WHERE NOT t.tgisinternal AND t.tgname NOT LIKE 'notify\_hasura\_%' AND t.tgtype & 66 = 0 AND t.tgtype & 20 <> 0) AS acts_late,
    has_table_privilege(c.oid, 'INSERT') AS may_insert, has_table_privilege(c.oid, 'UPDATE') AS may_update,
    CASE WHEN has_any_column_privilege(c.oid, 'UPDATE') THEN 4 ELSE 0 END
      + CASE WHEN has_any_column_privilege(c.oid, 'INSERT') THEN 8 ELSE 0 END
      + CASE WHEN has_table_privilege(c.oid, 'DELETE') THEN 16 ELSE 0 END AS may
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_catalog.pg_am m ON m.oid = c.relam
  LEFT JOIN pg_catalog.pg_depend x
    ON x.objid = c.oid AND x.classid = 'pg_catalog.pg_class'::regclass AND x.deptype = 'e'
  WHERE n.nspname = ANY ($1) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
    AND x.objid IS NULL
)
SELECT c.oid, c.schema, c.name, c.kind, c.reltype, c.rows, c.can & c.may AS can, c.readable, c.acts, c.acts_late,
  (SELECT d.description FROM pg_catalog.pg_description d
    WHERE d.objoid = c.oid AND d.classoid = 'pg_catalog.pg_class'::regclass AND d.objsubid = 0) AS comment,
  a.numbers, a.names, a.types, a.declared, a.marks, a.comments
FROM relations c
-- A table may have no columns.
LEFT JOIN (
  SELECT a.attrelid, array_agg(a.attnum ORDER BY a.attnum) AS numbers,
    array_agg(a.attname::text ORDER BY a.attnum) AS names,
    array_agg(a.atttypid ORDER BY a.attnum) AS types,
    array_agg(format_type(a.atttypid, a.atttypmod) ORDER BY a.attnum) AS declared,
    -- Bits: 1 not null, 2 filled by the database, 4 not to be written, 8 equal texts may differ in their bytes,
    -- 16 not to be read, 32 computed when it is read or of rows whose own condition may fail, 64 not to be given in a new row, 128 not to be changed.
    array_agg(
      -- A constraint that is not valid holds for new rows alone.
      CASE WHEN r.kind NOT IN ('v', 'm') AND (a.attnotnull AND (a.attrelid, a.attnum) NOT IN (
          SELECT k.conrelid, k.conkey[1] FROM pg_catalog.pg_constraint k WHERE k.contype = 'n' AND NOT k.convalidated)
        OR t.typnotnull) THEN 1 ELSE 0 END
      + CASE WHEN a.atthasdef OR a.attidentity <> '' OR t.typdefault IS NOT NULL THEN 2 ELSE 0 END
      + CASE WHEN a.attgenerated <> '' OR a.attidentity = 'a' THEN 4
          -- It answers for update and delete together.
          WHEN r.kind = 'v' AND r.can & 20 = 20
            AND NOT pg_column_is_updatable(a.attrelid, a.attnum, true) THEN 4
          ELSE 0 END
      + CASE WHEN l.collisdeterministic THEN 0 WHEN l.oid IS NOT NULL THEN 8 ELSE 0 END
      + CASE WHEN r.readable OR has_column_privilege(a.attrelid, a.attnum, 'SELECT') THEN 0 ELSE 16 END
      -- What a simple view takes from its table unchanged could be written, if no trigger says how.
      + CASE WHEN a.attgenerated = 'v' OR r.kind = 'v' AND (a.attrelid IN (SELECT s.oid FROM sifts s)
            OR NOT pg_column_is_updatable(a.attrelid, a.attnum, false))
          THEN 32 ELSE 0 END
      + CASE WHEN r.may_insert OR has_column_privilege(a.attrelid, a.attnum, 'INSERT') THEN 0 ELSE 64 END
      + CASE WHEN r.may_update OR has_column_privilege(a.attrelid, a.attnum, 'UPDATE') THEN 0 ELSE 128 END
      ORDER BY a.attnum) AS marks,
    array_agg(d.description ORDER BY a.attnum) AS comments
  FROM pg_catalog.pg_attribute a
  JOIN relations r ON r.oid = a.attrelid
  JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
  LEFT JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation
  LEFT JOIN pg_catalog.pg_description d
    ON d.objoid = a.attrelid AND d.classoid = 'pg_catalog.pg_class'::regclass AND d.objsubid = a.attnum
  WHERE a.attnum > 0 AND NOT a.attisdropped
  GROUP BY a.attrelid
) a ON a.attrelid = c.oid
