//! A client of PostgreSQL and of the databases that speak its protocol, which shares few connections between many requests.
//!
//! A [`Statement`] is the text that a plan keeps, [`Parameters`] are the values of one request, [`Rows`] an answer: slices of
//! the read buffer, not copied. A [`Pool`] has two kinds of connections: lanes, shared by short reads, and sessions, which one
//! mutation or long read has for itself.
//!
//! **Invariant:** nothing here knows GraphQL; a statement's text comes from the relational plan.

#![expect(
    missing_docs,
    reason = "the crate is not published: an item has a doc where it says more than the name"
)]

pub mod address;
mod admission;
mod connect;
pub mod error;
pub mod introspect;
mod lanes;
mod places;
pub mod pool;
pub mod pooler;
mod protocol;
pub mod replication;
pub mod script;
pub mod session;
pub mod watch;

pub use address::{
    CallerSettings, DecodingSettings, Host, Limits, Naming, RowSecurity, Secret, Settings, SettingsError,
    Target, Tls, TlsMode, hosts,
};
pub use admission::{bulkhead, demand};
pub use error::{DatabaseError, Error};
pub use lanes::lane_queue::add_jitter;
pub use pool::bound::ConnectionBound;
pub use pool::reads::Reads;
pub use pool::replica::ReadPreference;
pub use pool::{Counts, Pool, bound, reads, replica, server, write_route};
pub use protocol::facts::Facts;
pub use protocol::rows::{Columns, Row, Rows};
pub use protocol::statement::{Buffer, Format, Parameters, Statement};
pub use protocol::transaction::{Isolation, Transaction};
pub use protocol::{array_literal, connection, cursor, local_settings, rows, statement, transaction};
pub use session::{Purpose, Session};
pub use watch::Watch;
