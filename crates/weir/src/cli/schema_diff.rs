//! `weir schema diff`: the changes between two schemas, and whether they break clients.
//!
//! Exit codes: 0 no change reaches `--fail-on`, 4 one does, 1 a file cannot be read.

use super::validate::read_schema;
use super::{FailOn, Format, print};
use std::path::Path;
use std::process::ExitCode;
use weir_language::report;
use weir_language::schema::Schema;
use weir_language::schema::diff::{SchemaChange, Severity, diff};

/// Exit code for changes that must stop a pipeline.
const CHANGED: u8 = 4;

/// Compares the SDL of two files.
pub(super) fn run(old: &Path, new: &Path, format: Format, fail_on: FailOn) -> Result<ExitCode, String> {
    let changes = diff(&read(old)?, &read(new)?);
    let report = match format {
        Format::Text => as_text(&changes),
        Format::Json => as_json(&changes),
    };
    print(&report)?;
    let is_reached = |it: &SchemaChange| match fail_on {
        FailOn::Breaking => it.severity == Severity::Breaking,
        FailOn::Dangerous => it.severity <= Severity::Dangerous,
        FailOn::Never => false,
    };
    Ok(if changes.iter().any(is_reached) { ExitCode::from(CHANGED) } else { ExitCode::SUCCESS })
}

fn read(file: &Path) -> Result<Schema, String> {
    let name = file.display().to_string();
    let sdl = read_schema(file)?;
    Schema::from_sdl(&sdl).map_err(|errors| report::text(&name, &sdl, &errors))
}

const fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Breaking => "breaking",
        Severity::Dangerous => "dangerous",
        Severity::Safe => "safe",
    }
}

/// `breaking   Query.a: the field was removed`, one per line.
fn as_text(changes: &[SchemaChange]) -> String {
    let line = |it: &SchemaChange| format!("{:<10} {}: {}\n", word(it.severity), it.coordinate, it.message);
    match changes {
        [] => "no changes\n".to_owned(),
        changes => changes.iter().map(line).collect(),
    }
}

/// `{"changes": [{"severity", "coordinate", "message"}]}`.
fn as_json(changes: &[SchemaChange]) -> String {
    let changes: Vec<serde_json::Value> = changes
        .iter()
        .map(|it| {
            serde_json::json!({
                "severity": word(it.severity), "coordinate": it.coordinate, "message": it.message,
            })
        })
        .collect();
    format!("{:#}\n", serde_json::json!({ "changes": changes }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes() -> Vec<SchemaChange> {
        let read = |text: &str| Schema::from_sdl(text).expect("a sound schema");
        diff(&read("type Query { a: Int b: Int }"), &read("type Query { a: Int! c: Int }"))
    }

    #[test]
    fn a_report_has_a_line_per_change() {
        assert_eq!(
            as_text(&changes()),
            "breaking   Query.b: the field was removed\nsafe       Query.a: its type was `Int` and is `Int!`\n\
             safe       Query.c: the field was added\n"
        );
        assert_eq!(as_text(&[]), "no changes\n");
    }

    #[test]
    fn programs_read_the_same_as_json() {
        let json: serde_json::Value = serde_json::from_str(&as_json(&changes())).expect("JSON");
        assert_eq!(json["changes"][0]["severity"], "breaking");
        assert_eq!(json["changes"][2]["coordinate"], "Query.c");
    }
}
