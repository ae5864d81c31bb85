//! JSON Schema of scalars, going in and coming out.
//!
//! **Invariant:** a schema of an answer refuses no value that the server may send: clients check answers, and lose those that do not fit.
//! So it has no `format`, and what a source may write in several forms has no type.

use serde_json::{Map, Value, json};
use weir_language::schema::ScalarReader;

/// Schema of a value that an agent sends for the scalar `name`.
pub(super) fn input_scalar(name: &str, reader: ScalarReader) -> Map<String, Value> {
    let schema = match reader {
        ScalarReader::Int => json!({ "type": "integer", "minimum": i32::MIN, "maximum": i32::MAX }),
        ScalarReader::Float => json!({ "type": "number" }),
        ScalarReader::String => json!({ "type": "string" }),
        ScalarReader::Boolean => json!({ "type": "boolean" }),
        ScalarReader::Id => json!({ "type": ["string", "integer"] }),
        ScalarReader::BigInt => json!({ "type": ["integer", "string"], "pattern": "^-?[0-9]+$" }),
        ScalarReader::Decimal => json!({ "type": ["number", "string"] }),
        ScalarReader::Text | ScalarReader::Moment => match name {
            "uuid" | "date" => json!({ "type": "string", "format": name }),
            _ => json!({ "type": "string", "description": name }),
        },
        ScalarReader::Json => json!({ "description": format!("any JSON ({name})") }),
    };
    into_object(schema)
}

/// Types of a value that an answer has for the scalar `name`; none: any.
pub(super) fn output_types(name: &str, reader: ScalarReader) -> &'static [&'static str] {
    match reader {
        ScalarReader::Int => &["integer"],
        ScalarReader::Float if name == "Float" => &["number"],
        // Numbers that JSON has not are texts.
        ScalarReader::Float | ScalarReader::Decimal => &["number", "string"],
        ScalarReader::String | ScalarReader::Id => &["string"],
        ScalarReader::Boolean => &["boolean"],
        ScalarReader::BigInt => &["integer", "string"],
        ScalarReader::Text | ScalarReader::Moment | ScalarReader::Json => &[],
    }
}

/// The members of `value`, which is an object.
pub(in crate::operations::tools) fn into_object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
