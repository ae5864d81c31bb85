//! Random permissions of roles, and what they come to.

use super::judge::{DOUBLES, Judge, RELATIONS, Row, TABLES, Table, World, table};
use crate::wall_kit::ask::Random;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Roles that are made of others.
pub const INHERITED: &[(&str, &[&str])] = &[("ab", &["a", "b"]), ("abc", &["ab", "c"])];
/// Roles that are asked as.
pub const ROLES: &[&str] = &["a", "ab", "abc"];

const TEXTS: &[&str] = &["a", "b", "c", "b c"];

/// Permissions by role, table and kind.
#[derive(Debug)]
pub struct Grants {
    rules: BTreeMap<(&'static str, &'static str, &'static str), Value>,
    /// True if the caller has the permissions for backends.
    pub is_backend: bool,
}

struct Maker {
    random: Random,
}

impl Maker {
    fn one_in(&mut self, count: u32) -> bool {
        self.random.below(count) == 0
    }

    fn pick<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.random.below(items.len() as u32) as usize]
    }

    /// A condition on rows of `of`, for a permission of the table `root`. `is_alone`: it is about the row alone.
    fn condition(&mut self, of: &'static str, root: &'static str, depth: u32, is_alone: bool) -> Value {
        let deeper = depth < 3;
        match self.random.below(12) {
            0 if depth == 0 => json!({}),
            1 if deeper => json!({"_not": self.condition(of, root, depth + 1, is_alone)}),
            2 if deeper => json!({"_or": self.conditions(of, root, depth, is_alone)}),
            3 if deeper => json!({"_and": self.conditions(of, root, depth, is_alone)}),
            4 | 5 if deeper && !is_alone => {
                let own: Vec<_> = RELATIONS.iter().filter(|it| it.0 == of).collect();
                let (_, name, _, to, ..) = **self.pick(&own);
                let below =
                    if self.one_in(3) { json!({}) } else { self.condition(to, root, depth + 1, false) };
                json!({ name: below })
            }
            6 if deeper && !is_alone => {
                let to = self.pick(TABLES).0;
                json!({"_exists": {"_table": to, "_where": self.condition(to, root, depth + 1, false)}})
            }
            _ => self.comparison(of, root),
        }
    }

    fn conditions(&mut self, of: &'static str, root: &'static str, depth: u32, is_alone: bool) -> Vec<Value> {
        (0..self.random.below(3)).map(|_| self.condition(of, root, depth + 1, is_alone)).collect()
    }

    fn comparison(&mut self, of: &'static str, root: &'static str) -> Value {
        let &(column, is_text, _) = self.pick(table(of).1);
        let value = match (self.one_in(3), is_text) {
            (true, true) => json!("X-Hasura-Text"),
            (true, false) => json!("x-hasura-NUMBER"),
            (false, true) => json!(self.pick(TEXTS)),
            (false, false) => json!(self.random.below(8)),
        };
        let list = match (self.one_in(3), is_text) {
            (true, true) => json!("X-Hasura-Texts"),
            (true, false) => json!("X-Hasura-List"),
            (false, true) => json!([self.pick(TEXTS), "x-hasura-text"]),
            (false, false) => json!([self.random.below(8), self.random.below(8), 5]),
        };
        let is_double = |column: &str| DOUBLES.contains(&column);
        let like = |of: &Table| -> Vec<&str> {
            let is_like =
                |it: &&(&'static str, bool, bool)| it.1 == is_text && is_double(it.0) == is_double(column);
            of.1.iter().filter(is_like).map(|it| it.0).collect()
        };
        let here = like(table(of));
        let there = like(table(root));
        let condition = match self.random.below(16) {
            0 => value,
            1 => Value::Null,
            2 => json!({}),
            3 => json!({"_eq": value}),
            4 => json!({"_ne": value}),
            5 => json!({"_eq": null}),
            6 => json!({"_is_null": self.one_in(2)}),
            7 | 8 if self.one_in(6) => json!({*self.pick(&["_in", "_nin"]): []}),
            7 => json!({"_in": list}),
            8 => json!({"_nin": list}),
            9 if is_text => json!({"_like": *self.pick(&["a%", "%c", "%"])}),
            10 => json!({"_ceq": *self.pick(&here)}),
            11 => json!({"_clt": *self.pick(&here)}),
            12 if !there.is_empty() => json!({"_cgte": ["$", *self.pick(&there)]}),
            13 if !there.is_empty() => json!({"_ceq": ["$", *self.pick(&there)]}),
            14 => json!({"_gt": value, "_neq": 6}).as_object().map_or(Value::Null, |it| fit(it, is_text)),
            _ => json!({"_lte": value}),
        };
        json!({ column: condition })
    }

    fn columns(&mut self, of: &'static str, most: u32) -> Vec<&'static str> {
        // Predicates on aggregates are there by the columns of doubles, of which each table has one at most.
        let most = |column: &str| if DOUBLES.contains(&column) { 2 } else { most };
        table(of).1.iter().map(|it| it.0).filter(|it| self.random.below(most(it)) > 0).collect()
    }

    /// Columns but those of the key: a row is known by it.
    fn changeable(&mut self, of: &'static str) -> Vec<&'static str> {
        let mut columns = self.columns(of, 4);
        columns.retain(|it| !table(of).2.contains(it));
        columns
    }

    fn presets(&mut self, of: &'static str) -> Value {
        let mut set = Map::new();
        for &(column, is_text, nullable) in table(of).1 {
            if table(of).2.contains(&column) || !self.one_in(5) {
                continue;
            }
            let value = match (nullable && self.one_in(3), is_text, self.one_in(2)) {
                (true, ..) => Value::Null,
                (_, true, true) => json!("X-Hasura-Text"),
                (_, false, true) => json!("X-Hasura-Number"),
                (_, true, false) => json!("b"),
                (_, false, false) => json!(1 + self.random.below(3)),
            };
            set.insert(column.to_owned(), value);
        }
        Value::Object(set)
    }

    fn rule(&mut self, of: &'static str, kind: &'static str) -> Value {
        let filter = self.condition(of, of, 0, false);
        let backend = self.one_in(6);
        match kind {
            "select" => {
                let mut rule = json!({"filter": filter, "columns": self.columns(of, 6), "allow_aggregations": !self.one_in(4)});
                if self.one_in(4) {
                    rule["limit"] = (1 + self.random.below(3)).into();
                }
                if self.one_in(6) {
                    rule["query_root_fields"] = self.pick(&[json!([]), json!(["select"])]).clone();
                }
                if self.one_in(6) {
                    rule["columns"] = json!("*");
                }
                if of == "book" && !self.one_in(3) {
                    rule["computed_fields"] = json!(["size"]);
                }
                rule
            }
            "insert" => {
                json!({"check": self.condition(of, of, 1, true), "columns": self.columns(of, 9), "set": self.presets(of), "backend_only": backend})
            }
            "update" => {
                let mut rule = json!({"filter": filter, "columns": self.changeable(of), "set": self.presets(of), "backend_only": backend});
                if !self.one_in(3) {
                    rule["check"] = self.condition(of, of, 1, true);
                }
                rule
            }
            _ => json!({"filter": filter, "backend_only": backend}),
        }
    }
}

/// Operators that fit a text too.
fn fit(operators: &Map<String, Value>, is_text: bool) -> Value {
    let mut operators = operators.clone();
    if is_text {
        operators.insert("_neq".into(), json!("c"));
    }
    Value::Object(operators)
}

impl Grants {
    pub fn new(seed: u64) -> Self {
        let mut maker = Maker { random: Random::new(seed * 7 + 3) };
        let mut rules = BTreeMap::new();
        for &(of, ..) in TABLES {
            for kind in ["select", "insert", "update", "delete"] {
                let mut last = None;
                for role in ["a", "b", "c", "ab"] {
                    let is_same = last.is_some() && kind != "select" && maker.one_in(2);
                    let is_there = if role == "ab" { maker.one_in(12) } else { !maker.one_in(6) };
                    if is_there {
                        let rule = if is_same { last.take() } else { None };
                        let rule = rule.unwrap_or_else(|| maker.rule(of, kind));
                        last = Some(rule.clone());
                        rules.insert((role, of, kind), rule);
                    }
                }
            }
        }
        let mut made = Self { rules, is_backend: maker.one_in(2) };
        // Lists that are cut need a complete order.
        for role in ROLES {
            for (of, ..) in TABLES {
                if !made.is_keyed(role, of) {
                    for (_, rule) in made.rules.iter_mut().filter(|it| it.0.1 == *of && it.0.2 == "select") {
                        rule.as_object_mut().unwrap().remove("limit");
                    }
                }
            }
        }
        made
    }

    /// Permissions of this kind that a role has or inherits: one that is written for the role itself stands alone.
    pub fn of(&self, role: &str, of: &str, kind: &str) -> Vec<(&'static str, &Value)> {
        let own = self.rules.iter().find(|it| it.0.0 == role && it.0.1 == of && it.0.2 == kind);
        if let Some((key, rule)) = own {
            return vec![(key.0, rule)];
        }
        let parents = INHERITED.iter().find(|it| it.0 == role).map_or(&[][..], |it| it.1);
        parents.iter().flat_map(|it| self.of(it, of, kind)).collect()
    }

    /// The permissions of a kind on a table, for messages.
    pub fn tell(&self, role: &str, of: &str, kind: &str) -> String {
        self.of(role, of, kind).iter().map(|(role, rule)| format!("{role} {kind} {of}: {rule}\n")).collect()
    }

    /// The permission to write: the only one, or the one all agree on, unless it is for backends and the caller is none.
    pub fn write(&self, role: &str, of: &str, kind: &str) -> Option<&Value> {
        let all = self.of(role, of, kind);
        let (_, first) = *all.first()?;
        let is_agreed = all.iter().all(|it| given(it.1) == given(first));
        (is_agreed && (self.is_backend || first["backend_only"] != true)).then_some(first)
    }

    /// The largest limit of those who have one.
    pub fn limit(&self, role: &str, of: &str) -> Option<u64> {
        self.of(role, of, "select").iter().filter_map(|it| it.1["limit"].as_u64()).max()
    }

    /// True if the role reads the whole key in all rows.
    pub fn is_keyed(&self, role: &str, of: &str) -> bool {
        let all = self.of(role, of, "select");
        let key = table(of).2;
        !all.is_empty() && all.iter().all(|it| key.iter().all(|column| lists(it.1, column)))
    }

    /// True if the role reads the column in some rows.
    pub fn shows(&self, role: &str, of: &str, column: &str) -> bool {
        self.of(role, of, "select").iter().any(|it| lists(it.1, column))
    }

    /// The cell of a row that a mutation returns: of all columns that every parent reads, else of those that one of the parents reads
    /// who see the row.
    pub fn returned<'r>(
        &self,
        role: &str,
        of: &str,
        column: &str,
        (world, row): (&World, &'r Row),
    ) -> &'r Value {
        let all = self.of(role, of, "select");
        let shows = |rule: &Value| lists(rule, column) && Judge(world).holds(&rule["filter"], of, row);
        if all.iter().all(|it| lists(it.1, column)) || all.iter().any(|it| shows(it.1)) {
            &row[column]
        } else {
            &Value::Null
        }
    }

    /// True if the conditions under which the role reads rows of a table are about the row alone.
    pub fn is_alone(&self, role: &str, of: &str) -> bool {
        self.of(role, of, "select").iter().all(|it| is_alone(&it.1["filter"]))
    }

    /// The rows and cells that the role reads, with the cells it does not read null. Values that tie rows are in columns of
    /// their own.
    pub fn seen(&self, role: &str, world: &World) -> World {
        let seen = |of: &str, row: &Row| {
            let judge = Judge(world);
            let seeing: Vec<_> = self
                .of(role, of, "select")
                .into_iter()
                .filter(|it| judge.holds(&it.1["filter"], of, row))
                .collect();
            (!seeing.is_empty()).then(|| {
                let mut shown = Row::new();
                for (column, cell) in row {
                    let is_shown = seeing.iter().any(|it| lists(it.1, column));
                    shown.insert(column.clone(), if is_shown { cell.clone() } else { Value::Null });
                    shown.insert(format!("s_{column}"), cell.clone());
                }
                shown
            })
        };
        world
            .iter()
            .map(|(of, rows)| (of.clone(), rows.iter().filter_map(|it| seen(of, it)).collect()))
            .collect()
    }

    /// The tables' entries; `ties`: put before the names of the columns that tie rows; `calls`: with computed fields.
    pub fn entries(&self, ties: &str, with_rules: bool, calls: bool) -> Value {
        let entry = |of: &str| {
            let mut entry = json!({"table": of, "object_relationships": [], "array_relationships": []});
            for (_, name, many, to, mine, theirs) in RELATIONS.iter().filter(|it| it.0 == of) {
                let mapping = json!({format!("{ties}{mine}"): format!("{ties}{theirs}")});
                let using = json!({"manual_configuration": {"remote_table": to, "column_mapping": mapping}});
                let list = if *many { "array_relationships" } else { "object_relationships" };
                entry[list].as_array_mut().unwrap().push(json!({"name": name, "using": using}));
            }
            for kind in ["select", "insert", "update", "delete"].into_iter().filter(|_| with_rules) {
                let own = self.rules.iter().filter(|it| it.0.1 == of && it.0.2 == kind);
                let rules = own.map(|(key, rule)| {
                    let mut rule = rule.clone();
                    if !calls {
                        rule.as_object_mut().unwrap().remove("computed_fields");
                    }
                    json!({"role": key.0, "permission": rule})
                });
                entry[format!("{kind}_permissions")] = rules.collect::<Vec<_>>().into();
            }
            let computed =
                |name: &str, function: &str| json!([{"name": name, "definition": {"function": function}}]);
            match of {
                "book" if calls => entry["computed_fields"] = computed("size", "book_size"),
                "author" if calls => entry["computed_fields"] = computed("works", "author_works"),
                _ => {}
            }
            entry
        };
        TABLES.iter().map(|it| entry(it.0)).collect::<Vec<_>>().into()
    }
}

/// A permission to write, without conditions that always hold and without columns that are preset.
fn given(rule: &Value) -> Value {
    let mut rule = plain(rule);
    let set = rule["set"].as_object().cloned().unwrap_or_default();
    if let Some(columns) = rule["columns"].as_array_mut() {
        columns.retain(|it| !set.contains_key(it.as_str().unwrap()));
    }
    rule
}

/// A permission without conditions that always hold.
fn plain(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter().map(|(key, value)| (key.clone(), plain(value)));
            let is_needless = |key: &str, value: &Value| match value {
                Value::Array(items) => key == "_and" && items.iter().all(|it| *it == json!({})),
                _ => *value == json!({}) && table_has(key),
            };
            Value::Object(members.filter(|it| !is_needless(&it.0, &it.1)).collect())
        }
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().into(),
        _ => value.clone(),
    }
}

/// True if a condition is about one row alone.
pub fn is_alone(filter: &Value) -> bool {
    match filter {
        Value::Object(members) => {
            let others = |key: &str| key == "_exists" || RELATIONS.iter().any(|it| it.1 == key);
            members.iter().all(|(key, value)| !others(key) && is_alone(value))
        }
        Value::Array(items) => items.iter().all(is_alone),
        _ => true,
    }
}

fn table_has(column: &str) -> bool {
    TABLES.iter().any(|it| it.1.iter().any(|it| it.0 == column))
}

/// True if the permission lists the column.
pub fn lists(rule: &Value, column: &str) -> bool {
    rule["columns"] == "*" || rule["columns"].as_array().unwrap().iter().any(|it| it == column)
}
