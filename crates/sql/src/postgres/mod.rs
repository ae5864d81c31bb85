//! PostgreSQL and the databases that speak its protocol.

pub mod decode;
pub mod statement;
pub mod types;
