//! PostgreSQL and the databases that speak its protocol, by a wire client of our own that shares few connections between many
//! requests.
//!
//! A [`Statement`] is the text that a plan keeps, [`Parameters`] are what one request binds, [`Rows`] what comes back: slices of
//! the read buffer, not copied. A [`Pool`] has two kinds of connections: lanes, shared by short reads, and sessions, which one
//! mutation or long read has for itself.

mod address;
pub mod assemble;
mod batch;
#[cfg_attr(not(test), expect(dead_code, reason = "the driver that binds is yet to come"))]
mod bind;
mod cache;
mod connection;
pub mod decode;
mod dial;
mod error;
pub mod flavour;
mod geojson;
mod lane;
pub mod literal;
mod merged;
mod message;
mod nested;
mod pool;
mod replica;
mod rows;
mod session;
mod slots;
pub mod statement;
mod stream;
mod tls;
pub mod types;

pub use address::{Host, Limits, Naming, Secret, Settings, SettingsError, Target, Tls, TlsMode, hosts};
pub use connection::Facts;
pub use error::{DatabaseError, Error, source_error};
pub use flavour::Flavour;
pub use pool::{Counts, Pool};
pub use rows::{Columns, Row, Rows};
pub use session::{Isolation, Purpose, Session, Transaction};
pub use statement::{Buffer, Format, Parameters, Statement};
