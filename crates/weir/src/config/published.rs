//! The JSON schema of `weir.yaml`, for editors. `docs/weir.schema.json` is kept equal by a test.

use super::Config;
use schemars::{Schema, SchemaGenerator, json_schema};

/// The schema as JSON text, indented, with a line feed at its end.
#[must_use]
pub fn text() -> String {
    let schema = schemars::schema_for!(Config);
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

/// The schema of `sources[].customization`.
pub(super) fn customization(_: &mut SchemaGenerator) -> Schema {
    let text = || serde_json::json!({ "type": "string" });
    let around = |what: &str| {
        serde_json::json!({
            "description": what,
            "type": "object",
            "additionalProperties": false,
            "properties": { "prefix": text(), "suffix": text() },
        })
    };
    json_schema!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "root_fields": around("What goes around the names of the fields of `query_root` and `mutation_root`."),
            "type_names": around("What goes around the names of the types of tables and functions."),
        },
    })
}

/// The schema of `sources[].tables`: the keys that are honoured.
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
