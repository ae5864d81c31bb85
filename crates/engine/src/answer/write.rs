//! Bytes of responses: [`out`] is the buffer, [`rows`] writes a source's typed answer into it.

pub(crate) mod fault;
pub mod out;
pub(crate) mod parting;
mod raw;
pub mod row_writer;

pub use row_writer as rows;
