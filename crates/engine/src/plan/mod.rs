//! From a checked operation to an immutable [`Plan`].
//!
//! [`shape`] is what the answer looks like and what sources are asked for.

pub mod shape;
