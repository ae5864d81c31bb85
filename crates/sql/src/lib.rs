//! Relational sources: tracked tables and names, the Hasura front end, the executor and the drivers.
//!
//! The pipeline: a driver reads the catalog, [`model`] tracks tables and names them, [`api`] generates the schema and
//! remembers what each field, input and enum value means ([`api::meaning`]), `compile` makes a plan of a part of a
//! request.
//!
//! **Invariant:** nothing a client sends is ever part of a statement's text; it is bound.

pub mod api;
mod compile;
pub mod exec;
pub mod frontend;
pub mod model;
pub mod permission;
pub mod postgres;
pub mod sqlite;
