//! Finds out, when a plan is made, if the rows of its root can be read in ranges of their key.
//!
//! SQLite itself is asked: the list has to be one scan of a table in the order of its row number, and a range of it one search by that.
//! So a list with a limit, an order of its own, an index, related rows in its conditions, or a table without row numbers stays on one
//! reader.

use super::ready_statement::{ReadyStatement, steps};
use rusqlite::{Connection, Result};
use weir_relational::catalog::{ColumnId, ColumnType, Relations};
use weir_relational::plan::operators::Comparison;
use weir_relational::plan::{
    Expr, Filter, Level, MemberKind, Origin, Output, Parameter, Plan, Query, Reader,
};
use weir_relational::quoting::quote_identifier;

/// The list of the root, to be read in ranges.
#[derive(Debug)]
pub(super) struct RangedLevel {
    pub(super) level: u32,
    /// Index in the plan's members of the list.
    pub(super) member: u32,
    /// The level's statement for a range, whose ends are its bounds.
    pub(super) statement: ReadyStatement,
    /// Reads the least key and the greatest one.
    borders: String,
}

impl RangedLevel {
    /// The list of `plan`, whose statements are `statements`, if its rows can be read in ranges. `prepare` renders a level.
    pub(super) fn find(
        connection: &Connection,
        relations: &Relations,
        plan: &Plan,
        statements: &[ReadyStatement],
        prepare: impl Fn(&Level) -> ReadyStatement,
    ) -> Option<Self> {
        let [member] = &plan.members[plan.root.range()] else { return None };
        let MemberKind::Many(level) = member.kind else { return None };
        let is_plain = plan.stream.is_none() && plan.lookups.is_empty() && plan.writes.is_empty();
        if !is_plain || plan.root_copied {
            return None;
        }
        let of = &plan.levels[level as usize];
        let key = key_of(relations, &of.query)?;
        let is_scan = |it: &str| it.starts_with("SCAN ") && !it.contains(" USING ");
        if !texts(&statements[level as usize]).all(|sql| is_one_step(connection, sql, is_scan)) {
            return None;
        }
        let statement = prepare(&Level { query: restrict_to_range(&of.query, &key), ..of.clone() });
        let is_search = |it: &str| it.contains(" USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)");
        if !texts(&statement).all(|sql| is_one_step(connection, sql, is_search)) {
            return None;
        }
        let table = relations.catalog.table(of.query.table());
        let name = quote_identifier(&table.name);
        let column = quote_identifier(&table.column(key.0).name);
        let borders =
            format!("SELECT (SELECT min({column}) FROM {name}), (SELECT max({column}) FROM {name})");
        Some(Self { level, member: plan.root.start, statement, borders })
    }

    /// The least key of the table and the greatest one; `None` if it is empty.
    pub(super) fn read_borders(&self, connection: &Connection) -> Result<Option<(i64, i64)>> {
        let mut statement = connection.prepare_cached(&self.borders)?;
        statement.query_row([], |row| {
            let least: Option<i64> = row.get(0)?;
            let greatest: Option<i64> = row.get(1)?;
            Ok(least.zip(greatest))
        })
    }
}

type KeyColumn = (ColumnId, ColumnType);

/// The only column of the key of the rows of `query`, if they come in its order as far as the plan says.
fn key_of(relations: &Relations, query: &Query) -> Option<KeyColumn> {
    let is_plain = query.call.is_none()
        && query.nest.is_empty()
        && query.through.is_none()
        && query.distinct_on.is_empty()
        && query.page.limit.is_none()
        && query.page.offset.is_none()
        && !query.page.from_end
        && matches!(query.output, Output::Rows(_));
    let table = relations.catalog.table(query.table());
    let &[key] = &table.primary_key.as_ref()?.columns[..] else { return None };
    let ty = table.column(key).ty.clone();
    let is_in_order = match &query.order[..] {
        [] => true,
        [order] => !order.descending && matches!(order.of, Expr::Column(of) | Expr::Key(of) if of == key),
        _ => false,
    };
    let is_integer = matches!(ty, ColumnType::Int | ColumnType::BigInt);
    (is_plain && is_in_order && is_integer).then_some((key, ty))
}

/// `query` restricted to keys between two bounds.
fn restrict_to_range(query: &Query, (key, ty): &KeyColumn) -> Query {
    let end = |by, at| Filter::Compare {
        of: Expr::Key(*key),
        by,
        with: Parameter { origin: Origin::Bound(at), reader: Reader::Column(ty.clone()), path: "".into() },
    };
    let ends = [end(Comparison::Gte, 0), end(Comparison::Lte, 1)];
    let filter = Filter::All(std::iter::once(query.filter.clone()).chain(ends).collect());
    Query { filter, ..query.clone() }
}

fn texts(statement: &ReadyStatement) -> impl Iterator<Item = &str> {
    let of_bytes = statement.of_bytes.as_deref();
    std::iter::once(statement.statement.sql.as_str()).chain(of_bytes)
}

fn is_one_step(connection: &Connection, sql: &str, is_expected: impl Fn(&str) -> bool) -> bool {
    steps(connection, sql).is_ok_and(|it| it.len() == 1 && is_expected(&it[0]))
}
