//! The questions to a catalog: for each part one statement of PostgreSQL and one of SQLite, without parameters.
//!
//! Each row is a schema, a name, and an object of JSON that is written as the database made it.

/// A part of the catalog.
pub(super) struct CatalogPart {
    /// Name of the list in a table's object.
    pub(super) key: &'static str,
    pub(super) of_postgres: &'static str,
    pub(super) of_sqlite: &'static str,
}

/// Beginning of PostgreSQL's statements: the tables and views that are not the server's own. Partitions are shown by their table.
macro_rules! of_relations {
    ($select:literal, $from:literal) => {
        concat!(
            "WITH r AS (SELECT c.oid, n.nspname, c.relname, c.relkind FROM pg_catalog.pg_class c \
             JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition \
             AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'hdb_catalog', 'crdb_internal', 'pg_extension') \
             AND n.nspname !~ '^pg_(toast|temp)') SELECT r.nspname, r.relname, ",
            $select,
            " FROM r ",
            $from
        )
    };
}

/// Beginning of SQLite's statements: its tables and views without those of SQLite and of event triggers.
macro_rules! of_file {
    ($select:literal, $from:expr) => {
        concat!(
            "WITH r AS MATERIALIZED (SELECT l.name, l.type, m.sql FROM pragma_table_list l \
             JOIN main.sqlite_schema m ON m.name = l.name AND m.type IN ('table', 'view') \
             WHERE l.schema = 'main' AND l.type IN ('table', 'view', 'virtual') AND l.name NOT LIKE 'sqlite~_%' ESCAPE '~' \
             AND l.name NOT IN ('hdb_event_log', 'hdb_event_invocation_logs', 'hdb_event_log_cleanups', 'hdb_event_source')) \
             SELECT 'main', r.name, ",
            $select,
            " FROM r ",
            $from
        )
    };
}

/// Columns of an SQLite table or view.
macro_rules! file_columns {
    ($condition:literal) => {
        of_file!(
            "json_object('name', x.name, 'type', x.type, \
             'nullable', json(iif(x.\"notnull\" OR (x.pk = 1 AND lower(x.type) = 'integer' \
             AND NOT EXISTS (SELECT 1 FROM pragma_table_info(r.name, 'main') o WHERE o.pk = 2)), 'false', 'true')), \
             'default', x.dflt_value, 'generated', CASE x.hidden WHEN 2 THEN 'virtual' WHEN 3 THEN 'stored' END, \
             'identity', NULL, 'comment', NULL)",
            concat!("JOIN pragma_table_xinfo(r.name, 'main') x WHERE ", $condition, " AND x.hidden <> 1 ORDER BY r.name, x.cid")
        )
    };
}

/// The tables themselves; `definition` is the statement of a view, and on SQLite also that of a table.
pub(super) const TABLES: CatalogPart = CatalogPart {
    key: "tables",
    of_postgres: of_relations!(
        "json_build_object('kind', CASE r.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' \
         WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' ELSE 'table' END, \
         'comment', obj_description(r.oid, 'pg_class'), \
         'definition', CASE WHEN r.relkind IN ('v', 'm') THEN pg_get_viewdef(r.oid, true) END)",
        "ORDER BY r.nspname, r.relname"
    ),
    of_sqlite: of_file!(
        "json_object('kind', CASE r.type WHEN 'virtual' THEN 'virtual table' ELSE r.type END, 'comment', NULL, 'definition', r.sql)",
        "ORDER BY r.name"
    ),
};

/// Parts of a table's description.
pub(super) const PARTS: [CatalogPart; 6] = [
    CatalogPart {
        key: "columns",
        of_postgres: of_relations!(
            "json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod), 'nullable', NOT a.attnotnull, \
             'default', CASE WHEN a.attgenerated = '' THEN pg_get_expr(d.adbin, d.adrelid) END, \
             'generated', CASE WHEN a.attgenerated <> '' THEN pg_get_expr(d.adbin, d.adrelid) END, \
             'identity', CASE a.attidentity WHEN 'a' THEN 'always' WHEN 'd' THEN 'by default' END, \
             'comment', col_description(r.oid, a.attnum))",
            "JOIN pg_catalog.pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped \
             LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = r.oid AND d.adnum = a.attnum ORDER BY r.oid, a.attnum"
        ),
        of_sqlite: file_columns!("r.type <> 'view'"),
    },
    // A view that leads nowhere fails the whole statement, which must not hide the columns of tables.
    CatalogPart {
        key: "columns",
        of_postgres: "SELECT NULL, NULL, NULL WHERE false",
        of_sqlite: file_columns!("r.type = 'view'"),
    },
    CatalogPart {
        key: "indexes",
        of_postgres: of_relations!(
            "json_build_object('name', x.relname, 'definition', pg_get_indexdef(i.indexrelid), \
             'unique', i.indisunique, 'primary', i.indisprimary)",
            "JOIN pg_catalog.pg_index i ON i.indrelid = r.oid JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid \
             ORDER BY r.oid, NOT i.indisprimary, x.relname"
        ),
        of_sqlite: of_file!(
            "json_object('name', i.name, 'definition', coalesce(s.sql, (SELECT group_concat(k.name, ', ' ORDER BY k.seqno) \
             FROM pragma_index_info(i.name, 'main') k)), \
             'unique', json(iif(i.\"unique\", 'true', 'false')), 'primary', json(iif(i.origin = 'pk', 'true', 'false')))",
            "JOIN pragma_index_list(r.name, 'main') i LEFT JOIN main.sqlite_schema s ON s.type = 'index' AND s.name = i.name \
             ORDER BY r.name, i.origin <> 'pk', i.name"
        ),
    },
    CatalogPart {
        key: "constraints",
        of_postgres: of_relations!(
            "json_build_object('name', k.conname, 'kind', CASE k.contype WHEN 'p' THEN 'primary key' WHEN 'u' THEN 'unique' \
             WHEN 'c' THEN 'check' ELSE 'exclude' END, 'definition', pg_get_constraintdef(k.oid, true), \
             'columns', (SELECT json_agg(a.attname ORDER BY u.at) FROM unnest(k.conkey) WITH ORDINALITY u (n, at) \
             JOIN pg_catalog.pg_attribute a ON a.attrelid = r.oid AND a.attnum = u.n))",
            "JOIN pg_catalog.pg_constraint k ON k.conrelid = r.oid AND k.contype IN ('p', 'u', 'c', 'x') \
             ORDER BY r.oid, k.contype <> 'p', k.conname"
        ),
        of_sqlite: of_file!(
            "json_object('name', NULL, 'kind', k.kind, 'definition', upper(k.kind) || ' (' || group_concat(k.name, ', ' ORDER BY k.at) || ')', \
             'columns', json_group_array(k.name ORDER BY k.at))",
            "JOIN (SELECT o.name AS of, 'primary key' AS kind, '' AS part, x.name, x.pk AS at \
             FROM main.sqlite_schema o, pragma_table_info(o.name, 'main') x WHERE o.type = 'table' AND x.pk > 0 \
             UNION ALL SELECT o.name, 'unique', i.name, x.name, x.seqno \
             FROM main.sqlite_schema o, pragma_index_list(o.name, 'main') i, pragma_index_info(i.name, 'main') x \
             WHERE o.type = 'table' AND i.origin = 'u') k ON k.of = r.name \
             GROUP BY r.name, k.kind, k.part ORDER BY r.name, k.kind, k.part"
        ),
    },
    CatalogPart {
        key: "foreignKeys",
        of_postgres: of_relations!(
            "json_build_object('name', k.conname, 'definition', pg_get_constraintdef(k.oid, true), \
             'columns', (SELECT json_agg(a.attname ORDER BY u.at) FROM unnest(k.conkey) WITH ORDINALITY u (n, at) \
             JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.n), \
             'table', json_build_object('schema', g.nspname, 'name', f.relname), \
             'targetColumns', (SELECT json_agg(a.attname ORDER BY u.at) FROM unnest(k.confkey) WITH ORDINALITY u (n, at) \
             JOIN pg_catalog.pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = u.n))",
            "JOIN pg_catalog.pg_constraint k ON k.conrelid = r.oid AND k.contype = 'f' AND k.conparentid = 0 \
             JOIN pg_catalog.pg_class f ON f.oid = k.confrelid JOIN pg_catalog.pg_namespace g ON g.oid = f.relnamespace \
             ORDER BY r.oid, k.conname"
        ),
        // A key that names no target columns leads to the primary key.
        of_sqlite: of_file!(
            "json_object('name', NULL, 'definition', 'FOREIGN KEY (' || group_concat(k.\"from\", ', ' ORDER BY k.seq) || ') REFERENCES ' || k.\"table\" \
             || ' (' || group_concat(k.target, ', ' ORDER BY k.seq) || ')' || iif(k.on_update = 'NO ACTION', '', ' ON UPDATE ' || k.on_update) \
             || iif(k.on_delete = 'NO ACTION', '', ' ON DELETE ' || k.on_delete), \
             'columns', json_group_array(k.\"from\" ORDER BY k.seq), 'table', json_object('schema', 'main', 'name', coalesce(t.name, k.\"table\")), \
             'targetColumns', json_group_array(k.target ORDER BY k.seq))",
            "JOIN (SELECT o.name AS of, l.*, coalesce(l.\"to\", (SELECT x.name FROM pragma_table_info(l.\"table\", 'main') x \
             WHERE x.pk = l.seq + 1)) AS target FROM main.sqlite_schema o, pragma_foreign_key_list(o.name, 'main') l \
             WHERE o.type = 'table') k ON k.of = r.name \
             LEFT JOIN main.sqlite_schema t ON t.type = 'table' AND lower(t.name) = lower(k.\"table\") \
             GROUP BY r.name, k.id ORDER BY r.name, k.id"
        ),
    },
    CatalogPart {
        key: "triggers",
        of_postgres: of_relations!(
            "json_build_object('name', t.tgname, 'definition', pg_get_triggerdef(t.oid, true), 'enabled', t.tgenabled <> 'D')",
            "JOIN pg_catalog.pg_trigger t ON t.tgrelid = r.oid AND NOT t.tgisinternal ORDER BY r.oid, t.tgname"
        ),
        of_sqlite: of_file!(
            "json_object('name', t.name, 'definition', t.sql, 'enabled', json('true'))",
            "JOIN main.sqlite_schema t ON t.type = 'trigger' AND lower(t.tbl_name) = lower(r.name) ORDER BY r.name, t.name"
        ),
    },
];

/// Functions that rows or their values can come from: no aggregates, no triggers, nothing of extensions. SQLite has none.
pub(super) const FUNCTIONS: CatalogPart = CatalogPart {
    key: "functions",
    of_postgres: "SELECT n.nspname, p.proname, json_build_object('arguments', pg_get_function_arguments(p.oid), \
        'returns', pg_get_function_result(p.oid), 'isSet', p.proretset, \
        'volatility', CASE p.provolatile WHEN 'i' THEN 'immutable' WHEN 's' THEN 'stable' ELSE 'volatile' END, \
        'comment', obj_description(p.oid, 'pg_proc'), \
        'returnsTable', (SELECT json_build_object('schema', m.nspname, 'name', c.relname) FROM pg_catalog.pg_class c \
         JOIN pg_catalog.pg_namespace m ON m.oid = c.relnamespace WHERE c.reltype = p.prorettype AND c.relkind IN ('r', 'p', 'v', 'm', 'f')), \
        'argumentTables', (SELECT json_agg(json_build_object('schema', m.nspname, 'name', c.relname)) \
         FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace m ON m.oid = c.relnamespace \
         WHERE c.reltype = ANY (p.proargtypes::oid[]) AND c.reltype <> 0 AND c.relkind IN ('r', 'p', 'v', 'm', 'f'))) \
        FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace \
        WHERE p.prokind = 'f' AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'hdb_catalog', 'crdb_internal', 'pg_extension') \
        AND n.nspname !~ '^pg_(toast|temp)' \
        AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype) \
        AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend x WHERE x.objid = p.oid \
         AND x.classid = 'pg_catalog.pg_proc'::regclass AND x.deptype IN ('e', 'i')) ORDER BY n.nspname, p.proname, p.oid",
    of_sqlite: "SELECT NULL, NULL, NULL WHERE false",
};
