//! Inconsistent objects of the metadata, as Hasura's tools read them.

use crate::generation::event_keeper::preview_unmade;
use crate::generation::{Generation, Live};
use crate::sources::Down;
use serde_json::json;
use weir_metadata::Inconsistent;

/// Inconsistent objects of a generation's metadata.
pub(super) struct MetadataState {
    /// JSON of each object.
    pub(super) objects: Vec<String>,
    /// True if some are event triggers that their databases refuse.
    pub(super) has_unmade_triggers: bool,
}

impl MetadataState {
    /// The state of a generation that `live` serves: also of what its databases refuse.
    pub(super) fn of_served(generation: &Generation, live: &Live) -> Self {
        Self::with_unmade(generation, &live.events().list_unmade(generation))
    }

    /// The state of a generation that is not served yet. Its databases are asked what they would refuse.
    pub(super) fn of_draft(generation: &Generation) -> Self {
        Self::with_unmade(generation, &preview_unmade(generation))
    }

    fn with_unmade(generation: &Generation, unmade: &[Inconsistent]) -> Self {
        let objects = generation.findings.inconsistent.iter().chain(generation.stale_remotes()).map(object);
        let objects =
            objects.chain(unmade.iter().map(object)).chain(generation.described_down().map(describe_down));
        Self { objects: objects.collect(), has_unmade_triggers: !unmade.is_empty() }
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
pub(super) fn describe_down(down: &Down) -> String {
    let object = json!({
        "type": "source",
        "name": format!("source {}", down.name),
        "reason": format!("Inconsistent object: {}", down.message),
        "definition": down.name,
    });
    object.to_string()
}
