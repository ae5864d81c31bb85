//! The JSON schema of a result. `docs/load-report.schema.json` is kept equal by a test.

use crate::result::RunResult;

/// The schema as JSON text, indented, with a line feed at its end.
#[must_use]
pub fn schema() -> String {
    let mut schema = schemars::schema_for!(RunResult).to_value();
    strip_formats(&mut schema);
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

/// Drops formats of numbers, which no standard knows and strict validators refuse.
fn strip_formats(schema: &mut serde_json::Value) {
    match schema {
        serde_json::Value::Array(items) => items.iter_mut().for_each(strip_formats),
        serde_json::Value::Object(object) => {
            // A key of results that is called `format` is described by an object.
            object.retain(|key, value| key != "format" || !value.is_string());
            object.values_mut().for_each(strip_formats);
        }
        _ => {}
    }
}
