//! How long the answers of a plan live and who shares them.

pub(super) mod cache_directive;
mod cache_identity;
pub(super) mod node_hints;
pub(crate) mod response_sharing;
