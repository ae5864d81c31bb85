//! Inconsistent objects of the metadata, as Hasura's tools read them.

use crate::generation::Generation;
use crate::sources::Down;
use serde_json::json;
use weir_metadata::Inconsistent;

/// Inconsistent objects of a generation's metadata.
pub(super) struct MetadataState {
    /// JSON of each object.
    pub(super) objects: Vec<String>,
}

impl MetadataState {
    pub(super) fn of(generation: &Generation) -> Self {
        let objects = generation.findings.inconsistent.iter().chain(generation.stale_remotes()).map(object);
        Self { objects: objects.chain(generation.described_down().map(down)).collect() }
    }

    /// The list of objects.
    pub(super) fn list(&self) -> String {
        format!("[{}]", self.objects.join(","))
    }

    /// JSON members `is_consistent` and `inconsistent_objects`.
    pub(super) fn members(&self) -> String {
        let is_consistent = self.objects.is_empty();
        format!("\"is_consistent\":{is_consistent},\"inconsistent_objects\":{}", self.list())
    }
}

/// An inconsistent object as JSON.
pub(super) fn object(it: &Inconsistent) -> String {
    let [kind, name, reason] = [it.kind, &it.name, &it.reason].map(|it| json!(it));
    let definition = &it.definition;
    format!("{{\"type\":{kind},\"name\":{name},\"reason\":{reason},\"definition\":{definition}}}")
}

/// A source that is down, as an inconsistent object.
pub(super) fn down(down: &Down) -> String {
    let object = json!({
        "type": "source",
        "name": format!("source {}", down.name),
        "reason": format!("Inconsistent object: {}", down.message),
        "definition": down.name,
    });
    object.to_string()
}
