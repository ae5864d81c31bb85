//! Relational plans become SQL text, through the border of a [`Dialect`].
//!
//! Identifiers are always quoted, values always bound: a statement's text depends on the plan alone.
//!
//! **Cost:** linear in the query; run once per plan and form.

use crate::catalog::Relations;
use crate::catalog::{ColumnId, ColumnType, TableId};
use crate::plan::operators::{Aggregation, Statistic};
use crate::plan::{Call, Expr, Filter, Origin, Output, Parameter, Query, Reader, Scan};

pub mod assemble;
mod assembly;
mod barrier;
pub mod ddl;
mod filter;
mod function_calls;
mod gathered;
mod guard;
mod merged;
mod nested;
mod row_clauses;
mod slots;
pub mod together;
pub mod write;

use crate::dialect::postgres::Postgres;
use crate::dialect::{Dialect, Usual};
use function_calls::RowOf;
use guard::{Guard, Wall};
pub(crate) use row_clauses::nest_scope;

/// A statement and its parameters: parameter `i` is placeholder `i + 1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The text.
    pub sql: String,
    /// Parameters in the order of their placeholders.
    pub parameters: Vec<Parameter>,
    /// Every table it reads.
    pub tables: Vec<TableId>,
}

/// Renders `query`.
pub fn render(dialect: &dyn Dialect, relations: &Relations, query: &Query) -> Statement {
    let mut renderer = Renderer::new(dialect, relations, 0);
    let parts = renderer.query(query);
    let sql = renderer.replace_marks(parts.sql());
    let sql = renderer.with_judgement(sql, Some(query));
    let sql = renderer.with_natives(sql);
    Statement { sql, parameters: renderer.parameters, tables: renderer.tables }
}

/// Writes one statement.
pub(crate) struct Renderer<'r> {
    pub(crate) dialect: &'r dyn Dialect,
    pub(crate) relations: &'r Relations,
    pub(crate) sql: String,
    pub(crate) parameters: Vec<Parameter>,
    /// Parallel to the parameters: the number of the type in which each is bound.
    pub(crate) types: Vec<u32>,
    pub(crate) aliases: u32,
    pub(crate) tables: Vec<TableId>,
    /// Placeholders that come before those of the parameters.
    pub(crate) first: usize,
    /// Origins whose value is a column of the statement instead of a parameter.
    pub(crate) parents: Vec<ParentKey>,
    /// Origins whose value comes from the one row that was read before the statement.
    pub(crate) before: Vec<ParentKey>,
    /// Number of `EXISTS` in the current condition.
    exists: u32,
    /// Number of open `EXISTS` that are not turned into joins.
    alone: u32,
    /// True inside a condition on each word of a text.
    in_each: bool,
    /// A change returns its rows.
    returns_rows: bool,
    /// Calls of functions that stand in place of tables, by their aliases.
    calls: Vec<(u32, Call, Option<RowOf>)>,
    /// The aliases of all calls that stand in place of tables.
    called: Vec<u32>,
    /// The common table expressions of statements of the configuration, each as `n0 AS (…)`.
    natives: Vec<String>,
    /// Columns that are hidden in some rows, by the aliases of their tables.
    guards: Vec<Guard>,
    /// The policies behind which values of rows are computed, by the aliases of their tables.
    walls: Vec<Wall>,
    /// Policies of the scans around the current condition.
    barriers: Vec<(Scope, Filter)>,
    /// True if the current condition is behind these policies.
    is_behind: bool,
    /// The policies that the exact test of a place is behind.
    place_behind: Option<String>,
    /// Expressions of values of the request that fail if one is broken.
    judges: Vec<String>,
    /// The row that the current condition of the policy restricts.
    root: Option<Scope>,
    /// Rows gathered by key, joined to the table with the alias.
    gathered: Vec<(u32, String)>,
    /// Aliases of the tables that rows may be joined to.
    joinable: Vec<u32>,
    /// Values come as text in the columns of the relation `m`, and are cast to types of this dialect: see `together`.
    pub(crate) members: Option<&'r Postgres>,
}

/// Makes every point in time of four digits' years a positive number of as many digits as this.
const INSTANT_OFFSET: i64 = 2_000_000_000_000_000_000;

/// A key of the parents that a statement holds as a column.
#[derive(Clone, Debug)]
pub(crate) struct ParentKey {
    pub(crate) origin: Origin,
    pub(crate) column: String,
    /// The number of its type, known from its first use or before.
    pub(crate) ty: Option<u32>,
}

/// The rows of a scan that fulfil a filter.
#[derive(Clone, Copy)]
pub(crate) struct FilteredRows<'p> {
    pub(crate) scan: &'p Scan,
    pub(crate) filter: &'p Filter,
}

/// A table under an alias.
#[derive(Clone, Copy)]
pub(crate) struct Scope {
    pub(crate) table: TableId,
    pub(crate) alias: u32,
    /// Reads stored values instead of visible ones: for the policy itself, and for ties of rows.
    pub(crate) is_raw: bool,
    /// Set after `RETURNING` or in the change of a view, where some databases know the table by its own name only.
    pub(crate) is_named: bool,
}

impl Scope {
    pub(crate) const fn new(table: TableId, alias: u32) -> Self {
        Self { table, alias, is_raw: false, is_named: false }
    }

    /// The scope with hidden columns readable.
    pub(crate) const fn raw(self) -> Self {
        Self { is_raw: true, ..self }
    }
}

/// A query in parts, to be embedded into a larger one.
pub(crate) struct QueryParts {
    /// `DISTINCT ON (…) `, or nothing.
    pub(crate) distinct: String,
    /// Texts of the output columns.
    pub(crate) columns: Vec<String>,
    /// Text from ` FROM` on.
    pub(crate) rest: String,
}

impl QueryParts {
    /// The query alone.
    pub(crate) fn sql(&self) -> String {
        let columns = if self.columns.is_empty() { "1".to_owned() } else { self.columns.join(", ") };
        format!("SELECT {}{columns}{}", self.distinct, self.rest)
    }
}

impl<'r> Renderer<'r> {
    pub(crate) const fn new(dialect: &'r dyn Dialect, relations: &'r Relations, first: usize) -> Self {
        Self {
            dialect,
            relations,
            sql: String::new(),
            parameters: Vec::new(),
            types: Vec::new(),
            aliases: 0,
            tables: Vec::new(),
            first,
            parents: Vec::new(),
            before: Vec::new(),
            exists: 0,
            alone: 0,
            in_each: false,
            returns_rows: true,
            calls: Vec::new(),
            called: Vec::new(),
            natives: Vec::new(),
            guards: Vec::new(),
            walls: Vec::new(),
            barriers: Vec::new(),
            is_behind: false,
            place_behind: None,
            judges: Vec::new(),
            root: None,
            gathered: Vec::new(),
            joinable: Vec::new(),
            members: None,
        }
    }

    pub(crate) fn alias(&mut self, table: TableId) -> Scope {
        self.aliases += 1;
        if !self.tables.contains(&table) {
            self.tables.push(table);
        }
        Scope::new(table, self.aliases - 1)
    }

    pub(crate) fn write_alias(&mut self, alias: u32) {
        self.sql.push('t');
        self.sql.push_str(&alias.to_string());
    }

    pub(crate) fn query(&mut self, query: &Query) -> QueryParts {
        let scope = self.scope(query);
        match &query.output {
            Output::Rows(columns) if query.page.from_end => {
                let outer = self.alias(query.table());
                self.guard(outer, &query.scan);
                let columns = self.columns(columns, outer);
                let rest = self.render_aside(|it| it.last_rows(query, scope, outer));
                QueryParts { distinct: String::new(), columns, rest }
            }
            Output::Rows(columns) if query.distinct_on.is_empty() || self.dialect.distinct_on() => {
                let columns = self.columns(columns, scope);
                let distinct = self.render_aside(|it| it.distinct_columns(&query.distinct_on, scope));
                let rest = self.render_aside(|it| it.rows(query, scope));
                QueryParts { distinct, columns, rest }
            }
            Output::Rows(columns) => {
                let outer = Scope::new(scope.table, scope.alias + 1);
                self.guard(outer, &query.scan);
                let columns = self.columns(columns, outer);
                let rest = self.render_aside(|it| it.distinct(query, scope));
                QueryParts { distinct: String::new(), columns, rest }
            }
            Output::Aggregate(columns) => self.aggregate(query, columns, scope),
            Output::Groups { by, columns, having } => self.groups(query, by, columns, having, scope),
        }
    }

    fn distinct_columns(&mut self, columns: &[ColumnId], scope: Scope) {
        for (at, &column) in columns.iter().enumerate() {
            self.sql.push_str(if at == 0 { "DISTINCT ON (" } else { ", " });
            self.column(scope, column);
        }
        self.sql.push_str(if columns.is_empty() { "" } else { ") " });
    }

    fn aggregate(&mut self, query: &Query, columns: &[Expr], scope: Scope) -> QueryParts {
        let paged = query.page.limit.is_some() || query.page.offset.is_some();
        if query.distinct_on.is_empty() && !paged {
            let columns = self.aggregates(columns, scope);
            let rest = self.render_aside(|it| {
                it.read_from(query, scope);
                it.conditions(query, scope, " WHERE ");
            });
            return QueryParts { distinct: String::new(), columns, rest };
        }
        let outer_scope = Scope::new(scope.table, scope.alias + 2);
        self.guard(outer_scope, &query.scan);
        let columns = self.aggregates(columns, outer_scope);
        let rest = self.render_aside(|it| {
            it.sql.push_str(" FROM (SELECT ");
            if query.distinct_on.is_empty() || it.dialect.distinct_on() {
                it.distinct_columns(&query.distinct_on, scope);
                it.all_columns(scope);
                it.rows(query, scope);
            } else {
                it.write_alias(scope.alias + 1);
                it.sql.push_str(".*");
                it.distinct(query, scope);
            }
            it.sql.push_str(") AS ");
            it.write_alias(outer_scope.alias);
            it.aliases = it.aliases.max(outer_scope.alias + 1);
        });
        QueryParts { distinct: String::new(), columns, rest }
    }

    /// The columns of an aggregate, one at least: only a function makes one row of no rows and of many.
    fn aggregates(&mut self, columns: &[Expr], scope: Scope) -> Vec<String> {
        match columns {
            [] => vec!["count(*)".to_owned()],
            _ => self.columns(columns, scope),
        }
    }

    fn groups(
        &mut self,
        query: &Query,
        by: &[ColumnId],
        columns: &[Expr],
        having: &Filter,
        scope: Scope,
    ) -> QueryParts {
        let columns = self.columns(columns, scope);
        let rest = self.render_aside(|it| {
            it.read_from(query, scope);
            it.conditions(query, scope, " WHERE ");
            for (at, &column) in by.iter().enumerate() {
                it.sql.push_str(if at == 0 { " GROUP BY " } else { ", " });
                it.comparable_expr(&Expr::Column(column), scope);
            }
            if !having.is_true() {
                it.sql.push_str(" HAVING ");
                it.filter(having, scope);
            }
            it.order(query, scope);
            it.page(&query.page);
        });
        QueryParts { distinct: String::new(), columns, rest }
    }

    /// The text of each output column.
    pub(crate) fn columns(&mut self, columns: &[Expr], scope: Scope) -> Vec<String> {
        let text = |of: &Expr| {
            if let Expr::Function(Aggregation::Sum, column) = of
                && self.relations.catalog.table(scope.table).column(*column).ty == ColumnType::BigInt
            {
                let column = self.render_aside(|it| it.column(scope, *column));
                return self.dialect.wide_sum(&column);
            }
            let text = self.render_aside(|it| it.expr(of, scope));
            self.output_form(of, text, scope.table)
        };
        columns.iter().map(text).collect()
    }

    /// The `text` of an output column in the form in which it is read.
    pub(super) fn output_form(&self, of: &Expr, text: String, table: TableId) -> String {
        match of {
            Expr::Column(_) | Expr::Key(_) | Expr::Computed(_) => {
                self.dialect.output_form(text, self.ty(of, table))
            }
            Expr::JsonPath(..)
            | Expr::Row
            | Expr::Snapshot
            | Expr::Null
            | Expr::Count { .. }
            | Expr::Function(..)
            | Expr::Instant { .. }
            | Expr::Statistic { .. }
            | Expr::Related { .. }
            | Expr::Cast(..) => text,
        }
    }

    /// The number of the type of an output column over `table`.
    pub(crate) fn shown_type(&self, of: &Expr, table: TableId) -> u32 {
        let ty = self.ty(of, table);
        if matches!(of, Expr::Column(_) | Expr::Key(_) | Expr::Computed(_)) {
            self.dialect.shown_type(ty)
        } else {
            ty
        }
    }

    /// The number of an expression's type over `table`.
    pub(crate) fn ty(&self, of: &Expr, table: TableId) -> u32 {
        let column = |column: &ColumnId| self.relations.catalog.table(table).column(*column).oid;
        match of {
            Expr::Column(of) | Expr::Key(of) => column(of),
            Expr::JsonPath(of, _) => self.ty(of, table),
            Expr::Computed(call) => self.relations.function(call.function).1.returns,
            Expr::Null | Expr::Row | Expr::Snapshot => self.dialect.usual(Usual::Text),
            Expr::Count { .. } => self.dialect.usual(Usual::Integer),
            Expr::Function(function, of) => self.dialect.function_type(*function, column(of)),
            Expr::Instant { text, .. } => column(text),
            Expr::Statistic { columns, .. } => {
                columns.first().map_or(0, |it| self.dialect.function_type(Aggregation::Avg, column(it)))
            }
            Expr::Related { by, of, .. } => self.ty(of, self.relations.relationship(*by).to),
            Expr::Cast(of, to) => self.dialect.cast_type(self.ty(of, table), *to),
        }
    }

    pub(crate) fn write_from(&mut self, scope: Scope) {
        self.sql.push_str(" FROM ");
        self.read_table(scope);
    }

    /// The table under its alias.
    pub(crate) fn table(&mut self, scope: Scope) {
        if let Some(at) = self.calls.iter().position(|it| it.0 == scope.alias) {
            let (_, call, row) = self.calls.swap_remove(at);
            match &self.relations.function(call.function).1.code {
                Some(code) => self.native_rows(&call, code),
                None => self.call(&call, row),
            }
        } else {
            let table = self.relations.catalog.table(scope.table);
            self.dialect.table(&mut self.sql, &table.schema, &table.name);
        }
        self.sql.push_str(" AS ");
        self.write_alias(scope.alias);
    }

    /// The table under its alias, where rows are read from it or changed.
    pub(crate) fn read_table(&mut self, scope: Scope) {
        self.table(scope);
        if self.relations.catalog.table(scope.table).has_broken_index {
            self.sql.push_str(self.dialect.without_indexes());
        }
    }

    /// An output column of the parent's row, used as one of type `ty`.
    pub(crate) fn parent_value(&mut self, column: u16, ty: u32) -> String {
        let origin = Origin::ParentColumn(column);
        self.bind(&Parameter { origin, reader: Reader::AsIs, path: "".into() }, ty)
    }

    /// The placeholder of a new parameter that is bound in the type with that number.
    pub(crate) fn bind(&mut self, parameter: &Parameter, ty: u32) -> String {
        let keys = self.parents.iter_mut().chain(&mut self.before);
        if let Some(key) = keys.into_iter().find(|it| it.origin == parameter.origin) {
            let first = *key.ty.get_or_insert(ty);
            return self.dialect.parent_key(key.column.clone(), first, ty);
        }
        if let Some(known) = self.find_bound(parameter, ty) {
            return self.value(known);
        }
        self.parameters.push(parameter.clone());
        self.types.push(ty);
        self.value(self.parameters.len() - 1)
    }

    /// The value of a parameter.
    fn value(&self, at: usize) -> String {
        match self.members {
            Some(dialect) => format!("m.v{at}::{}", dialect.cast_name(self.types[at])),
            None => self.dialect.placeholder(self.first + at + 1),
        }
    }

    /// Index of an equal parameter that is bound already. Sharing it keeps the texts of equal expressions equal.
    fn find_bound(&self, parameter: &Parameter, ty: u32) -> Option<usize> {
        let is_shared = matches!(
            parameter.origin,
            Origin::Claim(_)
                | Origin::Session
                | Origin::Constant(_)
                | Origin::Encoded(_)
                | Origin::Position(_)
        );
        if !is_shared {
            return None;
        }
        let is_same = |(it, of): (&Parameter, &u32)| {
            it.origin == parameter.origin && it.reader == parameter.reader && *of == ty
        };
        self.parameters.iter().zip(&self.types).position(is_same)
    }

    /// A column as clients see it: null in rows that hide it.
    pub(crate) fn column(&mut self, scope: Scope, column: ColumnId) {
        let Some(shown_if) = self.shown_if(scope, column) else {
            return self.write_stored_column(scope, column);
        };
        self.sql.push_str("CASE WHEN ");
        self.sql.push_str(&shown_if);
        self.sql.push_str(" THEN ");
        self.write_stored_column(scope, column);
        self.sql.push_str(" END");
    }

    /// Writes a column in its stored form.
    pub(crate) fn write_stored_column(&mut self, scope: Scope, column: ColumnId) {
        let table = &self.relations.catalog.tables[scope.table.0 as usize];
        if scope.is_named && self.dialect.returns_by_name() {
            self.dialect.identifier(&mut self.sql, &table.name)
        } else {
            self.write_alias(scope.alias)
        }
        self.sql.push('.');
        self.dialect.identifier(&mut self.sql, &table.columns[column.0 as usize].name);
    }

    /// A column as clients see it, in the form by which it compares so.
    fn comparable(&mut self, column: ColumnId, scope: Scope) -> String {
        self.render_aside(|it| it.comparable_expr(&Expr::Column(column), scope))
    }

    /// Text that `write` appends, removed from the statement again.
    pub(crate) fn render_aside(&mut self, write: impl FnOnce(&mut Self)) -> String {
        let start = self.sql.len();
        write(self);
        self.sql.split_off(start)
    }

    /// Makes a sum, written from `start` on, fail over a column that holds what is no number.
    fn guard_sum(&mut self, start: usize, function: Aggregation, column: ColumnId, text: &str, scope: Scope) {
        let is_sum = matches!(function, Aggregation::Avg | Aggregation::Sum);
        if is_sum && self.relations.catalog.table(scope.table).column(column).is_loose {
            let sum = self.sql.split_off(start);
            self.sql.push_str(&self.dialect.sum_of_numbers(sum, text));
        }
    }

    pub(crate) fn expr(&mut self, expr: &Expr, scope: Scope) {
        match expr {
            Expr::Column(column) => self.column(scope, *column),
            Expr::Key(column) => self.write_stored_column(scope, *column),
            Expr::Computed(call) => self.write_computed_field(call, scope),
            Expr::Row => self.row(scope),
            Expr::Snapshot => self.sql.push_str(self.dialect.snapshot()),
            Expr::JsonPath(of, path) => {
                let column = self.render_aside(|it| it.expr(of, scope));
                let path = self.bind(path, self.dialect.usual(Usual::Texts));
                self.dialect.json_path(&mut self.sql, &column, &path);
            }
            Expr::Null => self.sql.push_str("NULL"),
            Expr::Count { columns, distinct } => {
                let columns: Vec<String> = columns.iter().map(|&it| self.comparable(it, scope)).collect();
                self.dialect.count(&mut self.sql, &columns, *distinct);
            }
            Expr::Function(function, column) => {
                let ty = self.ty(&Expr::Column(*column), scope.table);
                let text = self.comparable(*column, scope);
                let start = self.sql.len();
                self.dialect.function(&mut self.sql, *function, &text, ty);
                self.guard_sum(start, *function, *column, &text, scope);
            }
            Expr::Instant { function, text, at } => {
                let [text, at] = [text, at].map(|it| self.render_aside(|to| to.column(scope, *it)));
                // All of one length, so that texts are in the order of the numbers they begin with.
                let moment = format!("CAST({at} + {INSTANT_OFFSET} AS text) || {text}");
                let mut found = String::new();
                let moment = self.dialect.in_order_of_bytes(moment);
                let ty = self.dialect.usual(Usual::Text);
                self.dialect.function(&mut found, *function, &moment, ty);
                self.sql.push_str(&format!("substr({found}, {})", INSTANT_OFFSET.to_string().len() + 1));
            }
            Expr::Statistic { function, columns, distinct } => {
                let ty = columns.first().map_or(0, |&it| self.ty(&Expr::Column(it), scope.table));
                let texts: Vec<String> =
                    columns.iter().map(|&column| self.render_aside(|it| it.column(scope, column))).collect();
                let start = self.sql.len();
                self.dialect.statistic(&mut self.sql, *function, &texts, *distinct, ty);
                if let (Statistic::Of(function), [column], [text]) = (*function, &**columns, &*texts) {
                    self.guard_sum(start, function, *column, text, scope);
                }
            }
            Expr::Cast(of, to) => {
                let ty = self.ty(of, scope.table);
                let of = self.render_aside(|it| it.expr(of, scope));
                let cast = self.dialect.cast(of, ty, *to);
                self.sql.push_str(&cast);
            }
            Expr::Related { by, scan, filter, of } => {
                self.related_value(*by, FilteredRows { scan, filter }, scope, of);
            }
        }
    }
}

#[cfg(test)]
mod tests;
