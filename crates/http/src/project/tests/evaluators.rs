//! Values are found in two ways: evaluated as a whole, and taken apart into columns. Both have to find the same.

use super::{plan_query, row_json, run};
use crate::project::Projection;
use crate::sdl::{self, ConnectorId};
use crate::selection::inputs::Keys;
use crate::selection::tests::evaluate;
use crate::selection::{Expr, ExprId, Member, Method, Selection, Start, Step, StepKind};
use fastrand::Rng;
use proptest::prelude::*;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The type of what a selection gives.
enum Shape {
    /// Any JSON.
    Leaf,
    /// Fields, each within so many lists.
    Object(Vec<(String, Shape, usize)>),
}

/// Nesting of lists in a value.
fn lists(value: &Value) -> usize {
    value.as_array().map_or(0, |items| 1 + items.iter().map(lists).max().unwrap_or(0))
}

/// Values within lists that are no lists.
fn flat<'v>(value: &'v Value, found: &mut Vec<&'v Value>) {
    match value.as_array() {
        Some(items) => items.iter().for_each(|it| flat(it, found)),
        None => found.push(value),
    }
}

/// The fields that `members` give where `samples` came of them.
fn fields(
    selection: &Selection,
    members: &[Member],
    samples: &[&Value],
    found: &mut Vec<(String, Shape, usize)>,
) {
    for member in members {
        match (&member.name, selection.group(member.value)) {
            (Some(name), _) => {
                let of: Vec<&Value> = samples.iter().filter_map(|it| it.get(&**name)).collect();
                let (shape, depth) = shape_of(selection, member.value, &of);
                found.push((name.to_string(), shape, depth));
            }
            (None, Some(inner)) => fields(selection, inner, samples, found),
            (None, None) => {}
        }
    }
}

/// The type of `id`, and the lists it is within: that of objects where it has members.
fn shape_of(selection: &Selection, id: ExprId, samples: &[&Value]) -> (Shape, usize) {
    let depth = samples.iter().map(|it| lists(it)).max().unwrap_or(0);
    let mut items = Vec::new();
    samples.iter().for_each(|it| flat(it, &mut items));
    let mut found = Vec::new();
    match selection.group(id) {
        Some(members) => fields(selection, members, &items, &mut found),
        None => {
            for name in own_names(selection, id) {
                found.push((name, Shape::Leaf, 0));
            }
        }
    }
    if found.is_empty() { (Shape::Leaf, 0) } else { (Shape::Object(found), depth) }
}

/// The names of objects that are written out.
fn own_names(selection: &Selection, id: ExprId) -> Vec<String> {
    match selection.expr(id) {
        Expr::Object(members) => members.iter().map(|it| it.0.to_string()).collect(),
        Expr::Path { start: Start::Value(inner), steps } if steps.is_empty() => own_names(selection, *inner),
        Expr::Path { steps, .. } => match steps.last() {
            Some(Step { kind: StepKind::Call(call), .. }) if call.method == Method::Map => {
                own_names(selection, call.arguments[0])
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// The types of the graph, the type of the field and the query for all of it.
fn write_types(shape: &Shape, depth: usize, types: &mut Vec<String>) -> (String, String) {
    let (ty, query) = match shape {
        Shape::Leaf => ("Any".to_owned(), String::new()),
        Shape::Object(fields) => {
            let all: Vec<_> = fields.iter().map(|it| (&it.0, write_types(&it.1, it.2, types))).collect();
            let name = format!("T{}", types.len());
            let line: Vec<String> = all.iter().map(|(name, it)| format!("{name}: {}", it.0)).collect();
            types.push(format!("type {name} {{ {} }}", line.join(" ")));
            let query: Vec<String> = all.iter().map(|(name, it)| format!("{name} {}", it.1)).collect();
            (name, format!("{{ {} }}", query.join(" ")))
        }
    };
    (format!("{}{ty}{}", "[".repeat(depth), "]".repeat(depth)), query)
}

/// The parts of an evaluated value that fit its type; the others are null.
fn fitting(shape: &Shape, depth: usize, value: &Value) -> Value {
    match (shape, value) {
        (_, Value::Array(items)) if depth > 0 => {
            items.iter().map(|it| fitting(shape, depth - 1, it)).collect()
        }
        (Shape::Leaf, value) if depth == 0 => value.clone(),
        (Shape::Object(fields), Value::Object(members)) if depth == 0 => {
            let field = |it: &(String, Shape, usize)| {
                (it.0.clone(), fitting(&it.1, it.2, members.get(&it.0).unwrap_or(&Value::Null)))
            };
            Value::Object(fields.iter().map(field).collect::<Map<_, _>>())
        }
        _ => Value::Null,
    }
}

/// Without what is told of errors.
fn data(value: Value) -> Value {
    match value {
        Value::String(text) if text.starts_with("! ") => Value::Null,
        Value::Array(items) => items.into_iter().map(data).collect(),
        Value::Object(members) => members.into_iter().map(|(key, value)| (key, data(value))).collect(),
        other => other,
    }
}

/// Result of a field of the type for `answer`; nothing if the types cannot express all of it.
fn project_text(text: &str, shape: &Shape, depth: usize, answer: &str) -> Option<Value> {
    let mut types = Vec::new();
    let (ty, query) = write_types(shape, depth, &mut types);
    let literal = serde_json::to_string(text).expect("a text");
    let version = if text.contains("...") || text.contains("->as(") { 4 } else { 3 };
    let text = format!(
        "extend schema @link(url: \"https://specs.apollo.dev/connect/v0.{version}\", import: [\"@source\", \"@connect\"])
        @source(name: \"s\", http: {{baseURL: \"http://host\"}})\nscalar Any {}
        type Query {{ a: {ty} @connect(source: \"s\", http: {{GET: \"/a\"}}, selection: {literal}) }}",
        types.join("\n")
    );
    let mapping = match sdl::read(&text, "s") {
        Ok(mapping) => Arc::new(mapping),
        Err(mistakes) => {
            // A name that two groups give has one type of its own only as JSON.
            assert!(mistakes[0].message.contains("only be defined once"), "{text}\n{}", mistakes[0]);
            return None;
        }
    };
    let planned = plan_query(&mapping.schema, mapping.schema.query, &format!("{{ a {query} }}"));
    let fields = planned.fields();
    let projection = Projection::field(&mapping, ConnectorId(0), &planned.node(&fields), fields[0]);
    let table = run(&mapping, &planned, &projection, &[answer], Keys::NONE);
    Some(row_json(&planned.output, planned.root, &table, 0)["a"].clone())
}

/// `text` gives the same of `answer` however it is found: as JSON and as a type of its own.
#[track_caller]
pub(crate) fn agree(text: &str, answer: &str) {
    let selection = Selection::parse(text).expect("a selection");
    let evaluated = evaluate(text, answer);
    let value: Value = serde_json::from_str(&evaluated).unwrap_or(Value::Null);
    let json = project_text(text, &Shape::Leaf, 0, answer).expect("JSON is any value");
    let is_told = json.as_str().is_some_and(|it| it.starts_with("! "));
    assert_eq!(
        is_told,
        serde_json::from_str::<Value>(&evaluated).is_err() && evaluated != "missing",
        "{text}"
    );
    assert_eq!(data(json), value, "{text} over {answer}, as JSON");
    let (shape, depth) = shape_of(&selection, selection.root(), &[&value]);
    if let Some(typed) = project_text(text, &shape, depth, answer) {
        assert_eq!(data(typed), fitting(&shape, depth, &value), "{text} over {answer}, as a type");
    }
}

/// Writes random selections.
struct Writer {
    rng: Rng,
    names: usize,
}

impl Writer {
    fn pick<'p>(&mut self, of: &[&'p str]) -> &'p str {
        of[self.rng.usize(..of.len())]
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("n{}", self.names)
    }

    fn expr(&mut self, depth: usize) -> String {
        match self.rng.usize(..if depth == 0 { 5 } else { 11 }) {
            0 => self.pick(&["1", "2", "1.0", "-.5", "0"]).to_owned(),
            1 => self.pick(&["'a'", "'x'", "true", "false", "null", "\"a,b\""]).to_owned(),
            2..=5 => self.path(depth),
            6 => format!("[{}, {}]", self.expr(depth - 1), self.expr(depth - 1)),
            7 => format!("{{p: {}, q: {}}}", self.expr(depth - 1), self.expr(depth - 1)),
            8 => format!("$({} ?? {})", self.expr(depth - 1), self.expr(depth - 1)),
            9 => format!("$({} ?! {})", self.expr(depth - 1), self.expr(depth - 1)),
            _ => format!("{} {{ {} }}", self.path(depth - 1), self.members(depth - 1)),
        }
    }

    fn path(&mut self, depth: usize) -> String {
        let start =
            self.pick(&["a", "b", "c", "a", "b", "$", "@", "$.a", "$.b", "$config.deep", "$config.unit"]);
        let mut path = start.to_owned();
        for _ in 0..self.rng.usize(..3) {
            path += &self.step(depth);
        }
        path
    }

    fn step(&mut self, depth: usize) -> String {
        let plain = [
            ".a",
            ".b",
            ".c",
            ".a",
            "->first",
            "->last",
            "->size",
            "->entries",
            "->not",
            "->toString",
            "->parseInt",
            "->jsonStringify",
            "->jsonParse",
            "->get(0)",
            "->get('a')",
            "->slice(1)",
            "->joinNotNull(',')",
            "->nope",
        ];
        if depth == 0 || self.rng.bool() {
            return self.pick(&plain).to_owned();
        }
        let method = self.pick(&[
            "echo", "map", "filter", "find", "eq", "ne", "lt", "gte", "in", "contains", "and", "or", "add",
            "mul", "div", "mod", "get", "map", "match",
        ]);
        match method {
            "match" => {
                let a = self.expr(depth - 1);
                let b = self.expr(depth - 1);
                let c = self.expr(depth - 1);
                format!("->match([{a}, {b}], [@, {c}])")
            }
            method => format!("->{method}({})", self.expr(depth - 1)),
        }
    }

    fn members(&mut self, depth: usize) -> String {
        let mut out = Vec::new();
        for _ in 0..1 + self.rng.usize(..3) {
            let kind = self.rng.usize(..if depth == 0 { 3 } else { 8 });
            let name = self.name();
            out.push(match kind {
                0..=2 => format!("{name}: {}", self.path(depth)),
                3 => format!("{name}: $({})", self.expr(depth)),
                4 => format!("{name}: {{ {} }}", self.members(depth - 1)),
                5 => format!("{name}: {} {{ {} }}", self.path(depth - 1), self.members(depth - 1)),
                6 => {
                    let path =
                        self.pick(&["$.a", "$.b", "$.a.b", "a.c", "b->first", "$", "@", "$config.deep"]);
                    format!("{path} {{ {} }}", self.members(depth - 1))
                }
                _ => format!("{name}: $({}) {{ {} }}", self.expr(depth - 1), self.members(depth - 1)),
            });
        }
        out.join(" ")
    }

    fn answer(&mut self, depth: usize) -> Value {
        match self.rng.usize(..if depth == 0 { 6 } else { 12 }) {
            0 => Value::Null,
            1 => self.rng.bool().into(),
            2 | 3 => self.rng.i32(-1..4).into(),
            4 => 1.0.into(),
            5 => self.pick(&["a", "x", "12", "é", "[1]"]).into(),
            6..=8 => (0..self.rng.usize(..4)).map(|_| self.answer(depth - 1)).collect(),
            _ => self.object(depth),
        }
    }

    fn object(&mut self, depth: usize) -> Value {
        let mut members = Map::new();
        for key in ["a", "b", "c"] {
            if self.rng.usize(..4) > 0 {
                members.insert(key.to_owned(), self.answer(depth - 1));
            }
        }
        Value::Object(members)
    }
}

proptest! {
    #[test]
    fn both_ways_find_the_same(seed: u64) {
        let mut writer = Writer { rng: Rng::with_seed(seed), names: 0 };
        let text = if writer.rng.usize(..6) == 0 { format!("$.a {{ {} }}", writer.members(3)) } else { writer.members(3) };
        for _ in 0..4 {
            let answer = if writer.rng.usize(..5) == 0 { writer.answer(4) } else { writer.object(4) };
            agree(&text, &answer.to_string());
        }
    }
}
