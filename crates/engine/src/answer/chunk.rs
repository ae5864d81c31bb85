//! Parts of a long answer on their way from a source: bytes, or batches of list items.

use super::field_error::{PathError, SourceError};
use super::rows::Column;

/// The most items of a batch: what hangs below them in other sources is asked for together.
pub const BATCH_ITEMS_MAX: usize = 500;

/// A part of a stream.
#[derive(Debug)]
pub enum Chunk {
    /// More bytes.
    Bytes(Vec<u8>),
    /// The answer is whole; these fields failed on the way.
    End(Vec<PathError>),
    /// More items.
    Items(ItemBatch),
    /// The source failed: nothing follows.
    Failed(SourceError),
}

/// Items of one list.
#[derive(Debug)]
pub struct ItemBatch {
    /// Items of the same kind as those in the first rows.
    pub items: Column,
    /// Their number, at most [`BATCH_ITEMS_MAX`].
    pub len: u32,
    /// Their memory, estimated.
    pub bytes: usize,
    /// True if the list ends with them.
    pub is_last: bool,
}
