//! One GraphQL engine in front of databases and services: the product.

pub mod config;
pub mod generation;
pub mod server;
pub mod sources;
pub mod cli;
mod facade;

pub use facade::{Builder, ExecuteError, Weir};
