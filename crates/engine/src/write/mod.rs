//! Bytes of responses: [`out`] is the buffer.

pub mod out;
mod raw;
