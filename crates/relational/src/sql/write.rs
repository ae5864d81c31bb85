//! Inserts, updates and deletes as SQL text.
//!
//! **Invariant:** the values of an inserted row are the first placeholders, in the order of its columns; parameters
//! follow.

use super::{Renderer, Scope};
use crate::catalog::Relations;
use crate::catalog::{ColumnId, TableId};
use crate::dialect::{Dialect, Side, Usual};
use crate::plan::write::{Assign, Change, Conflict, Delete, Insert, Update};
use crate::plan::{Expr, Parameter};

/// A changing statement and what has to be bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeStatement {
    /// The text.
    pub sql: String,
    /// Number of placeholders of the inserted row.
    pub values: usize,
    /// Parameters after them.
    pub parameters: Vec<Parameter>,
    /// The numbers of the types of all placeholders; 0 where they have none.
    pub types: Vec<u32>,
    /// The numbers of the types of the columns that were asked back.
    pub columns: Vec<u32>,
    /// Every table it changes or reads.
    pub tables: Vec<TableId>,
}

/// Renders `change`, whose rows are returned.
#[must_use]
pub fn render_change(dialect: &dyn Dialect, relations: &Relations, change: &Change) -> ChangeStatement {
    render_with(dialect, relations, change, true)
}

/// Renders `change` without the rows that it changes: nothing is returned.
#[must_use]
pub fn render_command(dialect: &dyn Dialect, relations: &Relations, change: &Change) -> ChangeStatement {
    render_with(dialect, relations, change, false)
}

fn render_with(
    dialect: &dyn Dialect,
    relations: &Relations,
    change: &Change,
    returns_rows: bool,
) -> ChangeStatement {
    let columns: &[ColumnId] = match change {
        Change::Insert(insert) => &insert.columns,
        Change::Update(_) | Change::Delete(_) | Change::Call(_) => &[],
    };
    let mut renderer = Renderer { returns_rows, ..Renderer::new(dialect, relations, columns.len()) };
    let column = |&column: &ColumnId| relations.catalog.table(change.table()).column(column).oid;
    let mut types: Vec<u32> = columns.iter().map(|it| dialect.given_type(column(it))).collect();
    match change {
        Change::Insert(insert) => {
            let scope = renderer.alias(insert.scan.table());
            renderer.insert(insert, scope);
        }
        Change::Update(update) => {
            let scope = renderer.alias(update.scan.table());
            renderer.update(update, scope);
        }
        Change::Delete(delete) => {
            let scope = renderer.alias(delete.scan.table());
            renderer.delete(delete, scope);
        }
        Change::Call(query) => renderer.sql = renderer.query(query).sql(),
    }
    types.extend(&renderer.types);
    let returned = change.returning().iter().map(|it| renderer.shown_type(it, change.table())).collect();
    let Renderer { sql, parameters, tables, .. } = renderer;
    ChangeStatement { sql, values: columns.len(), parameters, types, columns: returned, tables }
}

impl Renderer<'_> {
    fn insert(&mut self, insert: &Insert, scope: Scope) {
        self.sql.push_str("INSERT INTO ");
        self.table(scope);
        if insert.columns.is_empty() {
            self.sql.push_str(" DEFAULT VALUES");
        } else {
            self.sql.push(' ');
            self.names(insert.scan.table(), &insert.columns);
            self.sql.push_str(" VALUES (");
            for (at, &column) in insert.columns.iter().enumerate() {
                self.sql.push_str(if at == 0 { "" } else { ", " });
                let ty = self.ty(&Expr::Column(column), insert.scan.table());
                let value = self.dialect.given(self.dialect.placeholder(at + 1), ty);
                self.sql.push_str(&value);
            }
            self.sql.push(')');
        }
        if let Some(conflict) = &insert.conflict {
            self.conflict(conflict, scope);
        }
        self.returning(scope, &insert.returning);
    }

    fn conflict(&mut self, conflict: &Conflict, scope: Scope) {
        self.sql.push_str(" ON CONFLICT");
        match (conflict.key.is_empty(), self.dialect.conflict_by_name()) {
            (true, _) => {}
            (false, true) => {
                self.sql.push_str(" ON CONSTRAINT ");
                self.dialect.identifier(&mut self.sql, &conflict.constraint);
            }
            (false, false) => {
                self.sql.push(' ');
                self.names(scope.table, &conflict.key);
            }
        }
        if conflict.update.is_empty() {
            self.sql.push_str(" DO NOTHING");
            return;
        }
        self.sql.push_str(" DO UPDATE");
        for (at, &column) in conflict.update.iter().enumerate() {
            self.sql.push_str(if at == 0 { " SET " } else { ", " });
            self.name(scope.table, column);
            self.sql.push_str(" = excluded.");
            self.name(scope.table, column);
        }
        self.both(" WHERE ", &conflict.scan, &conflict.filter, scope);
    }

    fn update(&mut self, update: &Update, scope: Scope) {
        self.sql.push_str("UPDATE ");
        self.table(scope);
        for (at, (column, assign)) in update.set.iter().enumerate() {
            self.sql.push_str(if at == 0 { " SET " } else { ", " });
            self.name(update.scan.table(), *column);
            self.sql.push_str(" = ");
            let ty = self.ty(&Expr::Column(*column), update.scan.table());
            match assign {
                Assign::Null => self.sql.push_str("NULL"),
                Assign::Value(value) => {
                    let placeholder = self.bind(value, self.dialect.given_type(ty));
                    let value = self.dialect.given(placeholder, ty);
                    self.sql.push_str(&value);
                }
                Assign::Operator(operator, value) => {
                    let old = self.aside(|it| it.column(scope, *column));
                    let placeholder = self.bind(value, self.dialect.assigned_type(*operator, ty));
                    let reader = &value.reader;
                    let side = Side { placeholder: &placeholder, reader, bare: false, declared: None, ty };
                    self.dialect.assign(&mut self.sql, *operator, &old, side);
                }
            }
        }
        self.both(" WHERE ", &update.scan, &update.filter, scope);
        self.returning(scope, &update.returning);
    }

    fn delete(&mut self, delete: &Delete, scope: Scope) {
        self.sql.push_str("DELETE FROM ");
        self.table(scope);
        self.both(" WHERE ", &delete.scan, &delete.filter, scope);
        self.returning(scope, &delete.returning);
    }

    fn names(&mut self, table: TableId, columns: &[ColumnId]) {
        self.sql.push('(');
        for (at, &column) in columns.iter().enumerate() {
            self.sql.push_str(if at == 0 { "" } else { ", " });
            self.name(table, column);
        }
        self.sql.push(')');
    }

    /// A column without its table, as it has to stand where only one table is meant.
    fn name(&mut self, table: TableId, column: ColumnId) {
        let name = &self.relations.catalog.table(table).column(column).name;
        self.dialect.identifier(&mut self.sql, name);
    }

    /// Appends the returned columns; at least one, so that rows can be counted.
    fn returning(&mut self, scope: Scope, columns: &[Expr]) {
        if !self.returns_rows {
            return;
        }
        self.sql.push_str(if columns.is_empty() { " RETURNING 1" } else { " RETURNING " });
        for (at, column) in columns.iter().enumerate() {
            self.sql.push_str(if at == 0 { "" } else { ", " });
            let text = self.aside(|it| it.returned(scope, column));
            let shown = self.shown(column, text, scope.table);
            self.sql.push_str(&shown);
        }
    }

    fn returned(&mut self, scope: Scope, of: &Expr) {
        match of {
            Expr::Column(column) => self.name(scope.table, *column),
            Expr::JsonPath(of, path) => {
                let of = self.aside(|it| it.returned(scope, of));
                let path = self.bind(path, self.dialect.usual(Usual::Texts));
                self.dialect.json_path(&mut self.sql, &of, &path);
            }
            Expr::Computed(_) | Expr::Row => self.expr(of, scope),
            // Values of other rows are read after the change, by levels of their own.
            Expr::Null
            | Expr::Count { .. }
            | Expr::Function(..)
            | Expr::Instant { .. }
            | Expr::Statistic { .. }
            | Expr::Related { .. }
            | Expr::Cast(..) => self.sql.push_str("NULL"),
        }
    }
}
