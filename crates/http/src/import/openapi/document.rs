//! The description as a tree, with references that are followed inside it.

use super::ImportError;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

/// Maximum length of a chain of references; longer ones count as cycles.
const REFERENCES_MAX: usize = 32;

/// The most values that a description in YAML may have, and the deepest nesting of them.
const NODES_MAX: usize = 20_000_000;
const DEPTH_MAX: usize = 128;

/// The beginnings of versions that can be read.
const VERSIONS: [&str; 3] = ["3.0", "3.1", "3.2"];

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
        let text = text.trim_start_matches('\u{feff}');
        let json = text.trim_start().starts_with('{').then(|| serde_json::from_str(text).ok()).flatten();
        // Descriptions of large services are larger than any configuration.
        let options = serde_saphyr::options! {
            with_snippet: false,
            budget: serde_saphyr::budget! { max_nodes: NODES_MAX, max_events: NODES_MAX * 4, max_depth: DEPTH_MAX },
        };
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
            Some(version) if VERSIONS.iter().any(|it| version.starts_with(it)) => Ok(Self { root }),
            Some(version) => {
                Err(ImportError::Other(format!("is OpenAPI {version}; 3.0, 3.1 and 3.2 can be read")))
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
            found = Resolved { value: self.target(reference)?, reference: Some(reference) };
        }
        None
    }

    /// The value that a reference into the document names: `#/a/b`, alone or behind the document's own address.
    ///
    /// Source: RFC 6901, section 6; OpenAPI 3.2, `$self`.
    fn target(&self, reference: &str) -> Option<&Value> {
        let own = text(&self.root, "$self").and_then(|it| reference.strip_prefix(it));
        let pointer = own.unwrap_or(reference).strip_prefix('#')?;
        self.root.pointer(&percent_decode_str(pointer).decode_utf8().ok()?)
    }

    /// The media type that `media` is or refers to.
    pub(super) fn media<'d>(&'d self, media: &'d Value) -> &'d Value {
        self.resolve(media).map_or(media, |it| it.value)
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
        "text/json" => Some(2),
        _ => kind.ends_with("+json").then_some(2),
    };
    let kinds = content.iter().map(|(kind, media)| (essence(kind), media));
    kinds.filter_map(|it| Some((rank(&it.0)?, it))).min_by_key(|it| it.0).map(|it| it.1)
}

/// True if a plain text is among the `content` of an answer.
pub(super) fn has_text(content: &Map<String, Value>) -> bool {
    content.keys().any(|it| essence(it) == "text/plain")
}

/// A media type in lower case, without its parameters.
fn essence(kind: &str) -> String {
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
