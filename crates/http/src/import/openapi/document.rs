//! The description as a tree, with references that are followed inside it.

use super::ImportError;
use serde_json::{Map, Value};

/// Maximum length of a chain of references; longer ones count as cycles.
const REFERENCES_MAX: usize = 32;

/// A description.
pub(super) struct Document {
    root: Value,
}

/// Target of references.
pub(super) struct Resolved<'d> {
    pub value: &'d Value,
    /// The last reference that was followed.
    pub reference: Option<&'d str>,
}

impl Document {
    pub(super) fn read(text: &str) -> Result<Self, ImportError> {
        let json = text.trim_start().starts_with('{').then(|| serde_json::from_str(text).ok()).flatten();
        let options = serde_saphyr::options! { with_snippet: false };
        let root: Value = match json {
            Some(root) => root,
            None => serde_saphyr::from_str_with_options(text, options).map_err(|cause| {
                ImportError::Unreadable(cause.render().lines().next().unwrap_or_default().into())
            })?,
        };
        if let Some(version) = root.get("swagger") {
            let words = format!(
                "is Swagger {}; convert it to OpenAPI 3 first, by `npx swagger2openapi`",
                plain(version)
            );
            return Err(ImportError::Other(words));
        }
        match root.get("openapi").map(plain) {
            Some(version) if version.starts_with("3.0") || version.starts_with("3.1") => Ok(Self { root }),
            Some(version) => {
                Err(ImportError::Other(format!("is OpenAPI {version}; 3.0 and 3.1 can be read")))
            }
            None => Err(ImportError::Other("is no OpenAPI description: it has no `openapi: 3.…`".into())),
        }
    }

    pub(super) fn get(&self, path: &[&str]) -> Option<&Value> {
        path.iter().try_fold(&self.root, |it, key| it.get(key))
    }

    /// The members of the object at `path`; none where there is no object.
    pub(super) fn members(&self, path: &[&str]) -> impl Iterator<Item = (&String, &Value)> {
        self.get(path).and_then(Value::as_object).into_iter().flatten()
    }

    /// Follows `$ref`; none where it leads out of the document, nowhere, or in a circle.
    pub(super) fn resolve<'d>(&'d self, value: &'d Value) -> Option<Resolved<'d>> {
        let mut found = Resolved { value, reference: None };
        for _ in 0..REFERENCES_MAX {
            let Some(reference) = found.value.get("$ref").and_then(Value::as_str) else { return Some(found) };
            found = Resolved {
                value: self.root.pointer(reference.strip_prefix('#')?)?,
                reference: Some(reference),
            };
        }
        None
    }
}

/// A text or number as it stands there.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// The text of a member.
pub(super) fn text<'d>(value: &'d Value, key: &str) -> Option<&'d str> {
    value.get(key).and_then(Value::as_str)
}

/// True if the member exists and is true.
pub(super) fn is_true(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool) == Some(true)
}

/// The content type of plain JSON.
pub(super) const JSON: &str = "application/json";

/// The content type of forms.
pub(super) const FORM: &str = "application/x-www-form-urlencoded";

/// The schema of a form in the `content` of a body.
pub(super) fn form_content(content: &Map<String, Value>) -> Option<&Value> {
    content.iter().find(|it| essence(it.0) == FORM).map(|it| it.1)
}

/// JSON in the `content` of a body or an answer: its media type in lower case, without parameters, and the schema. Plain JSON is taken
/// before other types that are JSON.
pub(super) fn json_content(content: &Map<String, Value>) -> Option<(String, &Value)> {
    let rank = |kind: &str| match kind {
        JSON => Some(0),
        "application/*" | "*/*" => Some(1),
        _ => kind.ends_with("+json").then_some(2),
    };
    let kinds = content.iter().map(|(kind, media)| (essence(kind), media));
    kinds.filter_map(|it| Some((rank(&it.0)?, it))).min_by_key(|it| it.0).map(|it| it.1)
}

/// A media type in lower case, without its parameters.
fn essence(kind: &str) -> String {
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
