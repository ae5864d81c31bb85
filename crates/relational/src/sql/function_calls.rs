//! Calls of functions, in place of tables and in place of columns.
//!
//! A statement of the configuration that is called in place of a table is a common table expression at the head of the whole statement,
//! so that whatever may stand there may be one. The values of its arguments are bound.
//!
//! Arguments are named, so that those left out take their defaults; those up to the last one without a name stand by their places.

use super::guard::GuardedPart;
use super::{Renderer, Scope};
use crate::catalog::{Argument, CodePart, ColumnId, TableId};
use crate::dialect::Usual;
use crate::plan::{Call, Origin, Parameter, Query, Reader, Tie};

/// Row argument of a function.
#[derive(Clone, Copy, Debug)]
pub(super) enum RowOf {
    /// The table under this alias.
    Alias(u32),
    /// The row's text is this output column of the parent's row.
    Parent(u16),
}

/// Value of an argument.
enum CallValue<'c> {
    Row(RowOf),
    /// A value of the client or the session; none is null.
    Given(Option<&'c Parameter>),
}

impl Renderer<'_> {
    /// New alias of a query's table. Its table of pairs has the next one.
    pub(crate) fn scope(&mut self, query: &Query) -> Scope {
        let scope = self.alias(query.table());
        self.joinable.push(scope.alias);
        self.guard(scope, &query.scan);
        if let Some((through, _)) = &query.through {
            self.alias(through.table);
        }
        if let Some(call) = &query.call {
            let row = query.nest.iter().find(|it| it.0 == Tie::Row).map(|it| RowOf::Parent(it.1));
            self.calls.push((scope.alias, call.clone(), row));
            let is_native = self.relations.function(call.function).1.code.is_some();
            self.called.extend((!is_native).then_some(scope.alias));
        }
        scope
    }

    /// Appends a function of the row in `scope`: null in rows that hide it, of which it is not called.
    pub(super) fn write_computed_field(&mut self, call: &Call, scope: Scope) {
        let shown_if = self.part_shown_if(scope, GuardedPart::Call(call.function));
        if let Some(shown_if) = &shown_if {
            self.sql.push_str("CASE WHEN ");
            self.sql.push_str(shown_if);
            self.sql.push_str(" THEN ");
        }
        self.call(call, Some(RowOf::Alias(scope.alias)));
        self.sql.push_str(if shown_if.is_some() { " END" } else { "" });
    }

    /// The row in `scope` as text. A name alone could be a column's.
    pub(super) fn row(&mut self, scope: Scope) {
        self.sql.push('(');
        self.whole(scope.alias);
        self.sql.push_str(")::text");
    }

    /// Appends a test for the row in `scope`: a function that returns no row, and no set, gives a row of nulls.
    pub(super) fn is_there(&mut self, scope: Scope) {
        self.sql.push_str("NOT (");
        self.whole(scope.alias);
        self.sql.push_str(" IS NULL)");
    }

    fn whole(&mut self, alias: u32) {
        self.write_alias(alias);
        self.sql.push_str(".*");
    }

    /// `"public"."fn"("a" => $1)`.
    pub(super) fn call(&mut self, call: &Call, row: Option<RowOf>) {
        let (callable, function) = self.relations.function(call.function);
        self.dialect.table(&mut self.sql, &function.schema, &function.name);
        self.sql.push('(');
        let row = callable.row.zip(row);
        let session = callable.session.map(|place| {
            let reader = Reader::Column(function.arguments[place as usize].ty.clone());
            (place, Parameter { origin: Origin::Session, reader, path: "".into() })
        });
        let mut values: Vec<(u32, CallValue<'_>)> = Vec::new();
        values.extend(row.map(|(place, row)| (place, CallValue::Row(row))));
        values.extend(call.arguments.iter().map(|(place, it)| (*place, CallValue::Given(it.as_ref()))));
        values.extend(session.iter().map(|(place, it)| (*place, CallValue::Given(Some(it)))));
        let is_unnamed = |it: &&(u32, CallValue<'_>)| function.arguments[it.0 as usize].name.is_empty();
        // A row that is the first stands by its place, whether it has a name or not.
        let first = row.filter(|it| it.0 == 0).map(|it| it.0);
        let by_place = values.iter().filter(is_unnamed).map(|it| it.0).chain(first).max();
        if by_place.is_some_and(|it| it > 0) {
            values.sort_by_key(|it| it.0);
        }
        for (at, (place, value)) in values.into_iter().enumerate() {
            let argument = &function.arguments[place as usize];
            self.sql.push_str(if at == 0 { "" } else { ", " });
            if by_place.is_none_or(|it| place > it) {
                self.dialect.identifier(&mut self.sql, &argument.name);
                self.sql.push_str(" => ");
            }
            match value {
                CallValue::Row(row) => self.row_argument(row, argument.table),
                CallValue::Given(value) => self.argument(argument, value),
            }
        }
        self.sql.push(')');
    }

    fn row_argument(&mut self, row: RowOf, table: Option<TableId>) {
        match (row, table) {
            (RowOf::Parent(column), Some(table)) => {
                let text = self.parent_value(column, self.dialect.usual(Usual::Text));
                let table = self.relations.catalog.table(table);
                self.sql.push_str(&text);
                self.sql.push_str("::");
                self.dialect.table(&mut self.sql, &table.schema, &table.name);
            }
            (RowOf::Alias(alias), Some(table)) if !self.dialect.has_row_types() => {
                self.typed_row(alias, table)
            }
            (RowOf::Alias(alias), _) => self.whole(alias),
            (RowOf::Parent(_), None) => {}
        }
    }

    /// `ROW(t0."a", t0."b")::"public"."t"`: a shard's rows have a type of their own.
    fn typed_row(&mut self, alias: u32, table: TableId) {
        let of = self.relations.catalog.table(table);
        self.sql.push_str("ROW(");
        for at in 0..of.columns.len() as u32 {
            self.sql.push_str(if at == 0 { "" } else { ", " });
            self.write_stored_column(Scope::new(table, alias), ColumnId(at));
        }
        self.sql.push_str(")::");
        self.dialect.table(&mut self.sql, &of.schema, &of.name);
    }

    /// Appends the value of an argument; none is null.
    fn argument(&mut self, argument: &Argument, value: Option<&Parameter>) {
        let value = match value {
            None => "NULL".to_owned(),
            Some(value) => {
                let bound = self.bind(value, self.dialect.given_type(argument.oid));
                self.dialect.input_form(bound, argument.oid)
            }
        };
        self.sql.push_str(&value);
    }

    /// Appends the name of the expression that gives the rows of a `call` of `code`.
    pub(super) fn native_rows(&mut self, call: &Call, code: &[CodePart]) {
        let function = self.relations.function(call.function).1;
        let mut text = String::new();
        for part in code {
            match part {
                CodePart::Text(sql) => text.push_str(sql),
                CodePart::Argument(place) => {
                    let oid = function.arguments[*place as usize].oid;
                    let given = call.arguments.iter().find(|it| it.0 == *place).and_then(|it| it.1.as_ref());
                    let value = match given {
                        Some(given) => {
                            let bound = self.bind(given, self.dialect.given_type(oid));
                            self.dialect.input_form(bound, oid)
                        }
                        None => self.dialect.typed_null(oid),
                    };
                    // Whatever stands beside it.
                    text.push('(');
                    text.push_str(&value);
                    text.push(')');
                }
            }
        }
        let known = self.natives.iter().position(|it| *it == text);
        let at = known.unwrap_or_else(|| {
            self.natives.push(text);
            self.natives.len() - 1
        });
        self.sql.push_str(&format!("n{at}"));
    }

    /// Puts the expressions before the statement `sql`. A line comment at the end of one ends with its line.
    pub(super) fn with_natives(&self, sql: String) -> String {
        if self.natives.is_empty() {
            return sql;
        }
        let named = self.natives.iter().enumerate().map(|(at, code)| format!("n{at} AS (\n{code}\n)"));
        let named = named.collect::<Vec<_>>().join(", ");
        match sql.strip_prefix("WITH ") {
            Some(others) => format!("WITH {named}, {others}"),
            None => format!("WITH {named} {sql}"),
        }
    }
}
