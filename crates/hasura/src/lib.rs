//! Hasura's API over databases: tracked tables and names, permissions, and plans of requests.
//!
//! [`open`] reads a database, [`model`] tracks its tables and names them, [`permission`] says who may see and change them,
//! [`api`] generates the schema and remembers what each field, input and enum value means ([`api::meaning`]), `compile` makes a plan
//! of a part of a request, which `weir-database` runs.

#![expect(
    missing_docs,
    reason = "the crate is not published: an item has a doc where it says more than the name"
)]

pub mod api;
mod api_frontend;
mod compile;
mod list_sizes;
pub mod model;
pub mod open;
pub mod permission;
mod visibility;
