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
