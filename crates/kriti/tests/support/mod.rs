//! Evaluation of texts, shared with the fuzz target.

use weir_kriti::{EvaluationLimits, KritiError, Scope, Template, Value};
use weir_language::json::Json;

/// The value of a text of JSON.
pub(crate) fn value(json: &str) -> Value {
    let json = Json::parse(json.as_bytes(), 64).expect("it is JSON");
    Value::from_json(json.root())
}

/// Variables of most tests.
pub(crate) fn scope() -> Scope {
    Scope::default()
        .with(
            "$body",
            value(
                r#"{"a":{"b":[10,20,null],"c":null,"end":1,"_id":"x"},"n":1.50,"t":"text","yes":true,"rows":[{"id":1},{"id":2}]}"#,
            ),
        )
        .with("$session_variables", value(r#"{"x-hasura-role":"user","x-hasura-user-id":"4"}"#))
        .with("$", value("7"))
}

/// The JSON text of a template's value.
pub(crate) fn render(template: &str) -> Result<String, KritiError> {
    Template::parse(template)?.render(&scope(), EvaluationLimits::USUAL)
}

/// Any text: a template is parsed, or refused; evaluated, or refused; and never more.
#[allow(dead_code, reason = "the fuzz target holds texts against it")]
pub(crate) fn is_evaluated_within_limits(text: &str) {
    let limits = EvaluationLimits { steps_max: 10_000, bytes_max: 100_000 };
    for template in [Template::parse(text), Template::parse_quoted(text)].into_iter().flatten() {
        if let Ok(json) = template.render(&scope(), limits) {
            assert!(json.len() <= limits.bytes_max, "{} bytes", json.len());
            Json::parse(json.as_bytes(), 2000).expect("a value is JSON");
        }
    }
    if let Ok(json) = Json::parse(text.as_bytes(), 60)
        && !text.contains("{{")
        && !text.starts_with('\u{feff}')
    {
        let mut expected = String::new();
        Value::from_json(json.root()).write_json(usize::MAX, &mut expected).expect("it is short");
        let template = Template::parse(text).expect("JSON is a template");
        let limits = EvaluationLimits { steps_max: u32::MAX, bytes_max: usize::MAX };
        assert_eq!(template.render(&scope(), limits).as_deref(), Ok(expected.as_str()));
    }
}
