//! How calls of connectors and of whole servers use the cache: rule, caller's part of the key, changes, lifetimes.

pub(crate) mod change;
pub(crate) mod client_key;
pub(crate) mod rule;
pub(crate) mod ttl;
