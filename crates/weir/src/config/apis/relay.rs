//! `relay`: the API in Relay's form.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `relay`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Relay {
    /// True answers Relay's form of a database at `/v1beta1/relay`. It is made when it is first asked for.
    pub enabled: bool,
    /// True answers the same form at `/graphql` too, in place of lists.
    pub graphql: bool,
    /// Name of the database whose tables are served in this form; without the key the first one of `sources`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl Default for Relay {
    fn default() -> Self {
        Self { enabled: true, graphql: false, source: None }
    }
}
