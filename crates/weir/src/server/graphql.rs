//! The endpoints of clients: GraphQL over HTTP, Hasura's, WebSockets, tools of agents.

mod engine_response;
mod event_stream;
pub(crate) mod execute;
pub(crate) mod hasura;
mod hasura_request;
mod live_operation;
#[cfg(feature = "mcp")]
pub(crate) mod mcp;
#[cfg(not(feature = "mcp"))]
#[path = "graphql/mcp/absent.rs"]
pub(crate) mod mcp;
pub(crate) mod over_http;
mod push_cause;
mod request_list;
mod reserved_stream;
mod resolve_document;
pub(crate) mod rest;
mod role_hint;
pub(crate) mod websocket;
