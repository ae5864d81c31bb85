//! One GraphQL engine in front of databases and services: the product.

pub mod cli;
pub mod config;
mod facade;
pub mod generation;
mod log_throttle;
pub mod metadata;
mod observer;
mod operations;
mod relay;
pub mod server;
pub mod session;
pub mod sources;
mod trace;

pub use facade::{Builder, ExecuteError, Weir};
