//! PostgreSQL and the databases that speak its protocol.

pub mod types;
