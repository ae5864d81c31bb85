//! Parts that all caches share: keys, lifetimes, versions of tags, and one flight for equal requests.

pub mod cache_control;
pub mod keys;
pub mod lifetime;
pub mod single_flight;
pub mod tag_versions;

/// Fill of a cache at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheFill {
    /// Entries.
    pub entries: usize,
    /// Bytes that they take, estimated.
    pub bytes: u64,
    /// Bytes that they may take.
    pub bytes_max: u64,
}
