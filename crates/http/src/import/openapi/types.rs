//! Converts OpenAPI schemas to GraphQL types and to selections that read them.
//!
//! **Invariant:** the object types that were made form no circle through their fields: what would close one is a field of
//! type `JSON`. So every selection ends.

use super::document::{Document, is_true, text};
use super::graphql_names::{self, TakenNames};
use super::integers::{self, WIDE};
use crate::selection;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

/// Maximum nesting of schemas; deeper ones are `JSON`.
const NESTING_MAX: usize = 24;

/// Maximum number of schemas searched for a `null` type.
const CHOICES_MAX: usize = 1_000;

/// Maximum number of fields in a selection.
const SELECTED_MAX: usize = 5_000;

/// Maximum size of a generated selection, in bytes; the parser refuses longer ones.
const SELECTED_BYTES_MAX: usize = selection::BYTES_MAX - 1024;

/// Whether values are read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Way {
    Out,
    In,
}

/// A generated type.
pub(super) struct NamedType {
    pub name: String,
    pub description: Option<String>,
    pub way: Way,
    pub kind: NamedKind,
}

pub(super) enum NamedKind {
    Object(Vec<Field>),
    Enum(Vec<String>),
}

pub(super) struct Field {
    pub name: String,
    /// Name in the service's JSON.
    pub key: String,
    pub shape: TypeShape,
    pub required: bool,
    pub description: Option<String>,
    pub deprecated: bool,
}

/// Type of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TypeShape {
    /// The type in SDL, without a final `!`.
    pub ty: String,
    pub nullable: bool,
    /// Index of the object type whose fields must be selected.
    pub object: Option<usize>,
}

impl TypeShape {
    fn plain(ty: &str) -> Self {
        Self { ty: ty.into(), nullable: false, object: None }
    }

    pub(super) fn is_list(&self) -> bool {
        self.ty.starts_with('[')
    }

    /// True for a single value or a list of single values.
    fn is_flat(&self) -> bool {
        self.object.is_none()
            && self.ty != "JSON"
            && !self.ty.starts_with("[[")
            && !self.ty.starts_with("[JSON")
    }
}

/// All generated types.
pub(super) struct Types<'d> {
    document: &'d Document,
    pub made: Vec<NamedType>,
    pub notes: Vec<String>,
    /// Custom scalars to define.
    pub scalars: BTreeSet<&'static str>,
    given: TakenNames,
    /// Types by schema reference; `None` while a type is being built.
    known: HashMap<(String, Way), Option<TypeShape>>,
}

impl<'d> Types<'d> {
    pub(super) fn new(document: &'d Document) -> Self {
        let mut given = TakenNames::default();
        for scalar in ["JSON", WIDE] {
            given.fresh(scalar.into());
        }
        Self {
            document,
            made: Vec::new(),
            notes: Vec::new(),
            scalars: BTreeSet::new(),
            given,
            known: HashMap::new(),
        }
    }

    /// The `JSON` scalar, for values of any shape.
    pub(super) fn json(&mut self) -> TypeShape {
        self.scalars.insert("JSON");
        TypeShape { nullable: true, ..TypeShape::plain("JSON") }
    }

    fn json_because(&mut self, note: String) -> TypeShape {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
        self.json()
    }

    /// Type of `schema`; `hint` is the name for a new type.
    pub(super) fn shape(&mut self, schema: &'d Value, way: Way, hint: &str, depth: usize) -> TypeShape {
        if depth > NESTING_MAX {
            return self.json_because(format!("`{hint}` nests deeper than {NESTING_MAX}; it is JSON"));
        }
        let Some(found) = self.document.resolve(schema) else {
            let reference = text(schema, "$ref").unwrap_or("$ref");
            return self.json_because(format!("`{reference}` cannot be followed; it is JSON"));
        };
        let Some(reference) = found.reference else { return self.direct(found.value, way, hint, depth) };
        let key = (reference.to_string(), way);
        let own = reference.rsplit('/').next().unwrap_or(hint);
        match self.known.get(&key) {
            Some(Some(shape)) => return shape.clone(),
            Some(None) => {
                return self
                    .json_because(format!("`{own}` holds itself; where the circle closes it is JSON"));
            }
            None => {}
        }
        self.known.insert(key.clone(), None);
        let shape = self.direct(found.value, way, own, depth + 1);
        self.known.insert(key, Some(shape.clone()));
        shape
    }

    /// Type of a schema that is not a reference.
    fn direct(&mut self, schema: &'d Value, way: Way, hint: &str, depth: usize) -> TypeShape {
        let mut shape = self.by_kind(schema, way, hint, depth);
        shape.nullable |= is_true(schema, "nullable") || kinds(schema).contains(&"null");
        shape
    }

    fn by_kind(&mut self, schema: &'d Value, way: Way, hint: &str, depth: usize) -> TypeShape {
        let choice = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array);
        // Alternatives that are only conditions, such as required members, define no type.
        if let Some(choice) =
            choice.filter(|it| schema.get("properties").is_none() || it.iter().any(says_type))
        {
            return self.choice(choice, way, hint, depth);
        }
        if let Some([only]) = schema.get("allOf").and_then(Value::as_array).map(Vec::as_slice)
            && schema.get("properties").is_none()
        {
            return self.shape(only, way, hint, depth + 1);
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return self.enumeration(values, schema, hint);
        }
        if let (Some(value), true) = (schema.get("const"), kinds(schema).is_empty()) {
            return self.constant(value);
        }
        let kinds: Vec<&str> = kinds(schema).into_iter().filter(|it| *it != "null").collect();
        match kinds.as_slice() {
            [] if schema.get("properties").is_some() || schema.get("allOf").is_some() => {
                self.object(schema, way, hint, depth)
            }
            [] if schema.get("items").is_some() => self.list(schema, way, hint, depth),
            ["object"] => self.object(schema, way, hint, depth),
            ["array"] => self.list(schema, way, hint, depth),
            ["string"] => TypeShape::plain("String"),
            ["boolean"] => TypeShape::plain("Boolean"),
            ["number"] => TypeShape::plain("Float"),
            ["integer"] => self.scalar(integers::type_of(schema)),
            [_, ..] => self.json_because(format!("`{hint}` is of several types; it is JSON")),
            [] => self.json(),
        }
    }

    /// Type of alternatives: the only one besides null, else `JSON`.
    fn choice(&mut self, choice: &'d [Value], way: Way, hint: &str, depth: usize) -> TypeShape {
        let real: Vec<&Value> = choice.iter().filter(|it| kinds(it) != ["null"]).collect();
        match real.as_slice() {
            [only] => {
                let shape = self.shape(only, way, hint, depth + 1);
                TypeShape { nullable: shape.nullable || real.len() < choice.len(), ..shape }
            }
            _ => match self.common_scalar(&real) {
                Some(scalar) => TypeShape { nullable: real.len() < choice.len(), ..self.scalar(scalar) },
                None => self
                    .json_because(format!("`{hint}` is one of several schemas (oneOf, anyOf); it is JSON")),
            },
        }
    }

    /// The scalar common to all alternatives.
    fn common_scalar(&self, choice: &[&Value]) -> Option<&'static str> {
        let mut all = choice.iter().map(|it| {
            let schema = self.document.resolve(it)?.value;
            match kinds(schema).as_slice() {
                ["string"] => Some("String"),
                ["boolean"] => Some("Boolean"),
                ["number"] => Some("Float"),
                ["integer"] => Some(integers::type_of(schema)),
                _ => None,
            }
        });
        let first = all.next()??;
        all.all(|it| it == Some(first)).then_some(first)
    }

    /// Type of a `const` in a schema without `type`.
    fn constant(&mut self, value: &Value) -> TypeShape {
        match value {
            Value::String(_) => TypeShape::plain("String"),
            Value::Bool(_) => TypeShape::plain("Boolean"),
            Value::Number(number) if number.is_f64() => TypeShape::plain("Float"),
            Value::Number(_) => self.scalar(integers::type_of_values(std::slice::from_ref(value))),
            Value::Null | Value::Array(_) | Value::Object(_) => self.json(),
        }
    }

    fn scalar(&mut self, name: &'static str) -> TypeShape {
        if name == WIDE {
            self.scalars.insert(WIDE);
        }
        TypeShape::plain(name)
    }

    /// True if the schema explicitly allows null.
    pub(super) fn allows_null(&self, schema: &Value) -> bool {
        let mut open = vec![schema];
        // The loop is bounded because schemas may reference each other in cycles.
        for _ in 0..CHOICES_MAX {
            let Some(schema) = open.pop() else { break };
            let Some(schema) = self.document.resolve(schema).map(|it| it.value) else { continue };
            let has_null = |key: &str| {
                schema.get(key).and_then(Value::as_array).is_some_and(|it| it.iter().any(Value::is_null))
            };
            if is_true(schema, "nullable") || kinds(schema).contains(&"null") || has_null("enum") {
                return true;
            }
            let choices = ["oneOf", "anyOf"].into_iter().filter_map(|it| schema.get(it)?.as_array());
            let only = schema.get("allOf").and_then(Value::as_array).filter(|it| it.len() == 1);
            open.extend(choices.chain(only).flatten());
        }
        false
    }

    /// `media`, or the media type that it references.
    pub(super) fn media(&self, media: &'d Value) -> &'d Value {
        self.document.media(media)
    }

    fn enumeration(&mut self, values: &[Value], schema: &Value, hint: &str) -> TypeShape {
        let nullable = values.iter().any(Value::is_null);
        let names: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
        let all_texts = names.len() + usize::from(nullable) == values.len() && !names.is_empty();
        let are_names =
            names.iter().all(|it| graphql_names::is_valid(it) && !matches!(*it, "true" | "false" | "null"));
        if !(all_texts && are_names) {
            let ty = match kinds(schema).as_slice() {
                ["integer", ..] => integers::type_of_values(values),
                ["number", ..] => "Float",
                ["boolean", ..] => "Boolean",
                _ if all_texts => "String",
                _ => return self.json(),
            };
            if all_texts {
                self.notes.push(format!("the values of `{hint}` are no names of GraphQL; it is a String"));
            }
            return TypeShape { nullable, ..self.scalar(ty) };
        }
        let mut values: Vec<String> = Vec::new();
        for name in names {
            if !values.iter().any(|it| it == name) {
                values.push(name.to_string());
            }
        }
        let same = |it: &NamedType| matches!(&it.kind, NamedKind::Enum(known) if *known == values && it.name.starts_with(&graphql_names::type_name(hint)));
        let name = match self.made.iter().find(|it| same(it)) {
            Some(known) => known.name.clone(),
            None => {
                let name = self.given.fresh(graphql_names::type_name(hint));
                let description = first_line(schema);
                self.made.push(NamedType {
                    name: name.clone(),
                    description,
                    way: Way::Out,
                    kind: NamedKind::Enum(values),
                });
                name
            }
        };
        TypeShape { nullable, ..TypeShape::plain(&name) }
    }

    fn list(&mut self, schema: &'d Value, way: Way, hint: &str, depth: usize) -> TypeShape {
        let item = match schema.get("items") {
            Some(items) => self.shape(items, way, hint, depth + 1),
            None => self.json(),
        };
        let bang = if item.nullable { "" } else { "!" };
        TypeShape { ty: format!("[{}{bang}]", item.ty), nullable: false, object: item.object }
    }

    fn object(&mut self, schema: &'d Value, way: Way, hint: &str, depth: usize) -> TypeShape {
        let mut properties = Vec::new();
        let mut required = BTreeSet::new();
        self.merge(schema, &mut properties, &mut required, depth);
        let hidden = if way == Way::Out { "writeOnly" } else { "readOnly" };
        let suffix = if way == Way::Out { "" } else { "Input" };
        let wanted = graphql_names::type_name(hint);
        let mut given = TakenNames::default();
        let mut fields = Vec::new();
        for (key, property) in properties {
            let meant = self.document.resolve(property).map_or(property, |it| it.value);
            if is_true(property, hidden) || is_true(meant, hidden) {
                continue;
            }
            let shape = self.shape(property, way, &format!("{wanted} {key}"), depth + 1);
            fields.push(Field {
                name: given.fresh(graphql_names::field(key)),
                key: key.to_string(),
                required: required.contains(key)
                    && match way {
                        Way::Out => !shape.nullable,
                        Way::In => !self.allows_null(property) && meant.get("default").is_none(),
                    },
                shape,
                description: first_line(property),
                deprecated: is_true(meant, "deprecated"),
            });
        }
        if fields.is_empty() {
            return self.json();
        }
        let name = self.given.fresh(format!("{wanted}{suffix}"));
        self.made.push(NamedType {
            name: name.clone(),
            description: first_line(schema),
            way,
            kind: NamedKind::Object(fields),
        });
        TypeShape { object: Some(self.made.len() - 1), ..TypeShape::plain(&name) }
    }

    /// Merges the properties of a schema and its `allOf`.
    fn merge(
        &mut self,
        schema: &'d Value,
        properties: &mut Vec<(&'d str, &'d Value)>,
        required: &mut BTreeSet<&'d str>,
        depth: usize,
    ) {
        if depth > NESTING_MAX {
            return;
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            match self.document.resolve(part) {
                Some(found) => self.merge(found.value, properties, required, depth + 1),
                None => self.notes.push(format!(
                    "`{}` cannot be followed; its fields are missing",
                    text(part, "$ref").unwrap_or("$ref")
                )),
            }
        }
        required.extend(
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str),
        );
        for (key, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            match properties.iter_mut().find(|it| it.0 == key) {
                Some(same) => same.1 = property,
                None => properties.push((key, property)),
            }
        }
    }

    /// Selection of a value: `id name owner { id }`, or `$` for values that are not objects; `None` if it is too long.
    pub(super) fn selection(&self, shape: &TypeShape) -> Option<String> {
        let Some(object) = shape.object else { return Some("$".into()) };
        let mut out = String::new();
        let mut left = SELECTED_MAX;
        self.select(object, &mut out, &mut left)?;
        (out.len() <= SELECTED_BYTES_MAX).then_some(out)
    }

    /// Appends the selection of an object. Recursion is bounded by the nesting limit of types.
    fn select(&self, object: usize, out: &mut String, left: &mut usize) -> Option<()> {
        let NamedKind::Object(fields) = &self.made[object].kind else { return Some(()) };
        let out_way = self.made[object].way == Way::Out;
        for (at, field) in fields.iter().enumerate() {
            *left = left.checked_sub(1)?;
            if at > 0 {
                out.push(' ');
            }
            // Outputs map the service's names to ours, inputs the reverse.
            let (name, key) = if out_way { (&field.name, &field.key) } else { (&field.key, &field.name) };
            out.push_str(&graphql_names::member(name));
            if name != key {
                out.push_str(&format!(": {}", graphql_names::member(key)));
            }
            if let Some(inner) = field.shape.object {
                out.push_str(" { ");
                self.select(inner, out, left)?;
                out.push_str(" }");
            }
        }
        Some(())
    }

    /// True if any name in `shape` differs from the service's.
    pub(super) fn is_renamed(&self, shape: &TypeShape) -> bool {
        let Some(NamedType { kind: NamedKind::Object(fields), .. }) = shape.object.map(|it| &self.made[it])
        else {
            return false;
        };
        fields.iter().any(|it| it.name != it.key || self.is_renamed(&it.shape))
    }

    /// True if `schema` allows only objects.
    pub(super) fn is_object(&self, schema: &Value) -> bool {
        let Some(found) = self.document.resolve(schema) else { return false };
        let kinds: Vec<&str> = kinds(found.value).into_iter().filter(|it| *it != "null").collect();
        kinds == ["object"] || kinds.is_empty() && found.value.get("properties").is_some()
    }

    /// Selection of an object whose members are single values or lists of them; `None` otherwise.
    pub(super) fn flat_members(&self, shape: &TypeShape) -> Option<String> {
        let NamedKind::Object(fields) = &self.made[shape.object?].kind else { return None };
        let is_flat = !shape.ty.starts_with('[') && fields.iter().all(|it| it.shape.is_flat());
        is_flat.then(|| self.selection(shape)).flatten()
    }

    /// Members of an object as one text: `a,1,b,2` or `a=1,b=2`. `None` if a member is not a single value.
    pub(super) fn joined_members(
        &self,
        shape: &TypeShape,
        value: &str,
        pair: char,
        between: char,
    ) -> Option<String> {
        let fields = self.fields(shape);
        if shape.is_list() || fields.iter().any(|it| !it.shape.is_flat() || it.shape.is_list()) {
            return None;
        }
        // A missing member has no value, so the list of texts omits it.
        let member = |it: &Field| {
            let key = graphql_names::quote_mapping_text(&it.key);
            format!("{value}.{}->echo([{key}, @]->joinNotNull('{pair}'))", it.name)
        };
        let members: Vec<String> = fields.iter().map(member).collect();
        Some(format!("{value}->echo([{}]->joinNotNull('{between}'))", members.join(", ")))
    }

    /// Members of an object as separate parameters: `name[a]: … name[b][c]: …`. `None` if a member is a list of objects.
    pub(super) fn deep_members(&self, shape: &TypeShape, name: &str, value: &str) -> Option<String> {
        if shape.is_list() {
            return None;
        }
        let member = |it: &Field| {
            let name = format!("{name}[{}]", it.key);
            let value = format!("{value}.{}", it.name);
            match it.shape.object {
                Some(_) => self.deep_members(&it.shape, &name, &value),
                None => Some(format!("{}: {value}", graphql_names::member(&name))),
            }
        };
        let members: Option<Vec<String>> = self.fields(shape).iter().map(member).collect();
        members.map(|it| it.join(" "))
    }

    /// Fields of an object.
    pub(super) fn fields(&self, shape: &TypeShape) -> &[Field] {
        match shape.object.map(|it| &self.made[it].kind) {
            Some(NamedKind::Object(fields)) => fields,
            Some(NamedKind::Enum(_)) | None => &[],
        }
    }

    /// True if an object has members other than single values and lists of them; `None` if `shape` is no object.
    pub(super) fn is_nested(&self, shape: &TypeShape) -> Option<bool> {
        match shape.object.map(|it| &self.made[it].kind) {
            Some(NamedKind::Object(fields)) => Some(!fields.iter().all(|it| it.shape.is_flat())),
            Some(NamedKind::Enum(_)) => None,
            // Members of the `JSON` scalar are unknown.
            None => (shape.ty == "JSON").then_some(true),
        }
    }
}

/// True if a schema defines a type, and not only conditions.
fn says_type(schema: &Value) -> bool {
    ["$ref", "type", "properties", "items", "enum", "const", "allOf", "oneOf", "anyOf"]
        .iter()
        .any(|it| schema.get(it).is_some())
}

/// Types that a schema names: none, one, or several.
fn kinds(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// First line of a description.
pub(super) fn first_line(value: &Value) -> Option<String> {
    let words =
        text(value, "summary").or_else(|| text(value, "description")).or_else(|| text(value, "title"))?;
    words.lines().map(str::trim).find(|it| !it.is_empty()).map(str::to_string)
}
