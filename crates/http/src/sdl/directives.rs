//! Directives of a text of services: one module reads the names, the others one subject each.

pub(crate) mod answer_headers;
pub(crate) mod batches;
pub(crate) mod caching;
pub(crate) mod connect;
pub(crate) mod federation;
pub(crate) mod fields;
pub(crate) mod guards;
pub(crate) mod hints;
pub(crate) mod links;
pub(crate) mod services;
pub(crate) mod tags;
