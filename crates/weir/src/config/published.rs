//! The JSON schema of `weir.yaml`, for editors. `docs/weir.schema.json` is kept equal by a test.
//!
//! **Invariant:** validators that run strictly compile it: only formats of the standard, one type per schema, and the
//! type beside each keyword that belongs to one. Numbers and booleans may also be `${NAME}` or `${NAME:-default}`.

use super::Config;
use super::limits::MAY_BE_ZERO;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

/// A value from the environment.
const VARIABLE: &str = "^\\$\\{[^}]+\\}$";

/// Keywords that stay at the top level when a schema's alternatives are expanded.
const ANNOTATIONS: [&str; 3] = ["description", "default", "title"];

/// The schema as JSON text, indented, with a line feed at its end.
pub fn text() -> String {
    let mut schema = schemars::schema_for!(Config).to_value();
    for block in ["Limits", "Postgres", "Rate"] {
        if let Some(Value::Object(keys)) = schema.pointer_mut(&format!("/$defs/{block}/properties")) {
            keys.iter_mut()
                .filter(|it| !MAY_BE_ZERO.contains(&it.0.as_str()))
                .for_each(|it| at_least_one(it.1));
        }
    }
    if let Some(listen) = schema.pointer_mut("/$defs/Listen") {
        *listen = json!({
            "description": listen["description"],
            "anyOf": [{ "type": "string" }, { "type": "integer", "minimum": 0, "maximum": 65535 }],
        });
    }
    spell_out(&mut schema);
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

/// Changes a minimum of 0 to 1.
fn at_least_one(schema: &mut Value) {
    if schema.get("minimum").and_then(Value::as_f64) == Some(0.0) {
        schema["minimum"] = json!(1);
    }
}

/// Adapts `schema` recursively: drops non-standard formats, expands type lists to alternatives, and allows variables for numbers and
/// booleans.
fn spell_out(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(spell_out),
        Value::Object(object) => {
            object.iter_mut().filter(|it| it.0 != "default").for_each(|it| spell_out(it.1));
            if object.contains_key("type") {
                alternatives(object);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Expands a schema with a `type` to one alternative per type and one for a variable.
fn alternatives(object: &mut Map<String, Value>) {
    let types = match object.get("type") {
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(several)) => {
            several.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect()
        }
        // A property named `type`, not the keyword.
        Some(_) | None => return,
    };
    object.remove("format");
    let takes_variables = types.iter().any(|it| matches!(it.as_str(), "integer" | "number" | "boolean"));
    if types.len() == 1 && !takes_variables {
        return;
    }
    let (outside, mut inside): (Map<_, _>, Map<_, _>) =
        std::mem::take(object).into_iter().partition(|it| ANNOTATIONS.contains(&it.0.as_str()));
    *object = outside;
    let is_nullable = types.iter().any(|it| it == "null");
    let main = types.into_iter().find(|it| it != "null");
    inside.insert("type".into(), main.into());
    let mut any = vec![Value::Object(inside)];
    if takes_variables {
        any.push(json!({ "type": "string", "pattern": VARIABLE }));
    }
    if is_nullable {
        any.push(json!({ "type": "null" }));
    }
    object.insert("anyOf".into(), any.into());
}

/// The schema of `sources[].config`.
pub(super) fn settings(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object" })
}

/// The schema of `sources[].customization`.
pub(super) fn customization(_: &mut SchemaGenerator) -> Schema {
    let text = || serde_json::json!({ "type": "string" });
    let around = |description: &str| {
        serde_json::json!({
            "description": description,
            "type": "object",
            "additionalProperties": false,
            "properties": { "prefix": text(), "suffix": text() },
        })
    };
    json_schema!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "root_fields": around("Prefix and suffix of the fields of `query_root` and `mutation_root`."),
            "type_names": around("Prefix and suffix of the types of tables and functions."),
            "naming_convention": {
                "description": "`graphql-default`: insertBoatOne, BoatBoolExp.",
                "enum": ["hasura-default", "graphql-default"],
            },
        },
    })
}

/// Schema of an array of objects with exactly these members; the first `required` are mandatory.
fn entries(required: usize, members: &[(&str, Value)]) -> Schema {
    let names: Vec<&str> = members.iter().take(required).map(|it| it.0).collect();
    let properties: Map<String, Value> = members.iter().map(|it| (it.0.to_owned(), it.1.clone())).collect();
    json_schema!({
        "type": "array",
        "items": { "type": "object", "required": names, "additionalProperties": false, "properties": properties },
    })
}

/// The schema of `operations.collections`.
pub(super) fn collections(_: &mut SchemaGenerator) -> Schema {
    let text = || json!({ "type": "string" });
    let query = json!({
        "type": "object",
        "required": ["name", "query"],
        "additionalProperties": false,
        "properties": { "name": text(), "query": { "description": "The document, with its fragments.", "type": "string" } },
    });
    let queries = json!({ "type": "array", "items": query });
    let definition = json!({
        "type": "object",
        "required": ["queries"],
        "additionalProperties": false,
        "properties": { "queries": queries },
    });
    entries(2, &[("name", text()), ("definition", definition), ("comment", text())])
}

/// The schema of `operations.allowlist`.
pub(super) fn allowlist(_: &mut SchemaGenerator) -> Schema {
    let roles = json!({ "type": "array", "items": { "type": "string" } });
    let scope = json!({
        "type": "object",
        "required": ["global"],
        "additionalProperties": false,
        "properties": { "global": { "type": "boolean" }, "roles": roles },
    });
    entries(1, &[("collection", json!({ "type": "string" })), ("scope", scope)])
}

/// The schema of `operations.rest_endpoints`.
pub(super) fn rest_endpoints(_: &mut SchemaGenerator) -> Schema {
    let text = || json!({ "type": "string" });
    let methods = json!({ "type": "array", "items": { "enum": ["GET", "POST", "PUT", "PATCH", "DELETE"] } });
    let query = json!({
        "type": "object",
        "required": ["collection_name", "query_name"],
        "additionalProperties": false,
        "properties": { "collection_name": text(), "query_name": text() },
    });
    let definition = json!({
        "type": "object",
        "required": ["query"],
        "additionalProperties": false,
        "properties": { "query": query },
    });
    let url =
        json!({ "description": "The path below /api/rest/, with `:name` for variables.", "type": "string" });
    let members = [
        ("name", text()),
        ("url", url),
        ("methods", methods),
        ("definition", definition),
        ("comment", text()),
    ];
    entries(4, &members)
}

/// Schema of `sources[].tables`: the supported keys.
pub(super) fn tables(_: &mut SchemaGenerator) -> Schema {
    let text = || serde_json::json!({ "type": "string" });
    let list = || serde_json::json!({ "type": "array", "items": { "type": "object" } });
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "required": ["table"],
            "additionalProperties": false,
            "properties": {
                "table": {
                    "description": "The table's name, or an object with `name` and `schema`.",
                    "anyOf": [text(), { "type": "object", "properties": { "name": text(), "schema": text() } }],
                },
                "is_enum": { "description": "Its rows are the values of an enum.", "type": "boolean" },
                "configuration": {
                    "description": "`custom_name`, `custom_root_fields`, `column_config`, `comment`.",
                    "type": "object",
                },
                "object_relationships": list(),
                "array_relationships": list(),
                "computed_fields": computed_fields(),
                "select_permissions": permissions(&["columns", "filter"]),
                "insert_permissions": permissions(&["check"]),
                "update_permissions": permissions(&["columns", "filter"]),
                "delete_permissions": permissions(&["filter"]),
            },
        },
    })
}

/// Schema of permissions of one kind, whose `permission` requires the keys `required`.
fn permissions(required: &[&str]) -> serde_json::Value {
    serde_json::json!({
        "type": "array",
        "items": {
            "type": "object",
            "required": ["role", "permission"],
            "additionalProperties": false,
            "properties": {
                "role": { "description": "The role; never `admin`.", "type": "string" },
                "permission": { "type": "object", "required": required },
                "comment": { "type": "string" },
            },
        },
    })
}

/// The schema of `sources[].tables[].computed_fields`.
fn computed_fields() -> serde_json::Value {
    let text = || serde_json::json!({ "type": "string" });
    serde_json::json!({
        "type": "array",
        "items": {
            "type": "object",
            "required": ["name", "definition"],
            "additionalProperties": false,
            "properties": {
                "name": text(),
                "comment": text(),
                "definition": {
                    "type": "object",
                    "required": ["function"],
                    "additionalProperties": false,
                    "properties": {
                        "function": {
                            "description": "The function's name, or an object with `name` and `schema`.",
                            "anyOf": [text(), { "type": "object", "properties": { "name": text(), "schema": text() } }],
                        },
                        "table_argument": { "description": "The argument that takes the row; else the first one.", "type": "string" },
                        "session_argument": { "description": "A json argument that gets the session.", "type": "string" },
                    },
                },
            },
        },
    })
}

/// The schema of `sources[].functions`.
pub(super) fn functions(_: &mut SchemaGenerator) -> Schema {
    let text = || serde_json::json!({ "type": "string" });
    let fields = serde_json::json!({ "function": text(), "function_aggregate": text() });
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "required": ["function"],
            "additionalProperties": false,
            "properties": {
                "function": {
                    "description": "The function's name, or an object with `name` and `schema`.",
                    "anyOf": [text(), { "type": "object", "properties": { "name": text(), "schema": text() } }],
                },
                "permissions": {
                    "type": "array",
                    "items": { "type": "object", "required": ["role"], "properties": { "role": text() } },
                },
                "comment": text(),
                "configuration": {
                    "type": "object",
                    "additionalProperties": false,
                    "properties": {
                        "custom_name": { "description": "The base name of its fields and arguments.", "type": "string" },
                        "custom_root_fields": { "type": "object", "additionalProperties": false, "properties": fields },
                        "session_argument": { "description": "The json argument that takes the session.", "type": "string" },
                        "exposed_as": { "enum": ["query", "mutation"] },
                    },
                },
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each keyword with the type it belongs to; a strict validator wants both in one schema.
    const KEYWORDS: &[(&str, &str)] = &[
        ("properties", "object"),
        ("required", "object"),
        ("additionalProperties", "object"),
        ("items", "array"),
        ("minimum", "integer"),
        ("maximum", "integer"),
        ("pattern", "string"),
    ];

    fn check(path: &str, schema: &Value, complaints: &mut Vec<String>) {
        let Some(object) = schema.as_object() else { return };
        if object.contains_key("format") || object.get("type").is_some_and(Value::is_array) {
            complaints.push(format!("{path}: a format, or several types"));
        }
        for (keyword, kind) in KEYWORDS {
            if object.contains_key(*keyword) && object.get("type") != Some(&json!(kind)) {
                complaints.push(format!("{path}: `{keyword}` without `type: {kind}`"));
            }
        }
        for key in ["properties", "$defs"] {
            for (name, below) in object.get(key).and_then(Value::as_object).into_iter().flatten() {
                check(&format!("{path}/{key}/{name}"), below, complaints);
            }
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            for below in object.get(key).and_then(Value::as_array).into_iter().flatten() {
                check(&format!("{path}/{key}"), below, complaints);
            }
        }
        for key in ["items", "additionalProperties"] {
            object.get(key).into_iter().for_each(|below| check(&format!("{path}/{key}"), below, complaints));
        }
    }

    #[test]
    fn strict_validators_compile_the_schema() {
        let mut complaints = Vec::new();
        let schema: Value = serde_json::from_str(&text()).expect("it is JSON");
        check("", &schema, &mut complaints);
        assert!(complaints.is_empty(), "{complaints:#?}");
    }

    #[test]
    fn a_bound_takes_a_variable_and_at_least_one() {
        let schema: Value = serde_json::from_str(&text()).expect("it is JSON");
        let depth = &schema["$defs"]["Limits"]["properties"]["depth_max"]["anyOf"];
        assert_eq!(depth[0], json!({ "type": "integer", "minimum": 1 }));
        assert_eq!(depth[1]["pattern"], VARIABLE);
    }
}
