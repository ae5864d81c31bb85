//! Checks of the addresses of services, for operators.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// Result of a check of one service.
#[derive(Clone, Debug)]
pub struct ServiceCheck {
    /// Name of the service.
    pub service: Arc<str>,
    /// Addresses of the service; the reason if its name has none.
    pub addresses: Result<Vec<AddressCheck>, String>,
}

/// Result of a check of one address.
#[derive(Clone, Debug)]
pub struct AddressCheck {
    /// The address.
    pub address: SocketAddr,
    /// Why no connection could be opened.
    pub error: Option<String>,
    /// Duration of the check.
    pub took: Duration,
    /// State of the address, after the check.
    pub state: AddressState,
    /// Attempts under way there.
    pub in_flight: u32,
    /// Smoothed latency of its answers; `None` before the first.
    pub latency: Option<Duration>,
}

/// State of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressState {
    /// It gets calls.
    Used,
    /// It answers again or is new, and gets some of its calls.
    WarmingUp,
    /// It failed, and gets no calls but one after each pause.
    LeftOut,
}
