//! GraphQL over HTTP and WebSockets, for every server: the media types and parameters of requests, files, statuses, results as events or
//! parts, and the messages of sockets.
//!
//! The crate reads and writes texts. It knows no schema, opens no socket and waits for nothing but the body of a form; the server of
//! Weir and the library both stand on it, so their clients meet one behaviour.
//!
//! Sources: GraphQL over HTTP; the protocols of the npm packages graphql-sse, graphql-ws and subscriptions-transport-ws.

pub mod document_id;
pub mod document_store;
pub mod events;
pub mod list;
pub mod media;
#[cfg(feature = "uploads")]
pub mod multipart;
pub mod parameters;
pub mod refusal;
pub mod socket;
mod subprotocol;
