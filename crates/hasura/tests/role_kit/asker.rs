//! Random operations, as the introspection of a role allows.

use super::judge::table;
use crate::wall_kit::ask::Random;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub const INTROSPECTION: &str = "{ __schema { queryType { name } mutationType { name } types { kind name
    fields { name args { name type { ...t } } type { ...t } } inputFields { name type { ...t } } enumValues { name } } } }
    fragment t on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }";

const TEXTS: &[&str] = &["a", "b", "c", "%a%", "b c", ""];
const DEPTH_MAX: u32 = 3;

/// A type without its lists.
#[derive(Clone, Debug)]
struct Of {
    name: String,
    kind: String,
    is_list: bool,
    is_needed: bool,
}

#[derive(Clone, Debug)]
struct Field {
    name: String,
    arguments: Vec<(String, Of)>,
    of: Of,
}

/// The types a role sees.
pub struct View {
    roots: [Option<String>; 2],
    fields: BTreeMap<String, Vec<Field>>,
    inputs: BTreeMap<String, Vec<(String, Of)>>,
    values: BTreeMap<String, Vec<String>>,
}

fn of(ty: &Value) -> Of {
    let mut at = ty;
    let mut is_list = false;
    while !at["ofType"].is_null() {
        is_list |= at["kind"] == "LIST";
        at = &at["ofType"];
    }
    let text = |it: &Value| it.as_str().unwrap().to_owned();
    Of { name: text(&at["name"]), kind: text(&at["kind"]), is_list, is_needed: ty["kind"] == "NON_NULL" }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn name(value: &Value) -> String {
    value["name"].as_str().unwrap().to_owned()
}

impl View {
    pub fn new(introspection: &str) -> Self {
        let all: Value = serde_json::from_str(introspection).unwrap();
        let schema = &all["data"]["__schema"];
        let root = |it: &str| schema[it]["name"].as_str().map(str::to_owned);
        let mut view = Self {
            roots: [root("queryType"), root("mutationType")],
            fields: BTreeMap::new(),
            inputs: BTreeMap::new(),
            values: BTreeMap::new(),
        };
        let inputs = |it: &Value| list(it).map(|it| (name(it), of(&it["type"]))).collect::<Vec<_>>();
        for ty in list(&schema["types"]).filter(|it| !name(it).starts_with("__")) {
            let field =
                |it: &Value| Field { name: name(it), arguments: inputs(&it["args"]), of: of(&it["type"]) };
            view.fields.insert(name(ty), list(&ty["fields"]).map(field).collect());
            view.inputs.insert(name(ty), inputs(&ty["inputFields"]));
            view.values.insert(name(ty), list(&ty["enumValues"]).map(name).collect());
        }
        view
    }

    /// The names of the members of a type, if it is there.
    pub fn members(&self, ty: &str) -> Option<BTreeSet<String>> {
        let fields = self.fields.get(ty)?.iter().map(|it| &it.name);
        let inputs = self.inputs[ty].iter().map(|it| &it.0);
        Some(fields.chain(inputs).chain(&self.values[ty]).cloned().collect())
    }

    /// The fields of an object.
    pub fn output_members(&self, ty: &str) -> Vec<&String> {
        self.fields[ty].iter().map(|it| &it.name).collect()
    }

    /// The fields of an input object.
    pub fn input_members(&self, ty: &str) -> Vec<&String> {
        self.inputs[ty].iter().map(|it| &it.0).collect()
    }

    /// The values of an enum.
    pub fn enum_members(&self, ty: &str) -> Vec<&String> {
        self.values[ty].iter().collect()
    }

    /// The names of all types.
    pub fn types(&self) -> impl Iterator<Item = &String> {
        self.fields.keys()
    }

    /// The types that members are of and that are not there.
    pub fn dangling(&self) -> Vec<&str> {
        let fields = self.fields.values().flatten();
        let arguments = fields.clone().flat_map(|it| &it.arguments).map(|it| &it.1);
        let all = fields.map(|it| &it.of).chain(arguments);
        let all = all.chain(self.inputs.values().flatten().map(|it| &it.1));
        all.map(|it| it.name.as_str()).filter(|it| !self.fields.contains_key(*it)).collect()
    }

    pub fn mutates(&self) -> bool {
        self.roots[1].is_some()
    }

    /// True if there is a root field of queries.
    pub fn has(&self, field: &str) -> bool {
        let root = self.roots[0].as_ref().and_then(|it| self.fields.get(it));
        root.is_some_and(|it| it.iter().any(|it| it.name == field))
    }
}

/// The asker's knowledge of a table: true if its whole key is read, and the limit.
pub type Known = BTreeMap<&'static str, (bool, Option<u64>)>;

pub struct Asker<'v> {
    pub view: &'v View,
    pub random: Random,
    pub known: &'v Known,
    /// True unless some list has no complete order.
    pub exact: bool,
    aliases: u32,
    /// True for a mutation: what it returns is told with all columns, under names of [`RETURNED`].
    returns: bool,
}

/// Prefix of the columns of rows that a mutation returns.
pub const RETURNED: &str = "r_";

impl<'v> Asker<'v> {
    pub const fn new(view: &'v View, seed: u64, known: &'v Known) -> Self {
        Self { view, random: Random::new(seed), known, exact: true, aliases: 0, returns: false }
    }

    fn one_in(&mut self, count: u32) -> bool {
        self.random.below(count) == 0
    }

    /// The operation of the role, and the same with the limits of the role written out.
    pub fn operation(&mut self, mutates: bool) -> (String, String) {
        let root = self.view.roots[usize::from(mutates)].clone().unwrap();
        let count = if mutates { 1 } else { 1 + self.random.below(2) };
        self.returns = mutates;
        let marked = self.selection(&root, 0, count, &|_| true);
        let word = if mutates { "mutation" } else { "query" };
        (format!("{word} {}", unmark(&marked, false)), format!("{word} {}", unmark(&marked, true)))
    }

    fn selection(&mut self, ty: &str, depth: u32, count: u32, wanted: &dyn Fn(&str) -> bool) -> String {
        let view = self.view;
        let mut out = String::from("{ __typename");
        let fields = &view.fields[ty];
        for _ in 0..count {
            let field = &fields[self.random.below(fields.len() as u32) as usize];
            let is_object = field.of.kind == "OBJECT";
            let is_skipped = field.name == "no_queries_available" || is_inexact(&field.name);
            if is_object && depth > DEPTH_MAX || !wanted(&field.name) || is_skipped {
                continue;
            }
            if let Some(text) = self.field(field, depth) {
                out.push_str(&text);
            }
        }
        out + " }"
    }

    fn field(&mut self, field: &Field, depth: u32) -> Option<String> {
        let of = field.of.name.strip_suffix("_aggregate").unwrap_or(&field.of.name);
        let known = self.known.get_key_value(of).map(|it| (*it.0, *it.1));
        let (is_keyed, limit) = known.map_or((false, None), |it| it.1);
        let is_aggregate = field.of.name.ends_with("_aggregate");
        let has = |name: &str| field.arguments.iter().any(|it| it.0 == name);
        let is_rows = field.of.is_list && known.is_some() && !is_aggregate;
        let is_cut = is_rows && field.name != "nodes" && field.name != "returning";
        if field.name.ends_with("_by_pk") && known.is_some() && !is_keyed
            || is_cut && limit.is_some() && !(has("limit") && has("order_by"))
            || is_aggregate && limit.is_some() && !(has("limit") && has("order_by"))
        {
            return None;
        }
        let only_rows = is_aggregate && limit.is_some() && self.one_in(2);
        let cap = limit.filter(|_| is_cut || only_rows);
        let arguments = self.arguments(field, known.map(|it| it.0).filter(|_| is_keyed), cap);
        self.aliases += 1;
        let mut out = format!(" f{}: {}{arguments}", self.aliases, field.name);
        if field.of.kind == "OBJECT" {
            let count = 1 + self.random.below(3);
            let wanted = move |name: &str| !is_aggregate || limit.is_none() || (name == "nodes") == only_rows;
            out.push(' ');
            let mut selection = self.selection(&field.of.name, depth + 1, count, &wanted);
            if self.returns && (field.name == "returning" || depth == 0 && known.is_some()) {
                let columns = self.view.fields[&field.of.name].iter();
                let columns = columns.filter(|it| it.of.kind == "SCALAR" && it.arguments.is_empty());
                let all: String = columns.map(|it| format!(" {RETURNED}{0}: {0}", it.name)).collect();
                selection.insert_str("{ __typename".len(), &all);
            }
            out.push_str(&selection);
        }
        Some(out)
    }

    /// `keyed`: the table, if its rows have a complete order; `cap`: the limit of the role.
    fn arguments(&mut self, field: &Field, keyed: Option<&'static str>, cap: Option<u64>) -> String {
        let mut out = Vec::new();
        let mut first = None;
        let has_order = field.arguments.iter().any(|it| it.0 == "order_by");
        self.exact &= !(field.name.ends_with("_group_by") || field.of.is_list && keyed.is_none());
        for (name, of) in &field.arguments {
            match (name.as_str(), keyed) {
                ("order_by", Some(_)) => {}
                ("limit", Some(_)) if has_order => {
                    let given = if self.one_in(3) { self.random.below(4).to_string() } else { "-".into() };
                    out.push(format!("@{given},{}@", cap.map_or("-".into(), |it| it.to_string())));
                }
                ("offset", Some(_)) if has_order && self.one_in(4) => out.push("offset: 1".into()),
                ("distinct_on", Some(_)) if has_order && self.one_in(5) => {
                    let column = self.value(of, 3);
                    out.push(format!("distinct_on: {column}"));
                    first = Some(column);
                }
                ("limit" | "offset" | "distinct_on", _) => {}
                _ if of.is_needed || self.one_in(2) => {
                    let value = self.listed(of, 0);
                    out.push(format!("{name}: {value}"));
                }
                _ => {}
            }
        }
        let order = field.arguments.iter().find(|it| it.0 == "order_by");
        if let (Some((_, of)), Some(table_name)) = (order, keyed) {
            let mut terms: Vec<String> = first.iter().map(|it| format!("{{{it}: asc}}")).collect();
            if self.one_in(2) {
                terms.push(self.value(of, 2));
            }
            terms.extend(table(table_name).2.iter().map(|it| format!("{{{it}: asc}}")));
            out.push(format!("order_by: [{}]", terms.join(", ")));
        }
        if out.is_empty() { String::new() } else { format!("({})", out.join(", ")) }
    }

    fn listed(&mut self, of: &Of, depth: u32) -> String {
        if of.is_list {
            let items: Vec<String> = (0..1 + self.random.below(2)).map(|_| self.value(of, depth)).collect();
            format!("[{}]", items.join(", "))
        } else {
            self.value(of, depth)
        }
    }

    fn value(&mut self, of: &Of, depth: u32) -> String {
        match (of.kind.as_str(), of.name.as_str()) {
            ("INPUT_OBJECT", ty) => self.object(ty, depth),
            ("ENUM", ty) => {
                let values = &self.view.values[ty];
                values[self.random.below(values.len() as u32) as usize].clone()
            }
            (_, "Boolean") => self.one_in(2).to_string(),
            (_, "String" | "text" | "varchar") => {
                format!("\"{}\"", TEXTS[self.random.below(TEXTS.len() as u32) as usize])
            }
            _ => self.random.below(9).to_string(),
        }
    }

    fn object(&mut self, ty: &str, depth: u32) -> String {
        let fields = &self.view.inputs[ty];
        if fields.is_empty() {
            return "{}".into();
        }
        // An empty list decides about null too.
        if fields.iter().any(|it| it.0 == "_nin") && self.one_in(3) {
            return if self.one_in(4) { "{_in: []}" } else { "{_nin: []}" }.into();
        }
        let is_row = ty.ends_with("_insert_input") && !self.one_in(5);
        let mut chosen: Vec<usize> = (0..fields.len())
            .filter(|it| fields[*it].1.is_needed || is_row && fields[*it].1.kind == "SCALAR")
            .filter(|it| fields[*it].0 != "_PLACEHOLDER")
            .collect();
        for _ in 0..1 + self.random.below(2) {
            let at = self.random.below(fields.len() as u32) as usize;
            let is_asked = !["update_columns", "_PLACEHOLDER"].contains(&fields[at].0.as_str());
            if !chosen.contains(&at) && is_asked && !is_inexact(&fields[at].0) {
                chosen.push(at);
            }
        }
        let mut members = Vec::new();
        for at in chosen {
            let (name, of) = &fields[at];
            if of.kind == "INPUT_OBJECT" && depth > 4 && !of.is_needed {
                continue;
            }
            let value = if is_row && name == "id" {
                self.random.below(16).to_string()
            } else {
                self.listed(of, depth + 1)
            };
            members.push(format!("{name}: {value}"));
        }
        format!("{{{}}}", members.join(", "))
    }
}

/// True for aggregates whose last digits depend on the order of rows.
fn is_inexact(name: &str) -> bool {
    ["var", "stddev", "covar", "corr"].iter().any(|it| name.starts_with(it))
}

/// Writes the limits: what the client gives, or the least of it and the role's.
fn unmark(text: &str, capped: bool) -> String {
    let mut out = String::new();
    for (at, part) in text.split('@').enumerate() {
        let number = |it: &str| it.parse::<u64>().ok();
        match at % 2 {
            0 => out.push_str(part),
            _ => {
                let (given, cap) = part.split_once(',').unwrap();
                let given = number(given);
                let cap = number(cap).filter(|_| capped);
                let least = given.into_iter().chain(cap).min();
                out.push_str(&least.map_or("limit: null".into(), |it| format!("limit: {it}")));
            }
        }
    }
    out
}
