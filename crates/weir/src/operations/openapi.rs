//! The OpenAPI 3.0 document of the endpoints.
//!
//! **Invariant:** every path parameter is declared, every reference has its schema, and no operation stands twice.

use super::endpoint_path::{Segment, Template};
use super::endpoint_variables::Declared;
use super::saved_endpoint::{Endpoints, SavedEndpoint, method_name};
use serde_json::{Map, Value, json};
use weir_language::ast::{Definition, Document, List, Selection};
use weir_language::limits::Limits;
use weir_language::parser;
use weir_language::schema::{Schema, TypeId, TypeKind};
use weir_language::wraps::Wraps;

/// Types of parameters by GraphQL scalar: JSON type and pattern of a string.
const SCALARS: [(&str, &str, Option<&str>); 17] = [
    ("Int", "integer", None),
    ("smallint", "integer", None),
    ("integer", "integer", None),
    ("Float", "number", None),
    ("Double", "number", None),
    ("Number", "number", None),
    ("float8", "number", None),
    ("numeric", "number", None),
    ("Boolean", "boolean", None),
    ("String", "string", None),
    ("ID", "string", None),
    ("bigint", "string", Some("^-?[0-9]+$")),
    ("uuid", "string", Some("^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")),
    ("date", "string", None),
    ("timestamp", "string", None),
    ("timestamptz", "string", None),
    ("timetz", "string", None),
];

/// Builds the document; `schema` is the admin's.
pub(crate) fn document(endpoints: &Endpoints, schema: &Schema) -> Value {
    let mut paths = Map::new();
    let mut problems = Vec::new();
    let mut types = Types { schema, found: Map::new() };
    for endpoint in endpoints.all() {
        let path = format!("/api/rest/{}", path_of(&endpoint.template));
        let item = paths.entry(path.clone()).or_insert_with(|| json!({}));
        for method in endpoint.methods.iter().map(|it| method_name(*it)) {
            let key = method.to_ascii_lowercase();
            if item.get(&key).is_some() {
                problems.push(format!(
                    "{method} {path}: `{}` is left out, because another endpoint has it",
                    endpoint.name
                ));
                continue;
            }
            item[&key] = operation(endpoint, method, &mut types, &mut problems);
        }
    }
    let mut description = "The REST endpoints of this server, made of its saved queries.".to_owned();
    if !problems.is_empty() {
        description.push_str("\n\nProblems:\n");
        problems.iter().for_each(|it| description.push_str(&format!("- {it}\n")));
    }
    json!({
        "openapi": "3.0.0",
        "info": { "title": "Rest Endpoints", "version": "", "description": description },
        "paths": paths,
        "components": { "schemas": types.found },
    })
}

/// Path with `{name}` for variables.
fn path_of(template: &Template) -> String {
    let segments = template.segments().iter().map(|it| match it {
        Segment::Literal(text) => text.clone(),
        Segment::Variable(name) => format!("{{{name}}}"),
    });
    segments.collect::<Vec<_>>().join("/")
}

fn operation(
    endpoint: &SavedEndpoint,
    method: &str,
    types: &mut Types<'_>,
    problems: &mut Vec<String>,
) -> Value {
    let in_path: Vec<&str> = endpoint.template.variables().collect();
    let secret = json!({
        "in": "header",
        "name": "x-hasura-admin-secret",
        "description": "An admin secret, or another credential in its header.",
        "schema": { "type": "string" },
    });
    let mut parameters = vec![secret];
    for name in &in_path {
        let declared = endpoint.variables.iter().find(|it| it.name == **name);
        let schema = declared.and_then(scalar).unwrap_or_else(|| json!({ "type": "string" }));
        parameters.push(json!({ "in": "path", "name": name, "required": true, "schema": schema }));
    }
    for declared in endpoint.variables.iter().filter(|it| !in_path.contains(&it.name.as_str())) {
        let Some(schema) = scalar(declared) else { continue };
        let required = is_required(declared);
        parameters
            .push(json!({ "in": "query", "name": declared.name, "required": required, "schema": schema }));
    }
    let comment = endpoint.comment.as_deref().map(|it| format!("{it}\n***\n")).unwrap_or_default();
    let mut found = json!({
        "summary": endpoint.name,
        "description": format!("{comment}The GraphQL query for this endpoint is:\n```graphql\n{}\n```", endpoint.query),
        "parameters": parameters,
        "responses": { "200": {
            "description": "The answer.",
            "content": { "application/json": { "schema": answer(endpoint, types, problems) } },
        } },
    });
    if !endpoint.variables.is_empty() && method != "GET" {
        let properties: Map<String, Value> =
            endpoint.variables.iter().map(|it| (it.name.clone(), types.input(it))).collect();
        let body = json!({ "type": "object", "properties": properties });
        found["requestBody"] = json!({ "content": { "application/json": { "schema": body } } });
    }
    found
}

fn is_required(declared: &Declared) -> bool {
    !declared.is_nullable && declared.default.is_none()
}

/// Schema of a path or query variable with a known scalar type.
fn scalar(declared: &Declared) -> Option<Value> {
    let (_, ty, pattern) = SCALARS.iter().find(|it| it.0 == declared.ty && !declared.is_list)?;
    let mut schema = json!({ "type": ty });
    if let Some(pattern) = pattern {
        schema["pattern"] = json!(pattern);
    }
    if declared.is_nullable {
        schema["nullable"] = json!(true);
    }
    if let Some(default) = declared.default.as_deref().and_then(default) {
        schema["default"] = default;
    }
    Some(schema)
}

/// JSON of a default value, if it is an integer, a boolean or a string without escapes.
fn default(literal: &str) -> Option<Value> {
    if let Ok(number) = literal.parse::<i64>() {
        return Some(json!(number));
    }
    let is_text = literal.starts_with('"') && !literal.starts_with("\"\"\"");
    if is_text || ["true", "false"].contains(&literal) { serde_json::from_str(literal).ok() } else { None }
}

/// Schema of the response body, which is the data.
fn answer(endpoint: &SavedEndpoint, types: &mut Types<'_>, problems: &mut Vec<String>) -> Value {
    let document = parser::parse(&endpoint.query, &Limits::NONE).ok();
    let operation = document.as_ref().and_then(|it| match it.definitions.first() {
        Some(Definition::Operation(operation)) => Some((it, operation)),
        _ => None,
    });
    let root = operation.and_then(|it| types.schema.root(it.1.kind));
    let (Some((document, operation)), Some(root)) = (operation, root) else {
        problems.push(format!("`{}` has no query that fits the schema", endpoint.name));
        return json!({ "type": "object" });
    };
    types.object(document, operation.selections, root)
}

/// Schemas of named types.
struct Types<'s> {
    schema: &'s Schema,
    found: Map<String, Value>,
}

impl Types<'_> {
    /// Schema of `selections` on `parent`. Recursion is bounded by the parser.
    fn object(&mut self, document: &Document<'_>, selections: List<Selection>, parent: TypeId) -> Value {
        let mut properties = Map::new();
        let mut open = vec![(selections, parent)];
        while let Some((list, parent)) = open.pop() {
            for selection in document.list(list) {
                match selection {
                    Selection::Inline(inline) => {
                        let on = Some(document.str(inline.on)).filter(|it| !it.is_empty());
                        let on = on.map_or(Some(parent), |it| self.schema.type_by_name(it));
                        open.extend(on.map(|it| (inline.selections, it)));
                    }
                    Selection::Field(field) => {
                        let ty = self.schema.field_by_name(parent, document.str(field.name));
                        let schema = match ty.map(|it| self.schema.field(it).ty) {
                            Some(ty) => {
                                let inner = self.value_of_type(document, field.selections, ty.base);
                                wrap_in_lists(inner, ty.wraps)
                            }
                            None => json!({ "type": "string" }),
                        };
                        properties.insert(document.str(field.key()).to_owned(), schema);
                    }
                    // Queries of endpoints have no fragments.
                    Selection::Spread(_) => {}
                }
            }
        }
        json!({ "type": "object", "properties": properties })
    }

    fn value_of_type(&mut self, document: &Document<'_>, selections: List<Selection>, base: TypeId) -> Value {
        match self.schema.ty(base).kind {
            TypeKind::Object | TypeKind::Interface | TypeKind::Union => {
                self.object(document, selections, base)
            }
            TypeKind::Scalar(_) | TypeKind::Enum | TypeKind::Input { .. } => self.leaf(base),
        }
    }

    /// Reference to the schema of a scalar, enum or input object, which is added if missing.
    fn leaf(&mut self, base: TypeId) -> Value {
        let name = self.schema.type_name(base).to_owned();
        let kind = self.schema.ty(base).kind;
        if !self.found.contains_key(&name) {
            let schema = match kind {
                TypeKind::Enum => {
                    let run = self.schema.ty(base).members;
                    let values =
                        self.schema.enum_values[run.range()].iter().map(|it| self.schema.str(it.name));
                    json!({ "type": "string", "enum": values.collect::<Vec<_>>() })
                }
                TypeKind::Input { .. } => json!({ "type": "object" }),
                _ => match SCALARS.iter().find(|it| it.0 == name) {
                    Some((_, ty, _)) => json!({ "type": ty }),
                    // Any JSON.
                    None => json!({}),
                },
            };
            self.found.insert(name.clone(), schema);
        }
        json!({ "$ref": format!("#/components/schemas/{name}") })
    }

    /// Schema of a variable in a JSON body.
    fn input(&mut self, declared: &Declared) -> Value {
        let base = self.schema.type_by_name(&declared.ty);
        let inner = base.map_or_else(|| json!({}), |it| self.leaf(it));
        let schema = if declared.is_list { json!({ "type": "array", "items": inner }) } else { inner };
        nullable(schema, declared.is_nullable)
    }
}

/// Wraps `inner` in the lists of `wraps`.
fn wrap_in_lists(inner: Value, wraps: Wraps) -> Value {
    match wraps.item() {
        None => nullable(inner, !wraps.is_non_null()),
        Some(item) => {
            nullable(json!({ "type": "array", "items": wrap_in_lists(inner, item) }), !wraps.is_non_null())
        }
    }
}

/// Makes `schema` nullable. A reference needs a wrapper, since keywords beside `$ref` are ignored.
fn nullable(schema: Value, is_nullable: bool) -> Value {
    match (is_nullable, schema.get("$ref")) {
        (false, _) => schema,
        (true, Some(_)) => json!({ "nullable": true, "allOf": [schema] }),
        (true, None) => {
            let mut schema = schema;
            schema["nullable"] = json!(true);
            schema
        }
    }
}
