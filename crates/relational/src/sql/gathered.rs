//! Gathers related rows of other shards by key, where a database cannot look for them row by row.
//!
//! A condition becomes `key IN (SELECT key …)`. A value becomes a column of a relation that is joined to the row's table:
//! `LEFT JOIN (SELECT key, count(*) … GROUP BY key) AS t3 ON t3.k0 = t0.key`. Both are what Citus plans; on one node they give
//! the same rows.
//!
//! **Invariant:** a table that may be joined to stands between two marks with its alias until [`Renderer::replace_marks`] replaces
//! them: by brackets and the joined relations, or by nothing.

use super::{FilteredRows, Renderer, Scope};
use crate::catalog::{ColumnId, Placement, RelationshipId};
use crate::plan::{Expr, Filter, Scan};

/// Encloses a mark. No name of a database's has this character.
const MARK: char = '\u{1}';

impl Renderer<'_> {
    /// True if `rows` along `by`, or a value `of` them, have to be gathered: they may be on another node, or a value is read from rows
    /// that may be, which can be joined to no row of a sub-select that is looked for row by row.
    pub(super) fn is_gathered(&self, by: RelationshipId, rows: FilteredRows<'_>, of: Option<&Expr>) -> bool {
        let related = self.relations.relationship(by);
        let is_plain = related.through.is_none() && related.call.is_none() && !related.on.is_empty();
        let reads_far = || {
            let FilteredRows { scan, filter } = rows;
            let restricted = scan.policy().is_some_and(|it| self.compares_far(it));
            restricted || self.compares_far(filter) || of.is_some_and(|it| self.reads_far(it))
        };
        !self.dialect.correlates_shards() && is_plain && (!self.relations.is_colocated(by) || reads_far())
    }

    /// True if rows related to one in `scope` have to be gathered; a row that a function gave is on the node that answers.
    pub(super) fn is_gathered_for(
        &self,
        scope: Scope,
        by: RelationshipId,
        rows: FilteredRows<'_>,
        of: Option<&Expr>,
    ) -> bool {
        let related = self.relations.relationship(by);
        let is_called = self.called.contains(&scope.alias) && !self.dialect.correlates_shards();
        let is_plain = related.through.is_none() && related.call.is_none() && !related.on.is_empty();
        let has_shard = || {
            let placement = self.relations.catalog.table(related.to).placement;
            matches!(placement, Placement::Sharded { .. } | Placement::Single { .. })
        };
        (is_called && is_plain && has_shard()) || self.is_gathered(by, rows, of)
    }

    /// True if `filter` compares a value of a row that may be on another node.
    fn compares_far(&self, filter: &Filter) -> bool {
        let below = filter.children();
        // Other rows are gathered by themselves.
        below.scan.is_none()
            && (below.filters.iter().any(|it| self.compares_far(it))
                || below.of.is_some_and(|it| self.reads_far(it)))
    }

    /// The conjuncts of `filter` that compare no such value.
    fn local_conjuncts<'f>(&self, filter: &'f Filter) -> Vec<&'f Filter> {
        match filter {
            Filter::All(parts) => parts.iter().flat_map(|it| self.local_conjuncts(it)).collect(),
            part if self.compares_far(part) => Vec::new(),
            part => vec![part],
        }
    }

    /// True if `of` is a value of a row that may be on another node.
    fn reads_far(&self, of: &Expr) -> bool {
        match of {
            Expr::Related { by, scan, filter, of } => {
                self.is_gathered(*by, FilteredRows { scan, filter }, Some(of))
            }
            of => of.children().of.is_some_and(|it| self.reads_far(it)),
        }
    }

    /// ` WHERE …`: the rows that a change finds. Where a condition compares values of rows on other nodes, which are joined to rows of a query
    /// alone, a query finds the keys; what else is asked of the rows stands beside it too, as it may tell the shard.
    pub(super) fn write_change_condition(&mut self, scan: &Scan, filter: &Filter, scope: Scope) {
        let policy = scan.policy();
        let is_far = policy.is_some_and(|it| self.compares_far(it)) || self.compares_far(filter);
        let key = self.relations.catalog.table(scan.table()).primary_key.as_ref().filter(|_| is_far);
        let Some(key) = key else { return self.both(" WHERE ", scan, filter, scope) };
        self.sql.push_str(" WHERE ");
        for part in policy.map_or_else(Vec::new, |it| self.local_conjuncts(it)) {
            self.write_policy_condition(part, scope);
            self.sql.push_str(" AND ");
        }
        for part in self.local_conjuncts(filter) {
            self.write_within(scan, scope, |it| it.filter(part, scope));
            self.sql.push_str(" AND ");
        }
        self.key(&key.columns, scope);
        self.sql.push_str(" IN (SELECT ");
        let there = self.alias(scan.table());
        self.joinable.push(there.alias);
        self.guard(there, scan);
        self.key_list(&key.columns, there);
        self.sql.push_str(" FROM ");
        self.joinable_table(there);
        self.both(" WHERE ", scan, filter, there);
        self.sql.push(')');
    }

    /// `(ours IS NOT NULL AND ours IN (SELECT theirs FROM related WHERE …))`: true and false as `EXISTS`, never null.
    pub(super) fn among_related(&mut self, by: RelationshipId, rows: FilteredRows<'_>, scope: Scope) {
        let on = &self.relations.relationship(by).on;
        let (ours, theirs): (Vec<ColumnId>, Vec<ColumnId>) = on.iter().copied().unzip();
        self.sql.push('(');
        self.write_not_null_tests(&ours, scope, "", " AND ");
        self.key(&ours, scope);
        self.sql.push_str(" IN (SELECT ");
        let there = self.alias(rows.scan.table());
        self.joinable.push(there.alias);
        self.guard(there, rows.scan);
        self.key_list(&theirs, there);
        self.write_apart(|it| it.gathered_from(&theirs, rows, there));
        self.sql.push_str(if self.relations.is_planned_apart(by) { " OFFSET 0))" } else { "))" });
    }

    /// A value of the related row, or over the related rows.
    pub(super) fn related_value(
        &mut self,
        by: RelationshipId,
        rows: FilteredRows<'_>,
        scope: Scope,
        of: &Expr,
    ) {
        if self.is_gathered_for(scope, by, rows, Some(of)) && self.joinable.contains(&scope.alias) {
            return self.gathered_value(by, rows, scope, of);
        }
        self.sql.push('(');
        self.write_related_rows(by, rows, scope, Some(of));
        let is_aggregate = matches!(
            of,
            Expr::Count { .. } | Expr::Function(..) | Expr::Instant { .. } | Expr::Statistic { .. }
        );
        self.sql.push_str(if is_aggregate { ")" } else { " LIMIT 1)" });
    }

    /// Writes the value as a column of a joined relation.
    fn gathered_value(&mut self, by: RelationshipId, rows: FilteredRows<'_>, scope: Scope, of: &Expr) {
        let related = self.relations.relationship(by);
        let (ours, theirs): (Vec<ColumnId>, Vec<ColumnId>) = related.on.iter().copied().unzip();
        let there = self.alias(rows.scan.table());
        self.joinable.push(there.alias);
        self.guard(there, rows.scan);
        let is_count = matches!(of, Expr::Count { .. });
        let is_aggregate =
            is_count || matches!(of, Expr::Function(..) | Expr::Instant { .. } | Expr::Statistic { .. });
        let is_single = self.relations.catalog.table(rows.scan.table()).is_unique(&theirs);
        let outer = self.alias(rows.scan.table()).alias;
        let text = self.render_aside(|it| {
            it.sql.push_str(" LEFT JOIN (SELECT ");
            if !is_aggregate && !is_single {
                it.sql.push_str("DISTINCT ON (");
                it.key_list(&theirs, there);
                it.sql.push_str(") ");
            }
            for (at, &column) in theirs.iter().enumerate() {
                it.key_column(there, column);
                it.sql.push_str(&format!(" AS k{at}, "));
            }
            it.expr(of, there);
            it.sql.push_str(" AS value");
            it.write_apart(|it| it.gathered_from(&theirs, rows, there));
            if is_aggregate {
                it.sql.push_str(" GROUP BY ");
                it.key_list(&theirs, there);
                it.sql.push_str(if it.relations.is_planned_apart(by) { " OFFSET 0" } else { "" });
            } else {
                // Without it the planner joins the table itself, which it then finds to be of another shard.
                it.sql.push_str(" OFFSET 0");
            }
            it.sql.push_str(&format!(") AS t{outer} ON "));
            for (at, &column) in ours.iter().enumerate() {
                it.sql.push_str(&format!("{}t{outer}.k{at} = ", if at == 0 { "" } else { " AND " }));
                it.write_stored_column(scope, column);
            }
        });
        self.gathered.push((scope.alias, text));
        let value = if is_count { format!("coalesce(t{outer}.value, 0)") } else { format!("t{outer}.value") };
        self.sql.push_str(&value);
    }

    /// ` FROM related WHERE key IS NOT NULL AND …`.
    fn gathered_from(&mut self, theirs: &[ColumnId], rows: FilteredRows<'_>, there: Scope) {
        self.sql.push_str(" FROM ");
        self.joinable_table(there);
        let before = self.sql.len();
        self.write_not_null_tests(theirs, there, " WHERE ", "");
        let word = if self.sql.len() == before { " WHERE " } else { " AND " };
        self.both(word, rows.scan, rows.filter, there);
    }

    /// `first` and a test for null of each of `columns` that can be, then `last`; nothing if none can.
    fn write_not_null_tests(&mut self, columns: &[ColumnId], scope: Scope, first: &str, last: &str) {
        let table = self.relations.catalog.table(scope.table);
        let mut word = first;
        for &column in columns.iter().filter(|it| table.column(**it).nullable) {
            self.sql.push_str(word);
            self.key_column(scope, column);
            self.sql.push_str(" IS NOT NULL");
            word = " AND ";
        }
        self.sql.push_str(if word == first { "" } else { last });
    }

    /// A key: the column, or a row of columns.
    fn key(&mut self, columns: &[ColumnId], scope: Scope) {
        let is_row = columns.len() > 1;
        self.sql.push_str(if is_row { "(" } else { "" });
        self.key_list(columns, scope);
        self.sql.push_str(if is_row { ")" } else { "" });
    }

    fn key_list(&mut self, columns: &[ColumnId], scope: Scope) {
        for (at, &column) in columns.iter().enumerate() {
            self.sql.push_str(if at == 0 { "" } else { ", " });
            self.key_column(scope, column);
        }
    }

    /// The table under its alias, between marks where rows of other shards may have to be joined to it.
    pub(super) fn joinable_table(&mut self, scope: Scope) {
        if self.dialect.correlates_shards() {
            return self.read_table(scope);
        }
        let alias = scope.alias;
        self.sql.push_str(&format!("{MARK}<{alias}{MARK}"));
        self.read_table(scope);
        self.sql.push_str(&format!("{MARK}>{alias}{MARK}"));
    }

    /// `sql` with the gathered relations in place of the marks. A relation stands in the text of the table it is joined to,
    /// so tables come in the order of their aliases.
    pub(super) fn replace_marks(&self, mut sql: String) -> String {
        if self.dialect.correlates_shards() {
            return sql;
        }
        for alias in 0..self.aliases {
            let joined: String =
                self.gathered.iter().filter(|it| it.0 == alias).map(|it| it.1.as_str()).collect();
            let (open, close) =
                if joined.is_empty() { ("", String::new()) } else { ("(", format!("{joined})")) };
            sql = sql.replace(&format!("{MARK}<{alias}{MARK}"), open);
            sql = sql.replace(&format!("{MARK}>{alias}{MARK}"), &close);
        }
        sql
    }
}
