//! The schema of a tool's arguments: the variables of its operation.
//!
//! Enums and input objects stand in `$defs`, because input objects recur. Only some levels of them are spelled out: filters of databases
//! reach every table, and a model pays for each word.
//!
//! **Invariant:** every `$ref` leads to a member of `$defs`, and types and members are those that the caller sees.

use super::scalar_schema::{input_scalar, into_object};
use serde_json::{Map, Value, json};
use std::collections::{HashSet, VecDeque};
use weir_language::ast::{Document, Operation, ValueId, ValueKind, VariableDefinition};
use weir_language::schema::{Input, SchemaView, TypeId, TypeKind};
use weir_language::wraps::Wraps;

/// Types that one schema spells out at most.
const TYPES_MAX: usize = 60;

/// Names that a type which is not spelled out tells.
const NAMES_MAX: usize = 40;

/// The schema of the variables of `operation`, with `depth_max` levels of input objects.
pub(in crate::operations::tools) fn variables_schema(
    view: SchemaView<'_>,
    document: &Document<'_>,
    operation: &Operation,
    depth_max: u32,
) -> Map<String, Value> {
    let mut writer = InputWriter { view, depth_max, seen: HashSet::new(), pending: VecDeque::new() };
    let mut properties = Map::new();
    let mut required = Vec::new();
    for variable in document.list(operation.variables) {
        let name = document.str(variable.name);
        if variable.ty.wraps.is_non_null() && variable.default.is_none() {
            required.push(name);
        }
        properties.insert(name.to_owned(), Value::Object(variable_schema(&mut writer, document, variable)));
    }
    let required: Vec<Value> = required.into_iter().map(Value::from).collect();
    let mut schema = into_object(json!({ "type": "object", "properties": properties }));
    if !required.is_empty() {
        schema.insert("required".into(), required.into());
    }
    schema.insert("additionalProperties".into(), false.into());
    let definitions = writer.definitions();
    if !definitions.is_empty() {
        schema.insert("$defs".into(), definitions.into());
    }
    schema
}

fn variable_schema(
    writer: &mut InputWriter<'_>,
    document: &Document<'_>,
    variable: &VariableDefinition,
) -> Map<String, Value> {
    let base = writer.view.type_by_name(document.str(variable.ty.name));
    let inner = base.map(|it| writer.named(it, 1)).unwrap_or_default();
    let mut schema = wrap_in_lists(inner, variable.ty.wraps);
    let mut words = variable.description.map(|it| document.string(it).into_owned()).unwrap_or_default();
    if let Some(default) = variable.default {
        match leaf_json(document, default) {
            Some(value) => _ = schema.insert("default".into(), value),
            // Digits of decimals, and values of several levels, stay as they are written.
            None => words.push_str(&format!(" Default: {}", document.str(document.value(default).span))),
        }
    }
    if !words.is_empty() {
        schema.insert("description".into(), words.trim().into());
    }
    schema
}

/// JSON of a literal that JSON has exactly: no decimal, nothing that nests.
fn leaf_json(document: &Document<'_>, id: ValueId) -> Option<Value> {
    match document.value(id).kind {
        ValueKind::Int => document.str(document.value(id).span).parse::<i64>().ok().map(Value::from),
        ValueKind::String { .. } | ValueKind::Block => Some(Value::from(document.string(id).into_owned())),
        ValueKind::Boolean(value) => Some(value.into()),
        ValueKind::Null => Some(Value::Null),
        ValueKind::Enum => Some(document.str(document.value(id).span).into()),
        ValueKind::List(items) if items.is_empty() => Some(json!([])),
        ValueKind::Object(members) if members.is_empty() => Some(json!({})),
        ValueKind::Float | ValueKind::Variable(_) | ValueKind::List(_) | ValueKind::Object(_) => None,
    }
}

/// Wraps `inner` in the lists of `wraps`.
fn wrap_in_lists(inner: Map<String, Value>, wraps: Wraps) -> Map<String, Value> {
    (0..wraps.lists()).fold(inner, |inner, _| into_object(json!({ "type": "array", "items": inner })))
}

/// Types that a schema needs, by level.
struct InputWriter<'v> {
    view: SchemaView<'v>,
    depth_max: u32,
    seen: HashSet<TypeId>,
    /// Enums and input objects with their level, in the order in which they were met.
    pending: VecDeque<(TypeId, u32)>,
}

impl InputWriter<'_> {
    /// The schema of the type `id`, which is met at `level`.
    fn named(&mut self, id: TypeId, level: u32) -> Map<String, Value> {
        let name = self.view.type_name(id);
        match self.view.ty(id).kind {
            TypeKind::Scalar(reader) => input_scalar(name, reader),
            TypeKind::Enum | TypeKind::Input { .. } => {
                if self.seen.insert(id) {
                    self.pending.push_back((id, level));
                }
                into_object(json!({ "$ref": format!("#/$defs/{name}") }))
            }
            TypeKind::Object | TypeKind::Interface | TypeKind::Union => Map::new(),
        }
    }

    /// The types that were met, and those that they need.
    fn definitions(mut self) -> Map<String, Value> {
        let mut found = Map::new();
        while let Some((id, level)) = self.pending.pop_front() {
            let is_spelled_out = level <= self.depth_max && found.len() < TYPES_MAX;
            let schema = match self.view.ty(id).kind {
                TypeKind::Enum => self.enumeration(id),
                TypeKind::Input { one_of } if is_spelled_out => self.input_object(id, one_of, level),
                TypeKind::Input { .. }
                | TypeKind::Scalar(_)
                | TypeKind::Object
                | TypeKind::Interface
                | TypeKind::Union => self.closed_object(id),
            };
            found.insert(self.view.type_name(id).to_owned(), schema.into());
        }
        found
    }

    fn enumeration(&self, id: TypeId) -> Map<String, Value> {
        let values: Vec<&str> =
            self.view.enum_values(id).map(|it| self.view.str(self.view.enum_value(it).name)).collect();
        into_object(json!({ "type": "string", "enum": values }))
    }

    fn input_object(&mut self, id: TypeId, one_of: bool, level: u32) -> Map<String, Value> {
        let view = self.view;
        let members: Vec<Input> = view.inputs(view.ty(id).members).map(|it| view.input(it)).collect();
        let mut properties = Map::new();
        let mut required: Vec<Value> = Vec::new();
        for input in members {
            let name = view.str(input.name);
            let inner = self.named(input.ty.base, level + 1);
            let mut schema = wrap_in_lists(inner, input.ty.wraps);
            // Each comparison of a filter would repeat the bounds of its type, which a model pays for.
            schema.retain(|key, _| key != "minimum" && key != "maximum");
            if !input.description.is_empty() {
                schema.insert("description".into(), view.str(input.description).into());
            }
            if input.ty.is_non_null() && input.default.is_none() {
                required.push(name.into());
            }
            properties.insert(name.to_owned(), schema.into());
        }
        let mut schema = into_object(json!({ "type": "object", "properties": properties }));
        if !required.is_empty() {
            schema.insert("required".into(), required.into());
        }
        if one_of {
            schema.insert("minProperties".into(), 1.into());
            schema.insert("maxProperties".into(), 1.into());
        }
        schema.insert("additionalProperties".into(), false.into());
        schema
    }

    /// An input object of which only the names of the members are told.
    fn closed_object(&self, id: TypeId) -> Map<String, Value> {
        let members = self.view.inputs(self.view.ty(id).members);
        let mut names: Vec<&str> = members.map(|it| self.view.input_name(it)).take(NAMES_MAX + 1).collect();
        if names.len() > NAMES_MAX {
            names[NAMES_MAX] = "…";
        }
        let words = format!("GraphQL input `{}`: {}", self.view.type_name(id), names.join(", "));
        into_object(json!({ "type": "object", "description": words }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_language::ast::Definition;
    use weir_language::limits::Limits;
    use weir_language::parser::{self, Edition};
    use weir_language::schema::Schema;

    const SDL: &str = "type Query { boat(where: Where, kind: Rig, ids: [ID!]): Int }
        enum Rig { SAIL MOTOR }
        input Where { \"Name of it\" name: String, size: Int!, and: [Where!], owner: Owner, pick: Pick }
        input Owner { name: String, home: Home }
        input Home { town: String }
        input Pick @oneOf { a: Int, b: Int }";

    fn check(operation: &str, depth_max: u32, expected: Value) {
        let schema = Schema::from_sdl(SDL).expect("it is sound");
        let document =
            parser::parse_edition(operation, &Limits::NONE, Edition::September2026).expect("it is GraphQL");
        let Some(Definition::Operation(parsed)) = document.definitions.first() else { panic!("{operation}") };
        let found = variables_schema((&schema).into(), &document, parsed, depth_max);
        assert_eq!(Value::Object(found), expected, "{operation}");
    }

    #[test]
    fn variables_are_properties() {
        check(
            "query A { a }",
            1,
            json!({ "type": "object", "properties": {}, "additionalProperties": false }),
        );
        check(
            "query A(\"How many\" $n: Int! = 7, $ids: [ID!]!, $b: Boolean = true, $f: Float = 1.10, $k: Rig = SAIL) { a }",
            1,
            json!({
                "type": "object",
                "properties": {
                    "n": { "type": "integer", "minimum": i32::MIN, "maximum": i32::MAX, "default": 7, "description": "How many" },
                    "ids": { "type": "array", "items": { "type": ["string", "integer"] } },
                    "b": { "type": "boolean", "default": true },
                    "f": { "type": "number", "description": "Default: 1.10" },
                    "k": { "$ref": "#/$defs/Rig", "default": "SAIL" },
                },
                "required": ["ids"],
                "additionalProperties": false,
                "$defs": { "Rig": { "type": "string", "enum": ["SAIL", "MOTOR"] } },
            }),
        );
    }

    #[test]
    fn levels_of_input_objects_are_bounded() {
        let int = json!({ "type": "integer" });
        let where_object = json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "description": "Name of it" },
                "size": int,
                "and": { "type": "array", "items": { "$ref": "#/$defs/Where" } },
                "owner": { "$ref": "#/$defs/Owner" },
                "pick": { "$ref": "#/$defs/Pick" },
            },
            "required": ["size"],
            "additionalProperties": false,
        });
        let of = |definitions: Value| {
            json!({
                "type": "object",
                "properties": { "w": { "$ref": "#/$defs/Where" } },
                "additionalProperties": false,
                "$defs": definitions,
            })
        };
        let closed = |words: &str| json!({ "type": "object", "description": words });
        check(
            "query A($w: Where) { a }",
            1,
            of(json!({
                "Where": where_object,
                "Owner": closed("GraphQL input `Owner`: name, home"),
                "Pick": closed("GraphQL input `Pick`: a, b"),
            })),
        );
        check(
            "query A($w: Where) { a }",
            2,
            of(json!({
                "Where": where_object,
                "Owner": {
                    "type": "object",
                    "properties": { "name": { "type": "string" }, "home": { "$ref": "#/$defs/Home" } },
                    "additionalProperties": false,
                },
                "Pick": {
                    "type": "object",
                    "properties": { "a": int, "b": int },
                    "minProperties": 1,
                    "maxProperties": 1,
                    "additionalProperties": false,
                },
                "Home": closed("GraphQL input `Home`: town"),
            })),
        );
    }
}
