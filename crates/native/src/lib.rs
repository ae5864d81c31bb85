//! Native sources: GraphQL types in, a database with its API out.
//!
//! The pipeline: a text of types becomes a [`model`], the model becomes tables ([`layout`]) and an API ([`api`]) whose
//! every member has a meaning in terms of the model. The [`store`] makes and changes the tables, [`transfer`] fills and empties
//! them.
//!
//! **Invariant:** ids of types, fields and enums are places in one [`model::Model`].

#![expect(
    missing_docs,
    reason = "the crate is not published: an item has a doc where it says more than the name"
)]

pub mod api;
pub mod auth;
pub mod compile;
pub mod custom;
pub mod layout;
pub mod model;
pub mod sdl;
pub mod store;
pub mod transfer;
pub mod write;
