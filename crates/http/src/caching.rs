//! Cache settings of a call: rule, the caller's part of the key, tags to invalidate, lifetimes.

pub(crate) mod change;
pub(crate) mod client_key;
pub(crate) mod rule;
pub(crate) mod ttl;
