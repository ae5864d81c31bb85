//! Body of a fetch result: bytes, rows, and the channel for the rest of them.
//!
//! A long list is sent before all of it was read: as bytes in chunks, or, for incremental delivery, as rows in batches of items.

use crate::answer::chunk::Chunk;
use crate::answer::rows::Rows;
use crate::answer::unread::Receiver;

/// The forms of an answer.
#[derive(Debug)]
pub enum FetchBody {
    /// Response bytes: the node's members `"key":value,` one after another, each with its comma.
    Finished(Finished),
    /// Rows of typed columns; one row at the root, one per parent key below.
    Rows(Rows),
    /// Rows at the root whose last column is a list with [`super::FetchInput::first_items`] items. The other items follow as
    /// [`Chunk::Items`]; an empty last batch ends a list without further items.
    FirstItems(Rows, Chunks),
}

/// Bytes of finished members.
#[derive(Debug)]
pub struct Finished {
    /// The bytes that are ready. When `rest` is absent, all.
    pub bytes: Vec<u8>,
    /// One past the last byte of each member in `bytes`; empty when the answer is one stream.
    pub ends: Vec<u32>,
    /// A non-null member failed: `data` is null.
    pub failed: bool,
    /// The chunks that follow `bytes`.
    pub rest: Option<Chunks>,
}

/// The rest of a long answer. Bounded, so a slow client slows the source.
#[derive(Debug)]
pub struct Chunks {
    /// Bytes or items in order. Errors found late come with the last one. Closing without [`Chunk::End`] or the last batch of items means that
    /// the source died: of an answer in bytes the connection has to be aborted, a list of items ends with an error.
    pub receiver: Receiver<Chunk>,
}
