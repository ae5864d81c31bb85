//! `federation`: the graph as a subgraph of Apollo Federation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_engine::compose::FederationSettings;

/// Representations that one `_entities` may have without the key.
const REPRESENTATIONS_MAX: u32 = 10_000;

/// `federation`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Federation {
    /// Role whose schema is the subgraph: `_service { sdl }` shows what it sees, to it and to the admin. Callers of `_entities` have the roles
    /// that they have anyway.
    pub role: String,
    /// Items of one `_entities`.
    #[serde(default = "default_representations_max")]
    pub representations_max: u32,
}

const fn default_representations_max() -> u32 {
    REPRESENTATIONS_MAX
}

impl Federation {
    /// Settings for the engine.
    pub(crate) fn settings(&self) -> FederationSettings {
        FederationSettings { role: self.role.as_str().into(), representations_max: self.representations_max }
    }
}
