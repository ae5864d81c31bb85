//! Parts that all caches share: keys, lifetimes, versions of tags, and one flight for equal requests.

pub mod cache_control;
pub mod keys;
pub mod lifetime;
pub mod single_flight;
pub mod tag_versions;
