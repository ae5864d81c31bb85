//! Manifests: files of documents with their identifiers, as the tools of clients write them.
//!
//! The form of a file is found by its shape: Apollo's has the members `format` and `operations`; Relay and GraphQL Code Generator write an
//! object of texts by identifier; Cosmo takes a list of pairs too.
//!
//! Sources: the files of @apollo/generate-persisted-query-manifest 1.4, relay-compiler 21, @graphql-codegen/client-preset 6.2.

use weir_language::json::{Json, JsonRef};

/// `format` of Apollo's manifest.
const APOLLO_FORMAT: &str = "apollo-persisted-query-manifest";

/// Brackets open at once in a manifest; a valid one has few.
const NESTING_MAX: u32 = 16;

/// One document of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileDocument {
    pub(super) id: String,
    pub(super) name: Option<String>,
    pub(super) text: String,
}

/// Documents of the manifest `text`.
/// # Errors
/// The text has none of the forms.
pub(super) fn read_manifest(text: &[u8]) -> Result<Vec<FileDocument>, String> {
    let json = Json::parse(text, NESTING_MAX).map_err(|it| format!("it is not valid JSON: {it}"))?;
    let root = json.root();
    if root.is_array() {
        return root.items().enumerate().map(|(at, it)| read_pair(it, at)).collect();
    }
    if !root.is_object() {
        return Err("it is no manifest: neither an object nor a list".into());
    }
    if let Some(operations) = root.get("operations").filter(|it| it.as_str().is_none()) {
        return read_apollo(root, operations);
    }
    let read = |(id, text): (std::borrow::Cow<'_, str>, JsonRef<'_>)| {
        let text = text.as_str().ok_or_else(|| format!("`{id}` has no text"))?;
        to_document(&id, None, &text)
    };
    root.members().map(read).collect()
}

/// Documents of Apollo's manifest.
fn read_apollo(root: JsonRef<'_>, operations: JsonRef<'_>) -> Result<Vec<FileDocument>, String> {
    if root.get("format").and_then(|it| it.as_str()).as_deref() != Some(APOLLO_FORMAT) {
        return Err(format!("its `format` is not `{APOLLO_FORMAT}`"));
    }
    if root.get("version").and_then(JsonRef::as_number) != Some("1") {
        return Err("its `version` is not 1".into());
    }
    if !operations.is_array() {
        return Err("`operations` is no list".into());
    }
    let read = |(at, operation): (usize, JsonRef<'_>)| {
        let member = |name: &str| {
            let text = Some(operation).filter(|it| it.is_object()).and_then(|it| it.get(name));
            text.and_then(|it| it.as_str()).ok_or_else(|| format!("`operations[{at}].{name}` is no string"))
        };
        let id = member("id")?;
        let body = member("body")?;
        let name = member("name").ok().filter(|it| !it.is_empty());
        to_document(&id, name.map(|it| it.into_owned()), &body)
    };
    operations.items().enumerate().map(read).collect()
}

/// The document of `[id, text]`.
fn read_pair(pair: JsonRef<'_>, at: usize) -> Result<FileDocument, String> {
    if pair.is_array() {
        let members: Vec<_> = pair.items().take(3).map(|it| it.as_str()).collect();
        if let [Some(id), Some(text)] = &members[..] {
            return to_document(id, None, text);
        }
    }
    Err(format!("item {at} is no pair of an identifier and a text"))
}

fn to_document(id: &str, name: Option<String>, text: &str) -> Result<FileDocument, String> {
    if id.is_empty() {
        return Err("a document has an empty identifier".into());
    }
    Ok(FileDocument { id: id.to_owned(), name, text: text.to_owned() })
}
