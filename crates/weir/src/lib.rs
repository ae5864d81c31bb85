//! One GraphQL engine in front of databases and services: the product.

pub mod address;
pub mod cli;
pub mod config;
mod custom;
mod databases;
mod facade;
pub mod generation;
mod known;
mod log_throttle;
pub mod metadata;
pub mod native;
mod observer;
mod operations;
mod relay;
pub mod server;
pub mod services;
pub mod session;
pub mod sources;
mod trace;
mod types_file;

pub use facade::{Builder, ExecuteError, Weir};
