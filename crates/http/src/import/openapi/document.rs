//! An OpenAPI description as a JSON tree, with local references resolved.

use super::ImportError;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

/// Maximum length of a chain of references; longer ones count as cycles.
const REFERENCES_MAX: usize = 32;

/// Maximum number of values in a YAML description, and maximum nesting.
const NODES_MAX: usize = 20_000_000;
const DEPTH_MAX: usize = 128;

/// Prefixes of supported versions.
const VERSIONS: [&str; 3] = ["3.0", "3.1", "3.2"];

/// A parsed description.
pub(super) struct Document {
    root: Value,
}

/// A value after its references were followed.
pub(super) struct Resolved<'d> {
    pub value: &'d Value,
    /// The last reference on the way, if any.
    pub reference: Option<&'d str>,
}

impl Document {
    pub(super) fn read(text: &str) -> Result<Self, ImportError> {
        let text = text.trim_start_matches('\u{feff}');
        let json = text.trim_start().starts_with('{').then(|| serde_json::from_str(text).ok()).flatten();
        // Larger limits than for configurations, since descriptions of large services are large.
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

    /// Members of the object at `path`; empty if there is no object.
    pub(super) fn members(&self, path: &[&str]) -> impl Iterator<Item = (&String, &Value)> {
        self.get(path).and_then(Value::as_object).into_iter().flatten()
    }

    /// Follows `$ref`. `None` if it leaves the document, has no target, or is circular.
    pub(super) fn resolve<'d>(&'d self, value: &'d Value) -> Option<Resolved<'d>> {
        let mut found = Resolved { value, reference: None };
        for _ in 0..REFERENCES_MAX {
            let Some(reference) = found.value.get("$ref").and_then(Value::as_str) else { return Some(found) };
            found = Resolved { value: self.target(reference)?, reference: Some(reference) };
        }
        None
    }

    /// Target of a reference into the document: `#/a/b`, alone or after the document's own URL.
    ///
    /// Source: RFC 6901, section 6; OpenAPI 3.2, `$self`.
    fn target(&self, reference: &str) -> Option<&Value> {
        let own = text(&self.root, "$self").and_then(|it| reference.strip_prefix(it));
        let pointer = own.unwrap_or(reference).strip_prefix('#')?;
        self.root.pointer(&percent_decode_str(pointer).decode_utf8().ok()?)
    }

    /// `media`, or the media type that it references.
    pub(super) fn media<'d>(&'d self, media: &'d Value) -> &'d Value {
        self.resolve(media).map_or(media, |it| it.value)
    }
}

/// A string or number as text.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// The string member `key`.
pub(super) fn text<'d>(value: &'d Value, key: &str) -> Option<&'d str> {
    value.get(key).and_then(Value::as_str)
}

/// True if the member `key` is `true`.
pub(super) fn is_true(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool) == Some(true)
}

/// The content type of plain JSON.
pub(super) const JSON: &str = "application/json";

/// The content type of plain texts.
pub(super) const TEXT: &str = "text/plain";

/// The content type of forms.
pub(super) const FORM: &str = "application/x-www-form-urlencoded";

/// Schema of a form in `content` of a request body.
pub(super) fn form_content(content: &Map<String, Value>) -> Option<&Value> {
    content.iter().find(|it| essence(it.0) == FORM).map(|it| it.1)
}

/// JSON in `content` of a body or response: its media type, in lower case and without parameters, and the schema. `application/json` comes
/// before other JSON types.
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

/// True if `content` of a response includes plain text.
pub(super) fn has_text(content: &Map<String, Value>) -> bool {
    content.keys().any(|it| essence(it) == TEXT)
}

/// A media type in lower case, without its parameters.
pub(super) fn essence(kind: &str) -> String {
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
