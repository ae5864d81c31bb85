//! Long lists, read side by side: readers take ranges of the key in turn, and their pieces leave in the order of the key.
//!
//! **Invariant:** all readers read the same state of the file, and the answer is that of one reader.

mod cuts;
mod piece_queue;
pub(super) mod range_readers;
