//! Checks of answers: status, GraphQL errors, values by path, a whole expected answer.

use super::generators::{RunValues, ValueName};
use super::json_path::JsonPath;
use crate::notation::json_template::JsonTemplate;
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Checks of one operation.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    /// The only right status; without it any of 2xx.
    pub status: Option<u16>,
    /// True if a top-level `errors` fails the answer.
    pub refuses_errors: bool,
    pub exists: Vec<JsonPath>,
    pub equals: Vec<(JsonPath, JsonTemplate<ValueName>)>,
    pub expected: Option<serde_json::Value>,
}

impl Checks {
    /// The label of the first check that fails.
    pub(crate) fn failure(&self, status: u16, body: &[u8], values: &RunValues<'_>) -> Option<String> {
        if self.status.map_or(!(200..300).contains(&status), |it| it != status) {
            return Some(format!("status {status}"));
        }
        if self.refuses_errors && has_errors(body) {
            return Some("graphql".to_owned());
        }
        if let Some(path) = self.exists.iter().find(|it| it.find(body).is_none_or(|it| it == "null")) {
            return Some(format!("check exists {}", path.text()));
        }
        for (path, template) in &self.equals {
            let mut expected = Vec::new();
            template.write(values, &mut expected);
            let found = path.find(body).unwrap_or("null");
            if found.as_bytes() != expected && !is_same(found.as_bytes(), &expected) {
                return Some(format!("check equals {}", path.text()));
            }
        }
        let expected = self.expected.as_ref()?;
        let found: Option<serde_json::Value> = serde_json::from_slice(body).ok();
        (found.as_ref() != Some(expected)).then(|| "check file".to_owned())
    }
}

/// True if both are the same JSON value.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    let read = |bytes| serde_json::from_slice::<serde_json::Value>(bytes).ok();
    read(a).is_some_and(|it| Some(it) == read(b))
}

#[derive(Deserialize)]
struct ErrorsOnly<'b> {
    #[serde(borrow)]
    errors: Option<&'b RawValue>,
}

/// True if the answer has a top-level `errors`, or is no JSON object. Most answers do not contain the word, so they are not parsed.
fn has_errors(body: &[u8]) -> bool {
    if memmem::find(body, b"\"errors\"").is_none() && body.first() == Some(&b'{') {
        return false;
    }
    match serde_json::from_slice::<ErrorsOnly<'_>>(body) {
        Ok(it) => it.errors.is_some_and(|it| !matches!(it.get(), "null" | "[]")),
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_those_at_the_top() {
        let check = |body: &str, expected: bool| assert_eq!(has_errors(body.as_bytes()), expected, "{body}");
        check(r#"{"data": {"a": 1}}"#, false);
        check(r#"{"data": {"errors": [1]}}"#, false);
        check(r#"{"errors": [{"message": "no"}], "data": null}"#, true);
        check(r#"{"data": {}, "errors": []}"#, false);
        check("<html>", true);
        check("", true);
    }
}
