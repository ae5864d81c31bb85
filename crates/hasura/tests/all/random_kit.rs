//! Questions at random, each as GraphQL and as plain SQL, both written from the same choices.
//!
//! A [`Choices`] is a tape of numbers: what it says is asked, and a shorter or smaller tape asks for less, so that a failure
//! shrinks to a small question.

#![allow(unreachable_pub, reason = "a part of a test")]

use serde_json::{Value, json};

/// Names of a table in SQL and GraphQL.
pub struct Table {
    /// Quoted, with its schema.
    pub sql: &'static str,
    /// Its root field.
    pub root: &'static str,
    /// Those that tell its rows apart first.
    pub columns: &'static [Column],
    /// Number of key columns.
    pub keys: usize,
    pub relations: &'static [Relation],
}

pub struct Column {
    /// Quoted.
    pub sql: &'static str,
    pub field: &'static str,
    pub values: Values,
}

/// Values that a column is compared with.
pub enum Values {
    /// Numbers below this.
    Int(u32),
    Texts(&'static [&'static str]),
    /// Values of a type that numbers and texts do not stand for.
    Typed(Type),
}

/// A type and its values.
pub struct Type {
    /// As a cast in SQL names it.
    pub sql: &'static str,
    /// As JSON, and as SQL's text.
    pub values: &'static [(&'static str, &'static str)],
    /// Has an order and `max`.
    pub has_max: bool,
    /// Its own operators, and SQL's.
    pub operators: &'static [Operator],
}

/// An operator on both sides, with its operands.
pub struct Operator {
    pub key: &'static str,
    pub sql: &'static str,
    /// As JSON, and as an expression of SQL.
    pub operands: &'static [(&'static str, &'static str)],
}

impl Column {
    fn has_max(&self) -> bool {
        match &self.values {
            Values::Int(_) | Values::Texts(_) => true,
            Values::Typed(ty) => ty.has_max,
        }
    }
}

pub struct Relation {
    pub field: &'static str,
    /// Its place among the tables.
    pub to: usize,
    pub many: bool,
    /// The columns here and there, quoted.
    pub on: &'static [(&'static str, &'static str)],
}

/// Numbers that decide.
pub struct Choices<'c> {
    tape: &'c [u32],
    at: usize,
}

impl<'c> Choices<'c> {
    pub fn new(tape: &'c [u32]) -> Self {
        Self { tape, at: 0 }
    }

    /// A number below `end`: 0, the simplest, when the tape is over.
    fn below(&mut self, end: usize) -> usize {
        let said = self.tape.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        said as usize % end
    }

    /// True once in `many` times, and never when the tape is over.
    fn once_in(&mut self, many: usize) -> bool {
        self.below(many) == many - 1
    }
}

/// A question on both sides.
pub struct Asked {
    pub graphql: String,
    pub variables: Value,
    pub sql: String,
}

/// Ways of asking.
#[derive(Clone, Copy, Default)]
pub struct Style {
    /// No variables.
    pub literals: bool,
    /// So many tables, the first ones, are asked for at the root; 0: all.
    pub roots: usize,
    /// Rows of the root have this number in this column, as a field and in SQL.
    pub pinned: Option<(&'static str, &'static str, u32)>,
    /// The condition on that column is in the SQL alone: it is the policy's.
    pub is_policy: bool,
}

struct Writer<'c, 't> {
    style: Style,
    choices: Choices<'c>,
    tables: &'t [Table],
    /// Declarations and values of variables.
    declared: Vec<String>,
    variables: serde_json::Map<String, Value>,
    aliases: usize,
    alias: usize,
    /// Number of objects around what is written now. Many parents may share one, and each repeats what is below it.
    shared: usize,
}

/// Filter and order of a table's rows.
struct Rows {
    arguments: Vec<String>,
    /// ` WHERE …`, without what joins it to a parent.
    filter: Option<String>,
    /// `DISTINCT ON (…) `, or nothing.
    distinct: String,
    order: String,
    page: String,
}

/// Writes the question that `tape` says.
pub fn write(tables: &[Table], tape: &[u32], style: Style) -> Asked {
    let mut writer = Writer::new(tables, tape, style);
    let mut fields = Vec::new();
    let mut members = Vec::new();
    for _ in 0..=writer.choices.below(2) {
        let table = writer.choices.below(if style.roots == 0 { tables.len() } else { style.roots });
        let name = writer.name();
        let aggregate = writer.choices.once_in(4);
        let (field, sql) = if aggregate { writer.aggregate(table, "", 0) } else { writer.list(table, "", 0) };
        let root = tables[table].root;
        fields.push(format!("{name}: {root}{}{field}", if aggregate { "_aggregate" } else { "" }));
        members.push(format!("'{name}', {sql}"));
    }
    let declared = if writer.declared.is_empty() {
        String::new()
    } else {
        format!("query ({}) ", writer.declared.join(", "))
    };
    Asked {
        graphql: format!("{declared}{{ {} }}", fields.join(" ")),
        variables: Value::Object(writer.variables),
        sql: format!("SELECT json_build_object({})::text", members.join(", ")),
    }
}

/// Writes the update, or the delete where `deletes`, that `tape` says: of the rows that a condition finds, with what is below those that come
/// back.
pub fn write_change(tables: &[Table], tape: &[u32], style: Style, deletes: bool) -> String {
    let mut writer = Writer::new(tables, tape, Style { literals: true, ..style });
    let of_root = if style.roots == 0 { tables.len() } else { style.roots };
    let at = writer.choices.below(of_root);
    let is_delete = deletes && writer.choices.once_in(2);
    let (mut own, _) = writer.condition(at, "", 0);
    let mut lists = tables[at].relations.iter().filter(|it| it.many);
    if let Some(list) = lists.next().filter(|_| writer.choices.once_in(3)) {
        let count = json!({"count": {"predicate": {"_gt": writer.choices.below(4)}}});
        let key = if writer.choices.once_in(2) { "_or" } else { "_and" };
        own = json!({key: [own, {format!("{}_aggregate", list.field): count}]});
    }
    let pinned = style.pinned.filter(|_| !style.is_policy);
    let condition = pinned.map_or_else(|| own.clone(), |it| json!({"_and": [{it.0: {"_eq": it.2}}, own]}));
    let condition = literal(&condition);
    let (fields, _) = writer.members(at, "", 0);
    let root = tables[at].root;
    let columns = &tables[at].columns[tables[at].keys..];
    let answer = format!("{{ affected_rows returning {{ {fields} }} }}");
    match columns.iter().find(|it| matches!(it.values, Values::Texts(_))).filter(|_| !is_delete) {
        Some(column) => {
            let set = literal(&writer.value(column).0);
            format!(
                "mutation {{ update_{root}(where: {condition}, _set: {{{}: {set}}}) {answer} }}",
                column.field
            )
        }
        None if deletes => format!("mutation {{ delete_{root}(where: {condition}) {answer} }}"),
        None => format!(
            "{{ {root}(where: {condition}, order_by: {{{}: asc}}) {{ {fields} }} }}",
            tables[at].columns[0].field
        ),
    }
}

impl<'c, 't> Writer<'c, 't> {
    fn new(tables: &'t [Table], tape: &'c [u32], style: Style) -> Self {
        Self {
            style,
            choices: Choices::new(tape),
            tables,
            declared: Vec::new(),
            variables: serde_json::Map::new(),
            aliases: 0,
            alias: 0,
            shared: 0,
        }
    }

    /// An alias of a field that nothing else has.
    fn name(&mut self) -> String {
        self.alias += 1;
        format!("f{}", self.alias)
    }

    fn scope(&mut self) -> String {
        self.aliases += 1;
        format!("s{}", self.aliases)
    }

    /// `(arguments) { … }` and the SQL of a list of rows; `join` ties it to its parent, where `{}` is the alias.
    fn list(&mut self, table: usize, join: &str, depth: usize) -> (String, String) {
        let scope = self.scope();
        let rows = self.rows(table, &scope, join.is_empty());
        let (fields, members) = self.members(table, &scope, depth);
        let sql = self.select(table, &scope, join, &rows);
        let list = format!(
            "(SELECT coalesce(json_agg({members} ORDER BY {scope}.place), '[]') FROM ({sql}) AS {scope})"
        );
        (format!("{} {{ {fields} }}", arguments(&rows)), list)
    }

    fn aggregate(&mut self, table: usize, join: &str, depth: usize) -> (String, String) {
        let scope = self.scope();
        let rows = self.rows(table, &scope, join.is_empty());
        let columns = self.tables[table].columns;
        let column = &columns[self.choices.below(columns.len())];
        let sql = self.select(table, &scope, join, &rows);
        let mut fields = "n: count".to_owned();
        let mut members = "'n', count(*)".to_owned();
        if self.choices.below(2) == 1 {
            fields.push_str(&format!(" d: count(columns: {}, distinct: true)", column.field));
            members.push_str(&format!(", 'd', count(DISTINCT {scope}.{})", column.sql));
            if column.has_max() {
                fields.push_str(&format!(" max {{ m: {} }}", column.field));
                members.push_str(&format!(", 'max', json_build_object('m', max({scope}.{}))", column.sql));
            }
        }
        let mut out =
            (format!("aggregate {{ {fields} }}"), format!("'aggregate', json_build_object({members})"));
        if self.choices.below(2) == 1 {
            let (fields, members) = self.members(table, &scope, depth.max(1));
            out.0.push_str(&format!(" nodes {{ {fields} }}"));
            out.1.push_str(&format!(", 'nodes', coalesce(json_agg({members} ORDER BY {scope}.place), '[]')"));
        }
        let sql = format!("(SELECT json_build_object({}) FROM ({sql}) AS {scope})", out.1);
        (format!("{} {{ {} }}", arguments(&rows), out.0), sql)
    }

    /// The rows with their columns and their place.
    fn select(&self, table: usize, scope: &str, join: &str, rows: &Rows) -> String {
        let of = &self.tables[table];
        let join = join.replace("{}", scope);
        let conditions: Vec<&str> =
            [join.as_str()].into_iter().filter(|it| !it.is_empty()).chain(rows.filter.as_deref()).collect();
        let filter = if conditions.is_empty() {
            String::new()
        } else {
            format!(" WHERE {}", conditions.join(" AND "))
        };
        format!(
            "SELECT {distinct}{scope}.*, row_number() OVER ({order}) AS place FROM {sql} AS {scope}{filter} {order}{page}",
            distinct = rows.distinct,
            order = rows.order,
            sql = of.sql,
            page = rows.page
        )
    }

    /// The members of an object: GraphQL and `json_build_object(…)`.
    fn members(&mut self, table: usize, scope: &str, depth: usize) -> (String, String) {
        let of = &self.tables[table];
        let mut fields = Vec::new();
        let mut members = Vec::new();
        for _ in 0..=self.choices.below(3) {
            let column = &of.columns[self.choices.below(of.columns.len())];
            let name = self.name();
            fields.push(format!("{name}: {}", column.field));
            members.push(format!("'{name}', {scope}.{}", column.sql));
        }
        let below = if of.relations.is_empty() || depth == 2 { 0 } else { self.choices.below(3) };
        for _ in 0..below {
            let relation = &of.relations[self.choices.below(of.relations.len())];
            let name = self.name();
            let join = tie(relation, "{}", scope);
            let (suffix, (field, sql)) = match (relation.many, self.choices.once_in(4)) {
                (true, true) => ("_aggregate", self.aggregate(relation.to, &join, depth + 1)),
                (true, false) => ("", self.list(relation.to, &join, depth + 1)),
                (false, _) => ("", self.object(relation.to, &join, depth + 1)),
            };
            fields.push(format!("{name}: {}{suffix}{field}", relation.field));
            members.push(format!("'{name}', {sql}"));
        }
        (fields.join(" "), format!("json_build_object({})", members.join(", ")))
    }

    fn object(&mut self, table: usize, join: &str, depth: usize) -> (String, String) {
        let scope = self.scope();
        self.shared += 1;
        let (fields, members) = self.members(table, &scope, depth);
        self.shared -= 1;
        let sql = self.tables[table].sql;
        let join = join.replace("{}", &scope);
        (format!(" {{ {fields} }}"), format!("(SELECT {members} FROM {sql} AS {scope} WHERE {join})"))
    }

    fn rows(&mut self, table: usize, scope: &str, is_root: bool) -> Rows {
        let of = &self.tables[table];
        let filter = None;
        let distinct = String::new();
        let arguments = Vec::new();
        let order = String::new();
        let page = String::new();
        let mut rows = Rows { arguments, filter, distinct, order, page };
        let pinned = self.style.pinned.filter(|_| is_root);
        let mut condition = pinned.filter(|_| !self.style.is_policy).map(|it| json!({it.0: {"_eq": it.2}}));
        rows.filter = pinned.map(|it| format!("{scope}.{} = {}", it.1, it.2));
        if self.choices.below(2) == 1 {
            let (own, sql) = self.condition(table, scope, 0);
            rows.filter = Some(rows.filter.map_or_else(|| sql.clone(), |it| format!("{it} AND ({sql})")));
            condition = Some(condition.map_or_else(|| own.clone(), |it| json!({"_and": [it, own]})));
        }
        if let Some(condition) = condition {
            let text = literal(&condition);
            let condition = self.argument(&format!("{}_bool_exp!", of.root), text, condition);
            rows.arguments.push(format!("where: {condition}"));
        }
        self.order(table, scope, &mut rows);
        for (name, word, many, end) in [("limit", "LIMIT", 3, 5), ("offset", "OFFSET", 4, 4)] {
            // All tracks of the genre of every track would be millions of rows.
            let is_bounded = name == "limit" && self.shared > 0;
            if self.choices.once_in(many) || is_bounded {
                let count = self.choices.below(end);
                let argument = self.argument("Int", count.to_string(), json!(count));
                rows.arguments.push(format!("{name}: {argument}"));
                rows.page.push_str(&format!(" {word} {count}"));
            }
        }
        rows
    }

    /// A value of the type `ty`: its literal, or a variable.
    fn argument(&mut self, ty: &str, literal: String, value: Value) -> String {
        if self.choices.below(2) == 0 || self.style.literals {
            return literal;
        }
        let name = self.name();
        self.declared.push(format!("${name}: {ty}"));
        self.variables.insert(name.clone(), value);
        format!("${name}")
    }

    /// An order that leaves nothing open.
    fn order(&mut self, table: usize, scope: &str, rows: &mut Rows) {
        const WAYS: [(&str, &str); 6] = [
            ("asc", "ASC"),
            ("desc", "DESC"),
            ("asc_nulls_first", "ASC NULLS FIRST"),
            ("asc_nulls_last", "ASC NULLS LAST"),
            ("desc_nulls_first", "DESC NULLS FIRST"),
            ("desc_nulls_last", "DESC NULLS LAST"),
        ];
        let of = &self.tables[table];
        let mut terms = Vec::new();
        let mut values = Vec::new();
        let mut texts = Vec::new();
        if self.choices.below(2) == 1 {
            let column = &of.columns[self.choices.below(of.columns.len())];
            let way = WAYS[self.choices.below(WAYS.len())];
            if self.choices.once_in(4) {
                let list = format!("[{}_select_column!]", of.root);
                let distinct = self.argument(&list, format!("[{}]", column.field), json!([column.field]));
                rows.arguments.push(format!("distinct_on: {distinct}"));
                rows.distinct = format!("DISTINCT ON ({scope}.{}) ", column.sql);
            }
            terms.push(format!("{{{}: {}}}", column.field, way.0));
            values.push(json!({column.field: way.0}));
            texts.push(format!("{scope}.{} {}", column.sql, way.1));
        }
        let one = of.relations.iter().find(|it| !it.many);
        if let Some(relation) = one.filter(|_| self.choices.once_in(4)) {
            let to = &self.tables[relation.to];
            let column = &to.columns[self.choices.below(to.columns.len())];
            let way = WAYS[self.choices.below(WAYS.len())];
            let other = self.scope();
            terms.push(format!("{{{}: {{{}: {}}}}}", relation.field, column.field, way.0));
            values.push(json!({relation.field: {column.field: way.0}}));
            let tied = tie(relation, &other, scope);
            texts.push(format!(
                "(SELECT {other}.{} FROM {} AS {other} WHERE {tied}) {}",
                column.sql, to.sql, way.1
            ));
        }
        for column in &of.columns[..of.keys] {
            terms.push(format!("{{{}: asc}}", column.field));
            values.push(json!({column.field: "asc"}));
            texts.push(format!("{scope}.{} ASC", column.sql));
        }
        if self.choices.once_in(4) {
            // The sorted column again, in the other direction.
            terms.push(format!("{{{}: desc}}", of.columns[0].field));
            values.push(json!({of.columns[0].field: "desc"}));
        }
        let terms = format!("[{}]", terms.join(", "));
        let terms = self.argument(&format!("[{}_order_by!]", of.root), terms, Value::Array(values));
        rows.arguments.push(format!("order_by: {terms}"));
        rows.order = format!("ORDER BY {}", texts.join(", "));
    }

    /// A condition as a GraphQL value and as SQL.
    fn condition(&mut self, table: usize, scope: &str, depth: usize) -> (Value, String) {
        let of = &self.tables[table];
        match if depth == 3 { 0 } else { self.choices.below(9) } {
            4 => {
                let (one, sql) = self.condition(table, scope, depth + 1);
                (json!({"_not": one}), format!("NOT ({sql})"))
            }
            way @ (5 | 6) => {
                let one = self.condition(table, scope, depth + 1);
                let two = self.condition(table, scope, depth + 1);
                let (key, word) = if way == 5 { ("_and", "AND") } else { ("_or", "OR") };
                (json!({key: [one.0, two.0]}), format!("(({}) {word} ({}))", one.1, two.1))
            }
            8 => self.equalities(table, scope),
            7 if !of.relations.is_empty() => {
                let relation = &of.relations[self.choices.below(of.relations.len())];
                let other = self.scope();
                let (below, sql) = self.condition(relation.to, &other, depth + 1);
                let tied = tie(relation, &other, scope);
                let to = self.tables[relation.to].sql;
                (
                    json!({relation.field: below}),
                    format!("EXISTS (SELECT 1 FROM {to} AS {other} WHERE {tied} AND ({sql}))"),
                )
            }
            _ => self.comparison(table, scope),
        }
    }

    /// An `_or` of equalities, some of one column.
    fn equalities(&mut self, table: usize, scope: &str) -> (Value, String) {
        let columns = self.tables[table].columns;
        let mut any = Vec::new();
        let mut texts = vec!["false".to_owned()];
        for _ in 0..self.choices.below(5) {
            let column = &columns[self.choices.below(2.min(columns.len()))];
            let (value, text) = self.value(column);
            any.push(json!({column.field: {"_eq": value}}));
            texts.push(format!("{scope}.{} = {text}", column.sql));
        }
        (json!({"_or": any}), format!("({})", texts.join(" OR ")))
    }

    fn comparison(&mut self, table: usize, scope: &str) -> (Value, String) {
        const WAYS: [(&str, &str); 6] =
            [("_eq", "="), ("_neq", "<>"), ("_gt", ">"), ("_gte", ">="), ("_lt", "<"), ("_lte", "<=")];
        let columns = self.tables[table].columns;
        let column = &columns[self.choices.below(columns.len())];
        let left = format!("{scope}.{}", column.sql);
        if let Values::Typed(Type { operators: operators @ [_, ..], .. }) = &column.values
            && self.choices.below(2) == 1
        {
            let operator = &operators[self.choices.below(operators.len())];
            let (json, operand) = operator.operands[self.choices.below(operator.operands.len())];
            let value: Value = serde_json::from_str(json).unwrap();
            return (
                json!({column.field: {operator.key: value}}),
                format!("{left} {} {operand}", operator.sql),
            );
        }
        let way = self.choices.below(9);
        let (says, sql) = match way {
            6 => {
                let is = self.choices.below(2) == 1;
                (json!({"_is_null": is}), format!("{left} IS {}NULL", if is { "" } else { "NOT " }))
            }
            7 | 8 => {
                let values: Vec<(Value, String)> =
                    (0..self.choices.below(4)).map(|_| self.value(column)).collect();
                let list: Vec<&str> = values.iter().map(|it| it.1.as_str()).collect();
                let (key, word, empty) =
                    if way == 7 { ("_in", "IN", "false") } else { ("_nin", "NOT IN", "true") };
                let sql = if list.is_empty() {
                    empty.into()
                } else {
                    format!("{left} {word} ({})", list.join(", "))
                };
                (json!({key: values.iter().map(|it| it.0.clone()).collect::<Vec<_>>()}), sql)
            }
            _ => {
                let (value, text) = self.value(column);
                (json!({WAYS[way].0: value}), format!("{left} {} {text}", WAYS[way].1))
            }
        };
        (json!({column.field: says}), sql)
    }

    /// A value and its literal in SQL.
    fn value(&mut self, column: &Column) -> (Value, String) {
        match column.values {
            Values::Int(end) => {
                let value = self.choices.below(end as usize);
                (json!(value), value.to_string())
            }
            Values::Texts(texts) => {
                let text = texts[self.choices.below(texts.len())];
                (json!(text), quoted(text))
            }
            Values::Typed(ref ty) => {
                let (json, text) = ty.values[self.choices.below(ty.values.len())];
                (serde_json::from_str(json).unwrap(), format!("{}::{}", quoted(text), ty.sql))
            }
        }
    }
}

/// SQL condition that relates rows of `there` to their row `here`.
fn tie(relation: &Relation, there: &str, here: &str) -> String {
    let pairs: Vec<String> =
        relation.on.iter().map(|(own, other)| format!("{there}.{other} = {here}.{own}")).collect();
    pairs.join(" AND ")
}

fn arguments(rows: &Rows) -> String {
    format!("({})", rows.arguments.join(", "))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A value as GraphQL writes it.
fn literal(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(key, value)| format!("{key}: {}", literal(value))).collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", ")),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}
