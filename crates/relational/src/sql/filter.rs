//! Conditions: on columns, on related rows, joined to expressions no deeper than they have to be.

use super::function_calls::RowOf;
use super::{FilteredRows, Renderer, Scope};
use crate::catalog::{ColumnId, RelationshipId, Storage, TableId, TableKind};
use crate::dialect::{EACH_WORD, Place, Side, Usual};
use crate::plan::operators::{Comparison, Measure, Sign};
use crate::plan::{Call, Expr, Filter, Parameter, Query, RowAt, Scan};

/// Maximum number of conditions in a flat chain; more become a balanced tree.
const FLAT_MAX: usize = 16;

/// Maximum nesting of subqueries beside an OR that are planned twice, row by row and all at once, with everything inside.
/// Deeper ones are looked up row by row, which an OFFSET makes the planner do.
const PLANNED_TWICE_MAX: u32 = 3;

impl<'r> Renderer<'r> {
    /// `SELECT … FROM related WHERE …`, tied to the row in `scope`.
    pub(super) fn write_related_rows(
        &mut self,
        by: RelationshipId,
        rows: FilteredRows<'_>,
        scope: Scope,
        of: Option<&Expr>,
    ) {
        let FilteredRows { scan, filter } = rows;
        let related = &self.relations.relationships[by.0 as usize];
        let there = self.alias(scan.table());
        self.guard(there, scan);
        if let Some(function) = related.call {
            let call = Call { function, arguments: Vec::new() };
            self.calls.push((there.alias, call, Some(RowOf::Alias(scope.alias))));
            self.called.push(there.alias);
        }
        self.sql.push_str("SELECT ");
        match of {
            Some(of) => self.expr(of, there),
            None => self.sql.push('1'),
        }
        self.write_from(there);
        let mut word = " WHERE ";
        let pairs = related.through.map(|it| (self.alias(it.table), it));
        if let Some((pairs, through)) = pairs {
            self.sql.push_str(" JOIN ");
            self.read_table(pairs);
            self.sql.push_str(" ON ");
            self.write_stored_column(pairs, through.ours);
            self.sql.push_str(" = ");
            self.write_stored_column(scope, related.on[0].0);
        }
        for &(ours, theirs) in &related.on {
            self.sql.push_str(word);
            word = " AND ";
            let other = self.render_aside(|it| match pairs {
                Some((pairs, through)) => it.write_stored_column(pairs, through.theirs),
                None => it.write_stored_column(scope, ours),
            });
            self.write_tie(there, theirs, &other);
        }
        if related.call.is_some_and(|it| !self.relations.function(it).1.is_set) {
            self.sql.push_str(word);
            word = " AND ";
            self.is_there(there);
        }
        self.both(word, scan, filter, there);
    }

    /// Appends `word` and the condition of a scan: the policy's beside the client's. Nothing, if all rows are meant.
    pub(super) fn both(&mut self, word: &str, scan: &Scan, filter: &Filter, scope: Scope) {
        let mut word = word;
        if let Some(policy) = scan.policy() {
            self.sql.push_str(word);
            if scan.is_walled() && self.dialect.joins_conditions() {
                self.kept_apart(policy, scope)
            } else {
                self.write_policy_condition(policy, scope)
            }
            word = " AND ";
        }
        if !filter.is_true() {
            self.sql.push_str(word);
            self.write_within(scan, scope, |it| it.filter(filter, scope));
        }
    }

    pub(crate) fn filter(&mut self, filter: &Filter, scope: Scope) {
        match filter {
            Filter::All(all) => self.write_chain(all, " AND ", "(1 = 1)", scope),
            Filter::Any(any) => self.write_chain(any, " OR ", "(1 = 0)", scope),
            Filter::Not(not) => {
                self.sql.push_str("NOT (");
                self.filter(not, scope);
                self.sql.push(')');
            }
            Filter::NotTrue(not) => {
                self.sql.push('(');
                self.filter(not, scope);
                self.sql.push_str(") IS NOT TRUE");
            }
            Filter::Behind { filter, is_halved, loses_index: _ } => {
                self.write_behind_policies(filter, *is_halved, scope)
            }
            Filter::Named { of, names } => {
                self.column(scope, *of);
                let names: Vec<String> = names.iter().map(|it| format!("'{it}'")).collect();
                self.sql.push_str(&format!(" IN ({})", names.join(", ")));
            }
            Filter::Words { key, of, indexes, kind, with } => {
                let key = self.render_aside(|it| it.column(scope, *key));
                let text = self.render_aside(|it| it.column(scope, *of));
                let words = self.bind_words(with);
                self.dialect.word_test(&mut self.sql, [&key, &text], indexes, *kind, &words);
            }
            Filter::Each { with, filter } => self.each_word(with, filter, scope),
            Filter::Place { .. } => self.place(filter, scope),
            Filter::Null { of, is } => {
                self.expr(of, scope);
                self.sql.push_str(if *is { " IS NULL" } else { " IS NOT NULL" });
            }
            Filter::Missing { with, like, is } => self.missing(with, like, *is, scope),
            Filter::Among { key, query } => self.among_rows(key, query, scope),
            Filter::Compare { of, by, with } => self.compare(of, *by, with, scope),
            Filter::Columns { of, by, row, with } => self.columns_compared(of, *by, *row, *with, scope),
            Filter::Measure { of, by, with } => self.measure(of, *by, with, scope),
            Filter::Somewhere { scan, filter } => self.write_any_row(scan, filter),
            Filter::Exists { by, scan, filter }
                if self.is_gathered_for(scope, *by, FilteredRows { scan, filter }, None) =>
            {
                self.among_related(*by, FilteredRows { scan, filter }, scope);
            }
            Filter::Exists { by, scan, filter } => {
                self.exists += 1;
                if self.exists > self.dialect.semi_joins_max() {
                    self.exists_alone(*by, FilteredRows { scan, filter }, scope)
                } else {
                    self.sql.push_str("EXISTS (");
                    self.write_related_rows(*by, FilteredRows { scan, filter }, scope, None);
                    self.sql.push(')');
                }
            }
        }
    }

    /// The place of a row, and the other one.
    fn place(&mut self, filter: &Filter, scope: Scope) {
        let Filter::Place { key, indexes, bounds, of, by, with } = filter else { return };
        let mut column = |it: ColumnId| self.render_aside(|to| to.column(scope, it));
        let key = column(*key);
        let bounds = bounds.map(&mut column);
        let of = of.iter().map(|it| column(*it)).collect();
        let ty = self.dialect.usual(Usual::Text);
        let with = with.iter().map(|it| self.bind(it, ty)).collect();
        let behind = self.place_behind.as_deref();
        self.dialect.place(&mut self.sql, &Place { key, indexes, bounds, of, by: *by, with, behind });
    }

    /// A value of the request that is bound as one like `like`.
    fn missing(&mut self, with: &Parameter, like: &Expr, is: bool, scope: Scope) {
        let ty = self.ty(like, scope.table);
        let value = self.bind(with, ty);
        self.sql.push_str(&value);
        self.sql.push_str(if is { " IS NULL" } else { " IS NOT NULL" });
    }

    /// A column against a column of this row or of the one that the policy restricts.
    fn columns_compared(&mut self, of: &Expr, by: Sign, row: RowAt, with: ColumnId, scope: Scope) {
        self.comparable_expr(of, scope);
        self.sql.push_str(&format!(" {} ", by.text()));
        let table = match row {
            RowAt::Here => scope.table,
            RowAt::Root(_) => self.root.unwrap_or(scope).table,
        };
        let other = self.render_aside(|it| it.column_at(row, with, scope));
        let storage = self.relations.catalog.table(table).column(with).storage;
        let other = self.dialect.comparable(other, storage);
        self.sql.push_str(&other);
    }

    /// The row in `scope` is one that `query` gives, whose condition may name it.
    fn among_rows(&mut self, key: &[ColumnId], query: &Query, scope: Scope) {
        let outer = self.root.replace(scope.raw());
        let exists = self.exists;
        let key: Vec<String> =
            key.iter().map(|it| self.render_aside(|to| to.write_stored_column(scope, *it))).collect();
        let mut rows = String::new();
        self.write_apart(|it| rows = it.query(query).sql());
        self.exists = exists;
        self.root = outer;
        self.sql.push_str(&format!("({}) IN ({rows})", key.join(", ")));
    }

    /// A row of any table.
    fn write_any_row(&mut self, scan: &Scan, filter: &Filter) {
        let there = self.alias(scan.table());
        self.guard(there, scan);
        self.sql.push_str("EXISTS (SELECT 1");
        self.write_from(there);
        self.both(" WHERE ", scan, filter, there);
        self.sql.push(')');
    }

    /// No word of a list breaks the condition.
    fn each_word(&mut self, with: &Parameter, filter: &Filter, scope: Scope) {
        let list = self.bind(with, self.dialect.usual(Usual::Texts));
        let words = self.dialect.each_word(&list);
        self.sql.push_str(&format!("NOT EXISTS (SELECT 1 FROM {words} WHERE NOT ("));
        self.in_each = true;
        self.filter(filter, scope);
        self.in_each = false;
        self.sql.push_str("))");
    }

    /// The query for words: the current one of a list, or the bound parameter.
    fn bind_words(&mut self, with: &Parameter) -> String {
        if self.in_each { EACH_WORD.to_owned() } else { self.bind(with, self.dialect.usual(Usual::Text)) }
    }

    /// A related row that the planner makes no join of.
    fn exists_alone(&mut self, by: RelationshipId, rows: FilteredRows<'_>, scope: Scope) {
        self.alone += 1;
        if self.alone > PLANNED_TWICE_MAX {
            self.sql.push_str("EXISTS (");
            self.write_related_rows(by, rows, scope, None);
            self.sql.push_str(" OFFSET 0)");
        } else {
            self.sql.push_str("(EXISTS (");
            self.write_related_rows(by, rows, scope, None);
            self.sql.push_str(") OR (1 = 0))");
        }
        self.alone -= 1;
    }

    pub(super) fn compare(&mut self, of: &Expr, by: Comparison, with: &Parameter, scope: Scope) {
        let shown_if = match of {
            Expr::Column(column) => self.shown_if(scope, *column),
            _ => None,
        };
        // The stored column is compared, as its type and collation decide.
        let row = if shown_if.is_some() { scope.raw() } else { scope };
        let left = self.render_aside(|it| it.expr(of, row));
        // A column of the statement holds one value for each parent, never a list.
        let single = self.is_of_parents(with);
        let by = match by {
            Comparison::In if single => Comparison::Eq,
            Comparison::Nin if single => Comparison::Neq,
            _ => by,
        };
        let ty = self.ty(of, scope.table);
        let right = self.bind(with, self.dialect.compared_type(ty, by));
        let side = Side {
            placeholder: &right,
            reader: &with.reader,
            behind: self.is_behind,
            bare: !self.is_column(of, scope.table),
            storage: self.storage(of, scope.table),
            ty,
        };
        if !single {
            let judge = self.dialect.judge_value(by, side);
            self.judge(judge);
        }
        let Some(shown_if) = shown_if else { return self.write_comparison(&left, of, by, side, scope) };
        self.sql.push_str(&format!("CASE WHEN {shown_if} THEN "));
        self.write_comparison(&left, of, by, side, scope);
        // A hidden cell is null. Null is in no empty list and not unknown to be.
        if matches!(by, Comparison::In | Comparison::Nin) {
            self.sql.push_str(" ELSE ");
            self.write_comparison("NULL", of, by, side, scope);
        }
        self.sql.push_str(" END");
    }

    /// `left`, which is `of` or null, against a value that is bound.
    fn write_comparison(&mut self, left: &str, of: &Expr, by: Comparison, side: Side<'_>, scope: Scope) {
        match (of, by) {
            (Expr::Column(it), Comparison::Eq | Comparison::In)
                if self.relations.catalog.table(scope.table).column(*it).by_prefix =>
            {
                self.sql.push('(');
                self.dialect.prefix_condition(&mut self.sql, left, by, side.placeholder);
                self.sql.push_str(" AND ");
                self.dialect.compare(&mut self.sql, left, by, side);
                self.sql.push(')');
            }
            (_, _) => self.dialect.compare(&mut self.sql, left, by, side),
        }
    }

    /// True if a value stands in a column of the statement.
    fn is_of_parents(&self, value: &Parameter) -> bool {
        self.parents.iter().any(|it| it.origin == value.origin)
    }

    fn measure(&mut self, of: &Expr, by: Measure, with: &[Option<Parameter>], scope: Scope) {
        let left = self.render_aside(|it| it.expr(of, scope));
        let ty = self.ty(of, scope.table);
        let mut values = Vec::with_capacity(with.len());
        for (at, value) in with.iter().enumerate() {
            let bound = self.dialect.measured_type(ty, by, at);
            let text = value.as_ref().map(|it| self.bind(it, bound));
            // A column of the statement is no value of the request.
            let given = text.as_deref().filter(|_| value.as_ref().is_none_or(|it| !self.is_of_parents(it)));
            let judge = given.and_then(|it| self.dialect.judge_measure_value(by, at, it, ty));
            self.judge(judge);
            values.push(text);
        }
        let text = self.dialect.measure(&left, by, &values, ty);
        self.sql.push_str(&text);
    }

    /// True for a column, whose type the database knows. Those of views may be expressions, which have none.
    fn is_column(&self, of: &Expr, table: TableId) -> bool {
        match of {
            Expr::Column(_) => self.relations.catalog.table(table).kind != TableKind::View,
            Expr::Cast(of, _) => self.is_column(of, table),
            _ => false,
        }
    }

    /// Ways in which the values of an expression over `table` may be stored.
    pub(super) fn storage(&self, of: &Expr, table: TableId) -> Storage {
        match of {
            Expr::Column(column) | Expr::Key(column) => {
                self.relations.catalog.table(table).column(*column).storage
            }
            Expr::Related { by, of, .. } => self.storage(of, self.relations.relationship(*by).to),
            Expr::JsonPath(..)
            | Expr::Cast(..)
            | Expr::Computed(_)
            | Expr::Row
            | Expr::Snapshot
            | Expr::Null
            | Expr::Count { .. }
            | Expr::Function(..)
            | Expr::Instant { .. }
            | Expr::Statistic { .. } => Storage::Exact,
        }
    }

    /// Appends an expression in the form by which it compares as clients see it.
    pub(crate) fn comparable_expr(&mut self, of: &Expr, scope: Scope) {
        let text = self.render_aside(|it| it.expr(of, scope));
        let text = self.dialect.comparable(text, self.storage(of, scope.table));
        self.sql.push_str(&text);
    }

    fn write_chain(&mut self, parts: &[Filter], word: &str, empty: &str, scope: Scope) {
        match parts {
            [] => return self.sql.push_str(empty),
            [only] => return self.filter(only, scope),
            [_, _, ..] => self.sql.push('('),
        }
        if parts.len() > FLAT_MAX {
            // A flat chain is as deep as it is long, and databases bound the depth of an expression.
            let (first, rest) = parts.split_at(parts.len() / 2);
            self.write_chain(first, word, empty, scope);
            self.sql.push_str(word);
            self.write_chain(rest, word, empty, scope);
        } else {
            for (at, part) in parts.iter().enumerate() {
                self.sql.push_str(if at == 0 { "" } else { word });
                self.filter(part, scope);
            }
        }
        self.sql.push(')');
    }
}
