//! `federation`: the graph as a subgraph of Apollo Federation.

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use weir_engine::compose::FederationSettings;

/// Most representations that one `_entities` may have, and the default.
const REPRESENTATIONS_MAX: u32 = 10_000;

/// `federation`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Federation {
    /// Role whose schema is the subgraph: `_service { sdl }` shows what it sees, to it and to the admin. Callers of `_entities` have the roles
    /// that they have anyway.
    pub role: String,
    /// Items of one `_entities`: 1 to 10000, which is what a list of any request may have.
    #[serde(default = "default_representations_max", deserialize_with = "read_representations_max")]
    #[schemars(range(min = 1, max = 10_000))]
    pub representations_max: u32,
}

fn read_representations_max<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let max = u32::deserialize(deserializer)?;
    if (1..=REPRESENTATIONS_MAX).contains(&max) {
        return Ok(max);
    }
    Err(D::Error::custom(format!("`representations_max` is {max}; it has to be 1 to {REPRESENTATIONS_MAX}")))
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
