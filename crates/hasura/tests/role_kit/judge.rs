//! Conditions of permissions, judged row by row, with nothing of the product's own code.

use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The cells of a row, by column: null, a whole number, or a text.
pub type Row = BTreeMap<String, Value>;
/// The rows of each table.
pub type World = BTreeMap<String, Vec<Row>>;

/// A relationship: the table it belongs to, its name, whether it leads to many rows, their table, and the equal columns.
pub type Relation = (&'static str, &'static str, bool, &'static str, &'static str, &'static str);

pub const RELATIONS: &[Relation] = &[
    ("author", "mentor", false, "author", "mentor_id", "id"),
    ("author", "books", true, "book", "id", "author_id"),
    ("author", "pupils", true, "author", "id", "mentor_id"),
    ("author", "reviews", true, "review", "id", "author_id"),
    ("book", "author", false, "author", "author_id", "id"),
    ("book", "reviews", true, "review", "id", "book_id"),
    ("book", "tags", true, "book_tag", "id", "book_id"),
    ("review", "book", false, "book", "book_id", "id"),
    ("review", "critic", false, "author", "author_id", "id"),
    ("tag", "books", true, "book_tag", "id", "tag_id"),
    ("book_tag", "book", false, "book", "book_id", "id"),
    ("book_tag", "tag", false, "tag", "tag_id", "id"),
];

/// The columns of each table: the name, whether it is a text, whether it may be null. Then those of its key.
pub type Table = (&'static str, &'static [(&'static str, bool, bool)], &'static [&'static str]);

pub const TABLES: &[Table] = &[
    (
        "author",
        &[("id", false, false), ("name", true, false), ("born", false, true), ("mentor_id", false, true)],
        &["id"],
    ),
    ("tag", &[("id", false, false), ("label", true, false)], &["id"]),
    (
        "book",
        &[
            ("id", false, false),
            ("title", true, false),
            ("author_id", false, false),
            ("pages", false, true),
            ("price", false, true),
        ],
        &["id"],
    ),
    (
        "review",
        &[
            ("id", false, false),
            ("book_id", false, false),
            ("author_id", false, true),
            ("stars", false, true),
            ("words", true, true),
        ],
        &["id"],
    ),
    (
        "book_tag",
        &[("book_id", false, false), ("tag_id", false, false), ("weight", false, true)],
        &["book_id", "tag_id"],
    ),
];

/// The columns whose numbers are doubles.
pub const DOUBLES: &[&str] = &["price", "weight"];

pub fn table(name: &str) -> &'static Table {
    TABLES.iter().find(|it| it.0 == name).unwrap()
}

/// Session variables of every caller.
pub const SESSION: &[(&str, &str)] = &[
    ("x-hasura-number", "3"),
    ("x-hasura-list", "{1,4,\"5\"}"),
    ("x-hasura-text", "b c"),
    ("x-hasura-texts", "{a,\"b c\"}"),
];

/// Says of rows whether they fulfil conditions.
pub struct Judge<'w>(pub &'w World);

/// False if one is, else unknown if one is.
fn all(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut found = Some(true);
    for it in parts {
        match it {
            Some(true) => {}
            Some(false) => return it,
            None => found = None,
        }
    }
    found
}

fn not(it: Option<bool>) -> Option<bool> {
    it.map(|it| !it)
}

impl Judge<'_> {
    /// True if the condition is true of the row: neither false nor unknown.
    pub fn holds(&self, condition: &Value, table: &str, row: &Row) -> bool {
        self.object(condition, table, row, row) == Some(true)
    }

    fn object(&self, condition: &Value, table: &str, row: &Row, root: &Row) -> Option<bool> {
        all(condition
            .as_object()
            .unwrap()
            .iter()
            .map(|(key, value)| self.member(key, value, table, row, root)))
    }

    fn member(&self, key: &str, value: &Value, table: &str, row: &Row, root: &Row) -> Option<bool> {
        let list = || value.as_array().unwrap().iter();
        match key {
            "_and" => all(list().map(|it| self.object(it, table, row, root))),
            "_or" => not(all(list().map(|it| not(self.object(it, table, row, root))))),
            "_not" => not(self.object(value, table, row, root)),
            "_exists" => {
                let of = value["_table"].as_str().unwrap();
                Some(self.any(of, &value["_where"], root, |_| true))
            }
            _ => match RELATIONS.iter().find(|it| it.0 == table && it.1 == key) {
                Some((_, _, _, to, mine, theirs)) => {
                    let tied = |other: &Row| !row[*mine].is_null() && other[*theirs] == row[*mine];
                    Some(self.any(to, value, root, tied))
                }
                None => compare(key, value, row, root),
            },
        }
    }

    fn any(&self, table: &str, condition: &Value, root: &Row, tied: impl Fn(&Row) -> bool) -> bool {
        self.0[table].iter().any(|it| tied(it) && self.object(condition, table, it, root) == Some(true))
    }
}

fn compare(column: &str, value: &Value, row: &Row, root: &Row) -> Option<bool> {
    let cell = &row[column];
    match value {
        Value::Object(operators) => operate(cell, operators, row, root),
        _ => Some(*cell == constant(cell, value)),
    }
}

fn operate(cell: &Value, operators: &Map<String, Value>, row: &Row, root: &Row) -> Option<bool> {
    let column = |value: &Value| match value {
        Value::Array(path) => root[path[1].as_str().unwrap()].clone(),
        _ => row[value.as_str().unwrap()].clone(),
    };
    all(operators.iter().map(|(operator, value)| match operator.as_str() {
        "_eq" => Some(*cell == constant(cell, value)),
        "_ne" | "_neq" => Some(*cell != constant(cell, value)),
        "_is_null" => Some(cell.is_null() == value.as_bool().unwrap()),
        "_in" => among(cell, &constants(cell, value)),
        "_nin" => not(among(cell, &constants(cell, value))),
        "_like" => cell.as_str().map(|it| like(it, value.as_str().unwrap())),
        "_ceq" | "_cne" | "_clt" | "_cgte" => signed(cell, &column(value), &operator[2..]),
        _ => signed(cell, &constant(cell, value), &operator[1..]),
    }))
}

/// Null is in no empty list; whether it is in another is unknown.
fn among(cell: &Value, list: &[Value]) -> Option<bool> {
    (!cell.is_null() || list.is_empty()).then(|| list.contains(cell))
}

fn signed(cell: &Value, other: &Value, sign: &str) -> Option<bool> {
    let order = match (cell, other) {
        (Value::Number(a), Value::Number(b)) => a.as_i64().cmp(&b.as_i64()),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        _ => return None,
    };
    Some(match sign {
        "eq" => order.is_eq(),
        "ne" => order.is_ne(),
        "lt" => order.is_lt(),
        "lte" => order.is_le(),
        "gt" => order.is_gt(),
        "gte" => order.is_ge(),
        _ => panic!("{sign}"),
    })
}

/// `a%`, `%a` or `%`.
fn like(text: &str, pattern: &str) -> bool {
    match (pattern.strip_suffix('%'), pattern.strip_prefix('%')) {
        (Some(prefix), _) if !prefix.starts_with('%') => text.starts_with(prefix),
        (_, Some(suffix)) => text.ends_with(suffix),
        _ => text == pattern,
    }
}

fn variable(value: &Value) -> Option<&'static str> {
    let name = value.as_str()?.to_ascii_lowercase();
    name.starts_with("x-hasura-").then(|| SESSION.iter().find(|it| it.0 == name).unwrap().1)
}

/// A constant or a session variable: a number, if it is one; texts never are here.
fn constant(cell: &Value, value: &Value) -> Value {
    match variable(value) {
        Some(text) => typed(cell, text),
        None => value.clone(),
    }
}

fn typed(cell: &Value, text: &str) -> Value {
    match (cell, text.parse::<i64>()) {
        (Value::String(_), _) | (_, Err(_)) => text.into(),
        (_, Ok(number)) => number.into(),
    }
}

fn constants(cell: &Value, value: &Value) -> Vec<Value> {
    match variable(value) {
        Some(text) => {
            let items = text.trim_matches(['{', '}']).split(',');
            items.map(|it| typed(cell, it.trim_matches('"'))).collect()
        }
        None => value.as_array().unwrap().clone(),
    }
}
