//! Keys of the sources of a graph, and the addresses that stand in them.

pub mod address;
pub(crate) mod described;
pub(crate) mod embedded;
pub mod lookups;
pub mod native_queries;
pub mod postgres;
pub(crate) mod service;
pub(crate) mod single_source;
pub(crate) mod types_file;
