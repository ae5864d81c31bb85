//! Connections: sockets, TLS, guards of HTTP/1.1 and HTTP/2, timeouts, unread bytes. No handler is used here.

pub(crate) mod client_address;
pub(crate) mod descriptors;
pub(crate) mod guarded_io;
pub(crate) mod head_error;
pub(crate) mod head_guard;
pub(crate) mod http2_guard;
pub(crate) mod listener;
pub(crate) mod run_queue;
pub(crate) mod timeouts;
pub(crate) mod unread;
pub(crate) mod websocket_terms;
