//! Inserts, updates and deletes as SQL text.
//!
//! **Invariant:** the values of an inserted row are the first placeholders, in the order of its columns; parameters
//! follow.

use super::{Renderer, Scope};
use crate::catalog::Relations;
use crate::catalog::{Arbiter, ColumnAt, ColumnId, ConflictTarget, Storage, TableId, TableKind};
use crate::dialect::{Dialect, Side, Usual, sqlite_type};
use crate::plan::operators::Comparison;
use crate::plan::write::{Assign, Change, Conflict, Delete, Insert, Update};
use crate::plan::{Expr, Filter, Parameter, Reader, Scan};

/// A changing statement and its parameters.
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
    /// The numbers of the types of the columns that come back; a check of the policy is the last, and is not read.
    pub columns: Vec<u32>,
    /// Number of the parameters that columns are set to.
    pub assigned: usize,
    /// Every table it changes or reads.
    pub tables: Vec<TableId>,
}

/// Renders `change`, whose rows are returned.
pub fn render_change(dialect: &dyn Dialect, relations: &Relations, change: &Change) -> ChangeStatement {
    render_with(dialect, relations, change, true)
}

/// Renders `change` without the rows that it changes: nothing is returned.
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
    let mut assigned = 0;
    match change {
        Change::Insert(insert) => {
            let scope = renderer.scope_of(&insert.scan);
            renderer.insert(insert, scope);
        }
        Change::Update(update) => {
            let scope = renderer.changed_scope(&update.scan);
            assigned = renderer.update(update, scope);
        }
        Change::Delete(delete) => {
            let scope = renderer.changed_scope(&delete.scan);
            renderer.delete(delete, scope);
        }
        Change::Call(query) => {
            let sql = renderer.query(query).sql();
            renderer.sql = renderer.with_judgement(sql, Some(query));
        }
    }
    let sql = std::mem::take(&mut renderer.sql);
    renderer.sql = renderer.replace_marks(sql);
    types.extend(&renderer.types);
    let returned = change.returning().iter().map(|it| renderer.shown_type(it, change.table()));
    let checked = is_checked(change).then(|| dialect.checked_type());
    let returned = returned.chain(checked).collect();
    let Renderer { sql, parameters, tables, .. } = renderer;
    ChangeStatement { sql, values: columns.len(), parameters, types, columns: returned, assigned, tables }
}

/// True if the policy has a condition on the written rows.
fn is_checked(change: &Change) -> bool {
    match change {
        Change::Insert(insert) => Checks::of(insert).is_some(),
        Change::Update(update) => update.scan.check().is_some(),
        Change::Delete(_) | Change::Call(_) => false,
    }
}

/// Conditions on the row that an insert leaves.
#[derive(Clone, Copy)]
enum Checks<'c> {
    /// One check for new and updated rows.
    One(&'c Filter),
    /// On a new row, if there is one, and on an updated row.
    Two(Option<&'c Filter>, &'c Filter),
}

impl<'c> Checks<'c> {
    fn of(insert: &'c Insert) -> Option<Self> {
        let updates = insert.conflict.as_ref().filter(|it| it.updates());
        match (insert.scan.check(), updates.and_then(|it| it.scan.check())) {
            (None, None) => None,
            (Some(check), None) => Some(Self::One(check)),
            (Some(check), Some(update)) if check == update => Some(Self::One(check)),
            (check, Some(update)) => Some(Self::Two(check, update)),
        }
    }
}

impl Renderer<'_> {
    /// The rows of a change, in a scope of their own.
    fn scope_of(&mut self, scan: &Scan) -> Scope {
        let scope = self.alias(scan.table());
        self.guard(scope, scan);
        self.avoid_alias(scan.table());
        scope
    }

    /// The rows of an update or a delete.
    fn changed_scope(&mut self, scan: &Scan) -> Scope {
        let is_view = self.relations.catalog.table(scan.table()).kind == TableKind::View;
        let is_named = is_view && self.dialect.changes_views_by_name();
        Scope { is_named, ..self.scope_of(scan) }
    }

    /// The table whose rows are changed.
    fn changed_table(&mut self, scope: Scope) {
        if scope.is_named {
            let table = self.relations.catalog.table(scope.table);
            self.dialect.table(&mut self.sql, &table.schema, &table.name);
        } else {
            self.read_table(scope);
        }
    }

    /// Skips aliases that may equal the table's own name, where a statement knows the table by it.
    fn avoid_alias(&mut self, table: TableId) {
        let name = &self.relations.catalog.table(table).name;
        let number = name.strip_prefix(['t', 'T']).and_then(|it| it.parse::<u32>().ok());
        if let Some(number) = number.filter(|it| self.dialect.returns_by_name() && *it < 1_000) {
            self.aliases = self.aliases.max(number + 1);
        }
    }

    fn insert(&mut self, insert: &Insert, scope: Scope) {
        let checks = Checks::of(insert);
        let is_marked = matches!(checks, Some(Checks::Two(..)));
        let conflict = insert.conflict.as_ref();
        let conflict = conflict.map(|it| self.render_aside(|to| to.conflict(it, scope, is_marked)));
        let mut judgement = self.judgement();
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
                let value = self.dialect.input_form(self.dialect.placeholder(at + 1), ty);
                let value = self.as_others(insert, column, value);
                let value = if at == 0 && is_marked { self.dialect.begin_upsert(value) } else { value };
                // Values are computed before a row is looked for.
                let value = match judgement.take() {
                    Some(judgement) => format!("CASE WHEN {judgement} >= 0 THEN {value} END"),
                    None => value,
                };
                self.sql.push_str(&value);
            }
            self.sql.push(')');
        }
        self.sql.push_str(conflict.as_deref().unwrap_or_default());
        let check = checks.map(|it| self.insert_check(it, after_change(scope)));
        self.returning(scope, &insert.returning, check);
    }

    /// The condition on the row that an insert leaves.
    fn insert_check(&mut self, checks: Checks<'_>, scope: Scope) -> String {
        let (inserted, updated) = match checks {
            Checks::One(check) => return self.render_aside(|it| it.write_policy_condition(check, scope)),
            Checks::Two(inserted, updated) => (inserted.unwrap_or(&ALL), updated),
        };
        let [inserted, updated] =
            [inserted, updated].map(|check| self.render_aside(|it| it.write_policy_condition(check, scope)));
        let alias = self.render_aside(|it| it.write_alias(scope.alias));
        let is_table = self.relations.catalog.table(scope.table).kind == TableKind::Table;
        self.dialect.by_branch(is_table.then_some(&alias), &inserted, &updated)
    }

    fn conflict(&mut self, conflict: &Conflict, scope: Scope, is_marked: bool) {
        self.sql.push_str(" ON CONFLICT");
        match &conflict.arbiter {
            None => {}
            Some(Arbiter { name, target: ConflictTarget::Constraint, .. })
                if self.dialect.conflict_by_name() =>
            {
                self.sql.push_str(" ON CONSTRAINT ");
                self.dialect.identifier(&mut self.sql, name);
            }
            Some(Arbiter {
                columns, target: ConflictTarget::Constraint | ConflictTarget::Columns, ..
            }) => {
                self.sql.push(' ');
                self.names(scope.table, columns);
            }
            Some(Arbiter { target: ConflictTarget::Index(text), .. }) => {
                self.sql.push(' ');
                self.sql.push_str(text);
            }
        }
        if !conflict.updates() {
            self.sql.push_str(" DO NOTHING");
            return;
        }
        self.sql.push_str(" DO UPDATE");
        for (at, &column) in conflict.update.iter().enumerate() {
            self.sql.push_str(if at == 0 { " SET " } else { ", " });
            self.name(scope.table, column);
            self.sql.push_str(" = ");
            let new = self.render_aside(|it| it.name(scope.table, column));
            let value = self.match_storage(format!("excluded.{new}"), column, scope);
            self.sql.push_str(&value);
        }
        for (column, value) in &conflict.presets {
            self.sql.push_str(if self.sql.ends_with(" DO UPDATE") { " SET " } else { ", " });
            self.assign(*column, value, scope);
        }
        match self.dialect.mark_update().filter(|_| is_marked) {
            Some(mark) => {
                let condition = self.render_aside(|it| it.both("", &conflict.scan, &conflict.filter, scope));
                let condition = if condition.is_empty() { "(1 = 1)" } else { &condition };
                self.sql.push_str(&format!(" WHERE CASE WHEN {condition} THEN {mark} ELSE 0 END"));
            }
            None => self.both(" WHERE ", &conflict.scan, &conflict.filter, scope),
        }
    }

    /// Gives the number of the parameters that columns are set to.
    fn update(&mut self, update: &Update, scope: Scope) -> usize {
        self.sql.push_str("UPDATE ");
        self.changed_table(scope);
        for (at, (column, assign)) in update.set.iter().enumerate() {
            self.sql.push_str(if at == 0 { " SET " } else { ", " });
            self.assign(*column, assign, scope);
        }
        let assigned = self.parameters.len();
        self.judged_conditions(|it| it.write_change_condition(&update.scan, &update.filter, scope));
        let check = update
            .scan
            .check()
            .map(|check| self.render_aside(|it| it.write_policy_condition(check, after_change(scope))));
        self.returning(scope, &update.returning, check);
        assigned
    }

    /// `column = value`.
    fn assign(&mut self, column: ColumnId, assign: &Assign, scope: Scope) {
        self.name(scope.table, column);
        self.sql.push_str(" = ");
        let ty = self.ty(&Expr::Column(column), scope.table);
        match assign {
            Assign::Null => self.sql.push_str("NULL"),
            Assign::Kept => self.write_stored_column(scope, column),
            Assign::Value(value) => {
                let placeholder = self.bind(value, self.dialect.given_type(ty));
                let value = self.dialect.input_form(placeholder, ty);
                let old = self.render_aside(|it| it.write_stored_column(scope, column));
                let value = self.as_target(scope.table, column, value, old);
                self.sql.push_str(&value);
            }
            Assign::Operator(operator, value) => {
                let old = self.render_aside(|it| it.write_stored_column(scope, column));
                let placeholder = self.bind(value, self.dialect.assigned_type(*operator, ty));
                let storage = self.storage(&Expr::Column(column), scope.table);
                let side = Side {
                    placeholder: &placeholder,
                    reader: &value.reader,
                    behind: false,
                    bare: false,
                    storage,
                    ty,
                };
                let mut changed = String::new();
                self.dialect.assign(&mut changed, *operator, &old, side);
                let changed = self.match_storage(changed, column, scope);
                self.sql.push_str(&changed);
            }
        }
    }

    /// The new `value` of a column, stored as the old one is.
    fn match_storage(&mut self, value: String, column: ColumnId, scope: Scope) -> String {
        let old = self.render_aside(|it| it.write_stored_column(scope, column));
        self.dialect.match_storage(value, &old, self.storage(&Expr::Column(column), scope.table))
    }

    /// The `value` of a new row: stored as the row with its key holds it, so that the key finds that row; as the key is stored that it
    /// refers to; or as another row of the table holds its own: programs that keep identifiers as bytes read no others.
    fn as_others(&mut self, insert: &Insert, column: ColumnId, value: String) -> String {
        let table = insert.scan.table();
        let storage = self.storage(&Expr::Column(column), table);
        if storage == Storage::Exact {
            return value;
        }
        let mut stored = self.find_same_keys(insert, column, &value);
        stored.extend(self.targets(table, column, &value));
        if storage == Storage::Uuids {
            stored.push(self.first_value(ColumnAt { table, column }, &[]));
            // The form of the first row of a table is that of the column's declared type.
            let declared = &self.relations.catalog.table(table).column(column).declared;
            stored.extend(sqlite_type::keeps_bytes(declared).then(|| "x''".to_owned()));
        }
        self.kept_as(value, stored, storage)
    }

    /// Stored values of a `column` of keys: of the rows that have a whole key of a new row, and of one that has its `value`.
    fn find_same_keys(&self, insert: &Insert, column: ColumnId, value: &str) -> Vec<String> {
        let table = insert.scan.table();
        let of = self.relations.catalog.table(table);
        let keys = of.primary_key.iter().chain(&of.unique_keys).map(|it| &it.columns);
        let keys = keys.chain(of.arbiters.iter().map(|it| &it.columns)).filter(|it| it.contains(&column));
        let given = |column: &ColumnId| {
            let at = insert.columns.iter().position(|it| it == column)?;
            Some((*column, self.dialect.placeholder(at + 1)))
        };
        // A key with a column that is not given is looked for by the value alone, after all others.
        let alone = vec![(column, value.to_owned())];
        let mut found: Vec<Vec<(ColumnId, String)>> = Vec::new();
        let mut is_key = false;
        for key in keys {
            is_key = true;
            let whole: Option<Vec<_>> = key.iter().map(given).collect();
            found.extend(whole.filter(|it| *it != alone && !found.contains(it)));
        }
        found.extend(is_key.then_some(alone));
        found.iter().map(|it| self.first_value(ColumnAt { table, column }, it)).collect()
    }

    /// The new `value` of a row, stored as the key is that it refers to, or as the `old` one.
    fn as_target(&mut self, table: TableId, column: ColumnId, value: String, old: String) -> String {
        let storage = self.storage(&Expr::Column(column), table);
        let mut stored = match storage {
            Storage::Exact => Vec::new(),
            _ => self.targets(table, column, &value),
        };
        stored.push(old);
        self.kept_as(value, stored, storage)
    }

    /// Keys that equal `value` of tables that a column refers to.
    fn targets(&self, table: TableId, column: ColumnId, value: &str) -> Vec<String> {
        let keys = &self.relations.catalog.table(table).foreign_keys;
        let targets = keys.iter().flat_map(|key| {
            let pairs = key.columns.iter().zip(&key.target_columns);
            pairs.filter(|it| *it.0 == column).map(|it| ColumnAt { table: key.target, column: *it.1 })
        });
        targets.map(|it| self.first_value(it, &[(it.column, value.to_owned())])).collect()
    }

    /// The `value` in the way in which the first of `stored` that is there is stored.
    fn kept_as(&self, value: String, stored: Vec<String>, storage: Storage) -> String {
        match stored.len() {
            0 => value,
            1 => self.dialect.match_storage(value, &stored.concat(), storage),
            _ => self.dialect.match_storage(value, &format!("coalesce({})", stored.join(", ")), storage),
        }
    }

    /// Some stored value of a column, in a row that has the `values`.
    fn first_value(&self, at: ColumnAt, values: &[(ColumnId, String)]) -> String {
        let of = self.relations.catalog.table(at.table);
        let name = |column: ColumnId| {
            let mut name = "first.".to_owned();
            self.dialect.identifier(&mut name, &of.column(column).name);
            name
        };
        let mut sql = format!("(SELECT {} FROM ", name(at.column));
        self.dialect.table(&mut sql, &of.schema, &of.name);
        sql.push_str(" AS first");
        for (at, (column, placeholder)) in values.iter().enumerate() {
            sql.push_str(if at == 0 { " WHERE " } else { " AND " });
            let storage = of.column(*column).storage;
            let reader = &Reader::AsIs;
            let side = Side { placeholder, reader, behind: false, bare: false, storage, ty: 0 };
            self.dialect.compare(&mut sql, &name(*column), Comparison::Eq, side);
        }
        sql + " LIMIT 1)"
    }

    fn delete(&mut self, delete: &Delete, scope: Scope) {
        self.sql.push_str("DELETE FROM ");
        self.changed_table(scope);
        self.judged_conditions(|it| it.write_change_condition(&delete.scan, &delete.filter, scope));
        self.returning(scope, &delete.returning, None);
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

    /// Appends the returned columns; at least one, so that rows can be counted. A check comes last.
    fn returning(&mut self, scope: Scope, columns: &[Expr], check: Option<String>) {
        let columns = if self.returns_rows { columns } else { &[] };
        match (&check, columns) {
            (None, _) if !self.returns_rows => return,
            (None, []) => self.sql.push_str(" RETURNING 1"),
            (Some(_), _) | (None, [_, ..]) => self.sql.push_str(" RETURNING "),
        }
        self.returned_columns(after_change(scope), columns);
        if let Some(check) = check {
            self.sql.push_str(if columns.is_empty() { "" } else { ", " });
            self.sql.push_str(&self.dialect.check_column(&check));
        }
    }

    fn returned_columns(&mut self, scope: Scope, columns: &[Expr]) {
        for (at, column) in columns.iter().enumerate() {
            self.sql.push_str(if at == 0 { "" } else { ", " });
            let text = self.render_aside(|it| it.write_returned(scope, column));
            let shown = self.output_form(column, text, scope.table);
            self.sql.push_str(&shown);
        }
    }

    /// A returned column. Where a name in double quotes may be a text, a column that is gone has to be an error.
    fn returned_name(&mut self, scope: Scope, column: ColumnId) {
        if self.dialect.returns_by_name() {
            self.write_stored_column(scope, column)
        } else {
            self.name(scope.table, column)
        }
    }

    fn write_returned(&mut self, scope: Scope, of: &Expr) {
        match of {
            Expr::Column(column) => match self.shown_if(scope, *column) {
                None => self.returned_name(scope, *column),
                Some(_) => self.column(scope, *column),
            },
            Expr::Key(column) => self.returned_name(scope, *column),
            Expr::JsonPath(of, path) => {
                let of = self.render_aside(|it| it.write_returned(scope, of));
                let path = self.bind(path, self.dialect.usual(Usual::Texts));
                self.dialect.json_path(&mut self.sql, &of, &path);
            }
            Expr::Computed(_) | Expr::Row | Expr::Snapshot => self.expr(of, scope),
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

/// Without a condition every row may be written.
static ALL: Filter = Filter::TRUE;

/// The scope of a row after its change: some databases know it by the table's own name only.
const fn after_change(scope: Scope) -> Scope {
    Scope { is_named: true, ..scope }
}
