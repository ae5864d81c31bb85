//! Kriti, the template language in which Hasura's transforms are written: text in, parsed template out; template and values in,
//! JSON out. No input or output.
//!
//! [`Template`] is made by [`parser`](Template::parse) and evaluated in a [`Scope`] of variables. Every JSON text is a template that
//! gives itself.
//!
//! **Invariant:** the depth of a template, and the steps and bytes of an evaluation have limits; numbers keep their digits.
//!
//! Source: Kriti 0.3.3.

#![expect(
    missing_docs,
    reason = "the crate is not published: an item has a doc where it says more than the name"
)]

mod budget;
mod compare;
mod error;
mod evaluate;
mod functions;
mod number;
mod parse;
mod path;
mod strings;
mod syntax;
mod value;

pub use budget::{EvaluationLimits, Scope};
pub use error::{ErrorCode, KritiError, Position};
pub use syntax::Template;
pub use value::{Members, TooLong, Value};

/// Maximum depth of a template, and of JSON within it.
pub const DEPTH_MAX: u32 = 128;

/// Maximum size of a template, in bytes.
pub const TEMPLATE_BYTES_MAX: usize = 1 << 20;
