//! The relational plan: the only way from a front end to the rows of a database.
//!
//! A front end makes a [`plan`]; the [`passes`] change it; [`sql`] writes it as text in a [`dialect`]. Tables, keys and
//! relationships are in the [`catalog`]. Nothing here does input or output or knows a driver.
//!
//! **Invariant:** nothing a client sends is ever part of a statement's text; it is bound.

#![expect(
    missing_docs,
    reason = "the crate is not published: an item has a doc where it says more than the name"
)]

pub mod catalog;
pub mod dialect;
pub mod passes;
pub mod plan;
pub mod quoting;
pub mod sql;
pub mod values;
