//! The JSON schemas of results. `docs/load-report.schema.json` and those beside it are kept equal by a test.

use crate::result::{CompareResult, MaxResult, RunResult};

/// The commands that write results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultKind {
    /// `weir load run`.
    Run,
    /// `weir load max`.
    Max,
    /// `weir load compare`.
    Compare,
}

/// The schema of such results as JSON text, indented, with a line feed at its end.
pub fn schema(kind: ResultKind) -> String {
    let schema = match kind {
        ResultKind::Run => schemars::schema_for!(RunResult),
        ResultKind::Max => schemars::schema_for!(MaxResult),
        ResultKind::Compare => schemars::schema_for!(CompareResult),
    };
    let mut schema = schema.to_value();
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
