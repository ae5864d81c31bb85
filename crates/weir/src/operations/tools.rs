//! Saved operations as tools of agents, in the Model Context Protocol (MCP) of both eras: with a handshake (`initialize`, revisions up to
//! 2025-11-25) and without any state (2026-07-28).
//!
//! [`catalog`] holds what could be a tool, [`tool_list`] what is one for a caller; [`answer`] reads a message and answers it. The
//! transports are elsewhere: `server/graphql/mcp.rs` and `cli/serve/stdio.rs` implement [`host::ToolHost`].
//!
//! Types of the protocol are those of the crate `rmcp`. Its server is not used: it reads arguments and writes results as trees of
//! `serde_json`, whose numbers are `f64` beyond 64 bits, and its service has to be `Send`, which the requests of a worker are not.
//!
//! **Invariant:** a tool is listed and called only for callers who may send its document, and what a list or message says is read through
//! the view of the caller, so a hidden member does not exist for agents.
//!
//! Sources: the specification of MCP, revisions 2025-06-18, 2025-11-25 and 2026-07-28; JSON Schema 2020-12.

pub(crate) mod answer;
pub(crate) mod catalog;
pub(crate) mod fault;
pub(crate) mod host;
mod json_schema;
mod listed_tool;
pub(crate) mod message;
mod outcome;
pub(crate) mod reply;
mod saved_tool;
mod schema_search;
mod schema_text;
mod tool_list;
