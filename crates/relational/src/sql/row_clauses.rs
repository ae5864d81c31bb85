//! Renders what follows the columns of a query: `FROM`, conditions, order.
//!
//! **Invariant:** a query's table of pairs has the alias after that of its table.

use super::{Renderer, Scope};
use crate::catalog::ColumnId;
use crate::dialect::Usual;
use crate::plan::{Expr, Page, Query, Tie};

/// The table that the columns of a query's `nest` are of.
pub(crate) const fn nest_scope(query: &Query, scope: Scope) -> Scope {
    match &query.through {
        Some((through, _)) => Scope::new(through.table, scope.alias + 1),
        None => scope,
    }
}

impl Renderer<'_> {
    pub(super) fn rows(&mut self, query: &Query, scope: Scope) {
        self.read_from(query, scope);
        self.conditions(query, scope, " WHERE ");
        self.order(query, scope);
        self.page(&query.page);
    }

    /// All columns of the table in `scope`, as far as they may be read.
    pub(crate) fn all_columns(&mut self, scope: Scope) {
        let table = self.relations.catalog.table(scope.table);
        if table.is_whole {
            self.write_alias(scope.alias);
            return self.sql.push_str(".*");
        }
        for at in 0..table.columns.len() as u32 {
            self.sql.push_str(if at == 0 { "" } else { ", " });
            self.write_stored_column(scope, ColumnId(at));
        }
    }

    /// The last rows of an order: the first ones of its reverse, put right again.
    pub(super) fn last_rows(&mut self, query: &Query, scope: Scope, outer: Scope) {
        let reversed = query.to_reversed();
        self.sql.push_str(" FROM (SELECT ");
        self.all_columns(scope);
        self.rows(&reversed, scope);
        self.sql.push_str(") AS ");
        self.write_alias(outer.alias);
        self.order(&Query { through: None, ..query.clone() }, outer);
    }

    /// Rows numbered within each value of `distinct_on`, of which the first stays.
    pub(super) fn distinct(&mut self, query: &Query, scope: Scope) {
        let outer = scope.alias + 1;
        self.aliases = self.aliases.max(scope.alias + 3);
        self.sql.push_str(" FROM (SELECT ");
        self.all_columns(scope);
        for (at, term) in query.order.iter().enumerate() {
            self.sql.push_str(", ");
            self.comparable_expr(&term.of, scope);
            self.sql.push_str(&format!(" AS weir_order_{at}"));
        }
        self.sql.push_str(", row_number() OVER (PARTITION BY ");
        for (at, &column) in query.distinct_on.iter().enumerate() {
            self.sql.push_str(if at == 0 { "" } else { ", " });
            self.comparable_expr(&Expr::Column(column), scope);
        }
        self.order(query, scope);
        self.sql.push_str(") AS weir_place");
        self.read_from(query, scope);
        self.conditions(query, scope, " WHERE ");
        self.sql.push_str(") AS ");
        self.write_alias(outer);
        self.sql.push_str(" WHERE ");
        self.write_alias(outer);
        self.sql.push_str(".weir_place = 1");
        for (at, term) in query.order.iter().enumerate() {
            self.sql.push_str(if at == 0 { " ORDER BY " } else { ", " });
            self.write_alias(outer);
            self.sql.push_str(&format!(".weir_order_{at}"));
            self.dialect.direction(&mut self.sql, term);
        }
        self.page(&query.page);
    }

    /// Appends a query's table, joined with its table of pairs.
    pub(crate) fn source(&mut self, query: &Query, scope: Scope) {
        if let Some((through, ours)) = &query.through {
            let pairs = nest_scope(query, scope);
            self.read_table(pairs);
            self.sql.push_str(" JOIN ");
            self.read_table(scope);
            self.sql.push_str(" ON ");
            self.write_stored_column(scope, *ours);
            self.sql.push_str(" = ");
            self.write_stored_column(pairs, through.theirs);
        } else {
            self.joinable_table(scope);
        }
    }

    pub(crate) fn read_from(&mut self, query: &Query, scope: Scope) {
        self.sql.push_str(" FROM ");
        self.source(query, scope);
    }

    pub(crate) fn conditions(&mut self, query: &Query, scope: Scope, first: &str) {
        let mut word = first;
        let nested = nest_scope(query, scope);
        for &(tie, parent) in &query.nest {
            let Tie::Column(column) = tie else { continue };
            self.sql.push_str(word);
            word = " AND ";
            let ty = self.ty(&Expr::Column(column), nested.table);
            let key = self.parent_value(parent, ty);
            self.write_tie(nested, column, &key);
        }
        if query.call.as_ref().is_some_and(|it| !self.relations.function(it.function).1.is_set) {
            self.sql.push_str(word);
            word = " AND ";
            self.is_there(scope);
        }
        self.exists = 0;
        self.both(word, &query.scan, &query.filter, scope);
    }

    /// Columns that equal a column of the table of pairs are sorted by the latter, as its index is.
    pub(crate) fn order(&mut self, query: &Query, scope: Scope) {
        for (at, term) in query.order.iter().enumerate() {
            self.sql.push_str(if at == 0 { " ORDER BY " } else { ", " });
            match (&query.through, &term.of) {
                (Some((through, ours)), Expr::Column(column))
                    if column == ours && self.shown_if(scope, *column).is_none() =>
                {
                    self.write_stored_column(nest_scope(query, scope), through.theirs);
                }
                _ => self.comparable_expr(&term.of, scope),
            }
            self.dialect.direction(&mut self.sql, term);
        }
    }

    pub(super) fn page(&mut self, page: &Page) {
        let (limit, offset) = self.page_values(page);
        self.dialect.page(&mut self.sql, limit.as_deref(), offset.as_deref());
    }

    /// The placeholders of limit and offset.
    pub(crate) fn page_values(&mut self, page: &Page) -> (Option<String>, Option<String>) {
        let integer = self.dialect.usual(Usual::Integer);
        let limit = page.limit.as_ref().map(|it| self.bind(it, integer));
        (limit, page.offset.as_ref().map(|it| self.bind(it, integer)))
    }
}
