//! PostgreSQL and the databases that speak its protocol, by a wire client of our own that shares few connections between many
//! requests.
//!
//! A [`Statement`] is the text that a plan keeps, [`Parameters`] are what one request binds, [`Rows`] what comes back: slices of
//! the read buffer, not copied. A [`Pool`] has two kinds of connections: lanes, shared by short reads, and sessions, which one
//! mutation or long read has for itself.

mod address;
mod asked;
mod batch;
mod bind;
mod bulkhead;
mod cache;
mod catalog;
mod connection;
mod cursor;
mod decimal;
pub mod decode;
mod dial;
mod error;
mod fetch;
mod flight;
mod geojson;
mod group;
pub mod introspect;
mod labels;
mod lane;
pub mod literal;
mod message;
mod outflow;
mod parts;
mod pool;
mod portal;
mod prepared;
mod program;
mod replica;
mod result_set;
mod row_source;
mod rows;
mod server;
mod session;
pub mod source;
pub mod statement;
mod stream;
mod text;
mod tls;
mod turnstile;
mod watch;
mod way;
mod write;
mod write_fetch;

pub use address::{Host, Limits, Naming, Secret, Settings, SettingsError, Target, Tls, TlsMode, hosts};
pub use connection::Facts;
pub use error::{DatabaseError, Error, source_error};
pub use lane::jittered;
pub use pool::{Counts, Pool};
pub use rows::{Columns, Row, Rows};
pub use session::{Isolation, Purpose, Session, Transaction};
pub use source::PostgresSource;
pub use statement::{Buffer, Format, Parameters, Statement};
pub use watch::Watch;
