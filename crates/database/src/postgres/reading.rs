//! Reads: whole answers, and long lists in parts.

pub(crate) mod fetch;
mod outflow;
mod parts;
mod portal;
