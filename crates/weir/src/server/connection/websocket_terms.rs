//! The terms of a WebSocket connection: its subprotocol, endpoint and limits.

use crate::config::Limits;
use crate::server::telemetry::metrics::Endpoint;
use hyper::HeaderMap;
use std::time::Duration;
use weir_transport::socket::Subprotocol;

/// Protocols of a WebSocket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SocketApi {
    pub(crate) subprotocol: Subprotocol,
    pub(crate) endpoint: Endpoint,
    /// True at an address of Relay's API.
    pub(crate) is_relay: bool,
}

/// The result of a handshake.
#[derive(Debug)]
pub(crate) struct WebSocketTerms {
    pub(crate) subprotocol: Subprotocol,
    pub(crate) endpoint: Endpoint,
    /// True at an address of Relay's API.
    pub(crate) is_relay: bool,
    /// Headers of the handshake.
    pub(crate) headers: HeaderMap,
    pub(crate) operations_max: usize,
    pub(crate) message_bytes_max: usize,
    pub(crate) messages_per_second: u32,
    pub(crate) init: Duration,
}

impl WebSocketTerms {
    /// Terms of a handshake with these headers, under these limits.
    pub(crate) fn new(api: SocketApi, headers: HeaderMap, limits: &Limits) -> Self {
        let SocketApi { subprotocol, endpoint, is_relay } = api;
        Self {
            subprotocol,
            endpoint,
            is_relay,
            headers,
            operations_max: usize::from(limits.socket_operations_max),
            message_bytes_max: limits.socket_message_bytes_max as usize,
            messages_per_second: limits.socket_messages_per_second,
            init: Duration::from_secs(u64::from(limits.socket_init_s)),
        }
    }
}
