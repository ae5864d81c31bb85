//! Tables of users, as far as capture needs them.

use super::sql_literal::text_array;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DescribedTable {
    /// True if triggers for rows can stand on it.
    pub(super) takes_triggers: bool,
    /// True if the role may make triggers on it.
    pub(super) may_have_triggers: bool,
    /// True if other tables inherit from it that are no partitions.
    pub(super) has_heirs: bool,
    pub(super) columns: Vec<DescribedColumn>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DescribedColumn {
    pub(super) name: String,
    /// The expression of a column that is computed whenever it is read: a trigger's row does not have its value.
    pub(super) expression: Option<String>,
    /// True if rows with it can be compared: its type and all parts of it have a B-tree class.
    pub(super) is_comparable: bool,
    /// The schema of PostGIS, for shapes on the globe, which JSON would have in hexadecimal digits.
    pub(super) geography: Option<String>,
    /// True for numbers that clients may want as text.
    pub(super) is_wide_number: bool,
    /// Place in the primary key, from 1; 0 for none.
    pub(super) key_place: u32,
}

/// Tables by schema and name.
pub(super) type DescribedTables = BTreeMap<(String, String), DescribedTable>;

/// The query that describes `tables`; its rows are those that [`read_rows`] takes.
///
/// A type is followed through domains, arrays and composite types to its leaves.
pub(super) fn query<'t>(tables: impl Iterator<Item = (&'t str, &'t str)> + Clone) -> String {
    let schemas = text_array(tables.clone().map(|it| it.0));
    let names = text_array(tables.map(|it| it.1));
    format!(
        "WITH RECURSIVE found AS (
  SELECT n.nspname, c.relname, c.oid AS relation, c.relkind, c.relispartition, a.attnum, a.attname, a.atttypid, a.attgenerated
  FROM unnest({schemas}, {names}) AS w(s, t) JOIN pg_namespace n ON n.nspname = w.s
  JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = w.t
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
parts(root, type) AS (
  SELECT atttypid, atttypid FROM found
  UNION
  SELECT p.root, x.next FROM parts p JOIN pg_type t ON t.oid = p.type CROSS JOIN LATERAL (
    SELECT t.typbasetype WHERE t.typtype = 'd'
    UNION ALL SELECT t.typelem WHERE t.typtype = 'b' AND t.typelem <> 0 AND t.typcategory = 'A'
    UNION ALL SELECT a.atttypid FROM pg_attribute a
      WHERE t.typtype = 'c' AND a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped) AS x(next)),
facts AS (
  SELECT p.root, bool_and(t.typtype IN ('d', 'c', 'e', 'r', 'm') OR (t.typelem <> 0 AND t.typcategory = 'A')
    OR EXISTS (SELECT FROM pg_opclass o JOIN pg_am m ON m.oid = o.opcmethod WHERE m.amname = 'btree' AND o.opcdefault
      AND (o.opcintype = t.oid OR EXISTS (SELECT FROM pg_cast k WHERE k.castsource = t.oid AND k.casttarget = o.opcintype
        AND k.castmethod = 'b' AND k.castcontext = 'i')))) AS is_comparable
  FROM parts p JOIN pg_type t ON t.oid = p.type GROUP BY p.root)
SELECT f.nspname, f.relname, f.relkind IN ('r', 'p', 'f'), has_table_privilege(f.relation, 'TRIGGER'),
  f.relkind = 'r' AND EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = f.relation), f.attname,
  CASE WHEN f.attgenerated = 'v' THEN (SELECT pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d
    WHERE d.adrelid = f.relation AND d.adnum = f.attnum) END,
  x.is_comparable, CASE WHEN t.typname = 'geography' THEN g.nspname END, t.oid IN (20, 700, 701, 1700),
  coalesce((SELECT array_position(k.conkey::int[], f.attnum::int) FROM pg_constraint k
    WHERE k.conrelid = f.relation AND k.contype = 'p'), 0)
FROM found f JOIN facts x ON x.root = f.atttypid JOIN pg_type t ON t.oid = f.atttypid
JOIN pg_namespace g ON g.oid = t.typnamespace ORDER BY f.relation, f.attnum"
    )
}

/// The tables of the query's rows.
pub(super) fn read_rows(rows: Vec<Vec<Option<String>>>) -> DescribedTables {
    let mut tables = DescribedTables::new();
    for row in rows {
        let mut cells = row.into_iter();
        let mut next = || cells.next().flatten();
        let key = (next().unwrap_or_default(), next().unwrap_or_default());
        let table = tables.entry(key).or_default();
        table.takes_triggers = is_true(next());
        table.may_have_triggers = is_true(next());
        table.has_heirs = is_true(next());
        table.columns.push(DescribedColumn {
            name: next().unwrap_or_default(),
            expression: next(),
            is_comparable: is_true(next()),
            geography: next(),
            is_wide_number: is_true(next()),
            key_place: next().and_then(|it| it.parse().ok()).unwrap_or_default(),
        });
    }
    tables
}

fn is_true(cell: Option<String>) -> bool {
    cell.as_deref() == Some("t")
}
