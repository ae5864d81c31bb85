//! A client of PostgreSQL and of the databases that speak its protocol, which shares few connections between many requests.
//!
//! A [`Statement`] is the text that a plan keeps, [`Parameters`] are the values of one request, [`Rows`] an answer: slices of
//! the read buffer, not copied. A [`Pool`] has two kinds of connections: lanes, shared by short reads, and sessions, which one
//! mutation or long read has for itself.
//!
//! **Invariant:** nothing here knows GraphQL; a statement's text comes from the relational plan.

pub mod address;
mod batch;
mod batch_time;
pub mod bound;
pub mod bulkhead;
mod cache;
pub mod connection;
pub mod cursor;
pub mod demand;
mod dial;
pub mod error;
mod group;
mod helper_lanes;
mod in_flight_batch;
pub mod introspect;
mod keyed_limiter;
mod lane;
mod lane_queue;
mod lanes;
mod message;
mod permit;
mod places;
pub mod pool;
pub mod pooler;
mod proof;
pub mod reads;
pub mod replica;
pub mod replication;
mod room;
pub mod rows;
pub mod script;
pub mod server;
pub mod session;
pub mod sql_text;
pub mod statement;
mod stream;
mod tls;
pub mod transaction;
pub mod watch;
mod wire;
pub mod write_route;

pub use address::{
    DecodingSettings, Host, Limits, Naming, Secret, Settings, SettingsError, Target, Tls, TlsMode, hosts,
};
pub use bound::ConnectionBound;
pub use connection::Facts;
pub use error::{DatabaseError, Error};
pub use lane_queue::add_jitter;
pub use pool::{Counts, Pool};
pub use reads::Reads;
pub use replica::ReadPreference;
pub use rows::{Columns, Row, Rows};
pub use session::{Purpose, Session};
pub use statement::{Buffer, Format, Parameters, Statement};
pub use transaction::{Isolation, Transaction};
pub use watch::Watch;
