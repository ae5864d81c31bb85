//! A graph as a subgraph of Apollo Federation: `_service` with its text, and `_entities`, which finds objects by their keys.
//!
//! [`FederationSource`] answers both fields: it reads representations and returns their keys. The objects are fetched by the
//! sources that have them, through lookups ([`crate::source::EntityLookup`]) that are planned like joins, so all representations of
//! one type and key are one fetch, by the caller's permissions.
//!
//! Source: Apollo Federation, subgraph specification.

mod federation_source;
mod key_column;
mod read_representations;
pub(super) mod subgraph_text;

pub(super) use federation_source::{ENTITIES, ENTITY, FEDERATION, FederationSource, SERVICE};

/// Settings of a subgraph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FederationSettings {
    /// The role whose schema `_service` shows. Callers with this role and the admin see `_service`.
    pub role: Box<str>,
    /// Items that one `_entities` may have.
    pub representations_max: u32,
}
