//! Relational plans become SQL text, through the border of a [`Dialect`].
//!
//! Identifiers are always quoted, values always bound: a statement's text depends on the plan alone.
//!
//! **Cost:** linear in the query; run once per plan and form.

use crate::catalog::{ColumnId, TableId};
use crate::model::{Model, RelationshipId};
use crate::relational::{Expr, Filter, Order, Origin, Output, Page, Parameter, Query, Reader};

pub mod change;
pub mod dialect;
pub mod sqlite;

use dialect::{Dialect, Side};

/// So many conditions are joined side by side; more become a balanced tree.
const FLAT_MAX: usize = 16;

/// A statement and what has to be bound: parameter `i` is placeholder `i + 1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The text.
    pub sql: String,
    /// What is bound.
    pub parameters: Vec<Parameter>,
    /// Every table it reads.
    pub tables: Vec<TableId>,
}

/// Renders `query`.
#[must_use]
pub fn render(dialect: &dyn Dialect, model: &Model, query: &Query) -> Statement {
    let mut renderer = Renderer {
        dialect,
        model,
        sql: String::new(),
        parameters: Vec::new(),
        aliases: 0,
        tables: Vec::new(),
        first: 0,
    };
    renderer.query(query);
    Statement { sql: renderer.sql, parameters: renderer.parameters, tables: renderer.tables }
}

struct Renderer<'r> {
    dialect: &'r dyn Dialect,
    model: &'r Model,
    sql: String,
    parameters: Vec<Parameter>,
    aliases: u32,
    tables: Vec<TableId>,
    /// Placeholders that come before those of the parameters.
    first: usize,
}

/// A table under an alias.
#[derive(Clone, Copy)]
struct Scope {
    table: TableId,
    alias: u32,
}

impl Renderer<'_> {
    fn alias(&mut self, table: TableId) -> Scope {
        self.aliases += 1;
        if !self.tables.contains(&table) {
            self.tables.push(table);
        }
        Scope { table, alias: self.aliases - 1 }
    }

    fn write_alias(&mut self, alias: u32) {
        self.sql.push('t');
        self.sql.push_str(&alias.to_string());
    }

    fn query(&mut self, query: &Query) {
        let scope = self.alias(query.table);
        match &query.output {
            Output::Rows(columns) if query.distinct_on.is_empty() => {
                self.select(columns, scope);
                self.from(scope);
                self.conditions(query, scope);
                self.order(&query.order, scope);
                self.page(&query.page);
            }
            Output::Rows(columns) => {
                let outer = Scope { table: scope.table, alias: scope.alias + 1 };
                self.select(columns, outer);
                self.distinct(query, scope);
            }
            Output::Aggregate(columns) => self.aggregate(query, columns, scope),
            Output::Groups { by, columns, having } => self.groups(query, by, columns, having, scope),
        }
    }

    fn aggregate(&mut self, query: &Query, columns: &[Expr], scope: Scope) {
        let paged = query.page.limit.is_some() || query.page.offset.is_some();
        if query.distinct_on.is_empty() && !paged {
            self.select(columns, scope);
            self.from(scope);
            self.conditions(query, scope);
            return;
        }
        let over = Scope { table: scope.table, alias: scope.alias + 2 };
        self.select(columns, over);
        self.sql.push_str(" FROM (SELECT ");
        if query.distinct_on.is_empty() {
            self.write_alias(scope.alias);
            self.sql.push_str(".*");
            self.from(scope);
            self.conditions(query, scope);
            self.order(&query.order, scope);
            self.page(&query.page);
        } else {
            self.write_alias(scope.alias + 1);
            self.sql.push_str(".*");
            self.distinct(query, scope);
        }
        self.sql.push_str(") AS ");
        self.write_alias(over.alias);
        self.aliases = self.aliases.max(over.alias + 1);
    }

    /// Rows numbered within each value of `distinct_on`, of which the first stays.
    fn distinct(&mut self, query: &Query, scope: Scope) {
        let outer = scope.alias + 1;
        self.aliases = self.aliases.max(scope.alias + 3);
        self.sql.push_str(" FROM (SELECT ");
        self.write_alias(scope.alias);
        self.sql.push_str(".*");
        for (at, term) in query.order.iter().enumerate() {
            self.sql.push_str(", ");
            self.expr(&term.of, scope);
            self.sql.push_str(&format!(" AS weir_order_{at}"));
        }
        self.sql.push_str(", row_number() OVER (PARTITION BY ");
        for (at, &column) in query.distinct_on.iter().enumerate() {
            self.sql.push_str(if at == 0 { "" } else { ", " });
            self.column(scope, column);
        }
        self.order(&query.order, scope);
        self.sql.push_str(") AS weir_place");
        self.from(scope);
        self.conditions(query, scope);
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

    fn groups(&mut self, query: &Query, by: &[ColumnId], columns: &[Expr], having: &Filter, scope: Scope) {
        self.select(columns, scope);
        self.from(scope);
        self.conditions(query, scope);
        for (at, &column) in by.iter().enumerate() {
            self.sql.push_str(if at == 0 { " GROUP BY " } else { ", " });
            self.column(scope, column);
        }
        if !having.is_true() {
            self.sql.push_str(" HAVING ");
            self.filter(having, scope);
        }
        self.order(&query.order, scope);
        self.page(&query.page);
    }

    fn select(&mut self, columns: &[Expr], scope: Scope) {
        self.sql.push_str("SELECT ");
        if columns.is_empty() {
            self.sql.push('1');
        }
        for (at, column) in columns.iter().enumerate() {
            self.sql.push_str(if at == 0 { "" } else { ", " });
            self.expr(column, scope);
        }
    }

    fn from(&mut self, scope: Scope) {
        let table = &self.model.catalog.tables[scope.table.0 as usize];
        self.sql.push_str(" FROM ");
        self.dialect.table(&mut self.sql, &table.schema, &table.name);
        self.sql.push_str(" AS ");
        self.write_alias(scope.alias);
    }

    fn conditions(&mut self, query: &Query, scope: Scope) {
        let mut word = " WHERE ";
        for &(column, parent) in &query.nest {
            self.sql.push_str(word);
            word = " AND ";
            self.column(scope, column);
            self.sql.push_str(" = ");
            let origin = Origin::ParentColumn(parent);
            let key = self.bind(&Parameter { origin, reader: Reader::AsIs, path: "".into() });
            self.sql.push_str(&key);
        }
        if !query.filter.is_true() {
            self.sql.push_str(word);
            self.filter(&query.filter, scope);
        }
    }

    fn order(&mut self, order: &[Order], scope: Scope) {
        for (at, term) in order.iter().enumerate() {
            self.sql.push_str(if at == 0 { " ORDER BY " } else { ", " });
            self.expr(&term.of, scope);
            self.dialect.direction(&mut self.sql, term);
        }
    }

    fn page(&mut self, page: &Page) {
        let limit = page.limit.as_ref().map(|it| self.bind(it));
        let offset = page.offset.as_ref().map(|it| self.bind(it));
        self.dialect.page(&mut self.sql, limit.as_deref(), offset.as_deref());
    }

    /// The placeholder of a new parameter.
    fn bind(&mut self, parameter: &Parameter) -> String {
        self.parameters.push(parameter.clone());
        self.dialect.placeholder(self.first + self.parameters.len())
    }

    fn column(&mut self, scope: Scope, column: ColumnId) {
        self.write_alias(scope.alias);
        self.sql.push('.');
        let table = &self.model.catalog.tables[scope.table.0 as usize];
        self.dialect.identifier(&mut self.sql, &table.columns[column.0 as usize].name);
    }

    /// What `write` appends, taken out of the text again.
    fn aside(&mut self, write: impl FnOnce(&mut Self)) -> String {
        let start = self.sql.len();
        write(self);
        self.sql.split_off(start)
    }

    fn expr(&mut self, expr: &Expr, scope: Scope) {
        match expr {
            Expr::Column(column) => self.column(scope, *column),
            Expr::JsonPath(column, path) => {
                let column = self.aside(|it| it.column(scope, *column));
                let path = self.bind(path);
                self.dialect.json_path(&mut self.sql, &column, &path);
            }
            Expr::Null => self.sql.push_str("NULL"),
            Expr::Count { columns, distinct } => {
                let columns: Vec<String> =
                    columns.iter().map(|&column| self.aside(|it| it.column(scope, column))).collect();
                self.dialect.count(&mut self.sql, &columns, *distinct);
            }
            Expr::Function(function, column) => {
                self.sql.push_str(self.dialect.function(*function));
                self.sql.push('(');
                self.column(scope, *column);
                self.sql.push(')');
            }
            Expr::Related { by, filter, of } => {
                self.sql.push('(');
                self.related(*by, filter, scope, Some(of));
                if !matches!(**of, Expr::Count { .. } | Expr::Function(..)) {
                    self.sql.push_str(" LIMIT 1");
                }
                self.sql.push(')');
            }
        }
    }

    /// `SELECT … FROM related WHERE …`, tied to the row in `scope`.
    fn related(&mut self, by: RelationshipId, filter: &Filter, scope: Scope, of: Option<&Expr>) {
        let related = &self.model.relationships[by.0 as usize];
        let there = self.alias(related.to);
        self.sql.push_str("SELECT ");
        match of {
            Some(of) => self.expr(of, there),
            None => self.sql.push('1'),
        }
        self.from(there);
        for (at, &(ours, theirs)) in related.on.iter().enumerate() {
            self.sql.push_str(if at == 0 { " WHERE " } else { " AND " });
            self.column(there, theirs);
            self.sql.push_str(" = ");
            self.column(scope, ours);
        }
        if !filter.is_true() {
            self.sql.push_str(" AND ");
            self.filter(filter, there);
        }
    }

    fn filter(&mut self, filter: &Filter, scope: Scope) {
        match filter {
            Filter::All(all) => self.joined(all, " AND ", "(1 = 1)", scope),
            Filter::Any(any) => self.joined(any, " OR ", "(1 = 0)", scope),
            Filter::Not(not) => {
                self.sql.push_str("NOT (");
                self.filter(not, scope);
                self.sql.push(')');
            }
            Filter::Null { of, is } => {
                self.expr(of, scope);
                self.sql.push_str(if *is { " IS NULL" } else { " IS NOT NULL" });
            }
            Filter::Compare { of, by, with } => {
                let left = self.aside(|it| it.expr(of, scope));
                let right = self.bind(with);
                let declared = match of {
                    Expr::Column(column) => {
                        Some(self.model.catalog.table(scope.table).column(*column).declared.as_str())
                    }
                    Expr::JsonPath(..)
                    | Expr::Null
                    | Expr::Count { .. }
                    | Expr::Function(..)
                    | Expr::Related { .. } => None,
                };
                let bare = declared.is_none();
                let side = Side { placeholder: &right, reader: &with.reader, bare, declared };
                self.dialect.compare(&mut self.sql, &left, *by, side);
            }
            Filter::Exists { by, filter } => {
                self.sql.push_str("EXISTS (");
                self.related(*by, filter, scope, None);
                self.sql.push(')');
            }
        }
    }

    fn joined(&mut self, parts: &[Filter], word: &str, empty: &str, scope: Scope) {
        match parts {
            [] => return self.sql.push_str(empty),
            [only] => return self.filter(only, scope),
            [_, _, ..] => self.sql.push('('),
        }
        if parts.len() > FLAT_MAX {
            // A flat chain is as deep as it is long, and databases bound the depth of an expression.
            let (first, rest) = parts.split_at(parts.len() / 2);
            self.joined(first, word, empty, scope);
            self.sql.push_str(word);
            self.joined(rest, word, empty, scope);
        } else {
            for (at, part) in parts.iter().enumerate() {
                self.sql.push_str(if at == 0 { "" } else { word });
                self.filter(part, scope);
            }
        }
        self.sql.push(')');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::sqlite::{SqliteOptions, read};
    use crate::model::ModelOptions;
    use crate::relational::Filter;

    fn check(filter: Filter, sql: &str, tables: &[&str]) {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let made =
            "CREATE TABLE \"a\"\"b\" (x INTEGER PRIMARY KEY); CREATE TABLE c (y REFERENCES \"a\"\"b\");";
        connection.execute_batch(made).unwrap();
        let (catalog, _) = read(&connection, SqliteOptions::default()).unwrap();
        let table = catalog.find("main", "c").unwrap();
        let options = ModelOptions::default();
        let (mut model, _) = Model::build(catalog, options, &mut |_| Err("none".into()));
        let to = model.catalog.find("main", "a\"b").unwrap();
        let kind = crate::model::RelationshipKind::Object { certain: false };
        let on = vec![(ColumnId(0), ColumnId(0))];
        let way =
            crate::model::Relationship { name: "a".into(), from: table, to, on, kind, insert_first: true };
        model.relationships = vec![way];
        let output = Output::Rows(vec![Expr::Column(ColumnId(0))]);
        let query = Query {
            table,
            nest: Vec::new(),
            filter,
            distinct_on: Vec::new(),
            order: Vec::new(),
            page: Page::default(),
            output,
        };
        let statement = render(&sqlite::Sqlite, &model, &query);
        assert_eq!(statement.sql, sql);
        let read: Vec<_> = statement.tables.iter().map(|it| model.catalog.table(*it).name.as_str()).collect();
        assert_eq!(read, tables);
    }

    #[test]
    fn names_are_quoted_and_every_table_read_is_told() {
        check(Filter::TRUE, "SELECT t0.\"y\" FROM \"c\" AS t0", &["c"]);
        check(
            Filter::Exists { by: RelationshipId(0), filter: Box::new(Filter::Any(Vec::new())) },
            "SELECT t0.\"y\" FROM \"c\" AS t0 WHERE EXISTS (SELECT 1 FROM \"a\"\"b\" AS t1 \
             WHERE t1.\"x\" = t0.\"y\" AND (1 = 0))",
            &["c", "a\"b"],
        );
    }
}
