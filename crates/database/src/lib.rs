//! Databases as sources of a graph: the border to front ends, the executor and the drivers.
//!
//! A front end makes a relational plan of a part of a request ([`frontend::ApiFrontend`]); [`exec`] runs it on a database through
//! the driver of [`sqlite`] or [`postgres`].
//!
//! **Invariant:** nothing a client sends is ever part of a statement's text; it is bound.

#![expect(
    missing_docs,
    reason = "the crate is not published: an item has a doc where it says more than the name"
)]

pub mod contents;
pub mod exec;
pub mod frontend;
pub mod postgres;
pub mod sqlite;
mod trace_context;
