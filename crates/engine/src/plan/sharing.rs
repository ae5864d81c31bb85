//! Lifetimes and sharing of a plan's answers.

pub(super) mod cache_directive;
mod cache_identity;
pub(super) mod node_hints;
pub(crate) mod response_sharing;
