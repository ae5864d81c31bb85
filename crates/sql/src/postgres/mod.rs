//! PostgreSQL and the databases that speak its protocol.

#[cfg_attr(not(test), expect(dead_code, reason = "the driver that binds is yet to come"))]
mod bind;
pub mod decode;
mod geojson;
pub mod literal;
pub mod statement;
pub mod types;
