//! Results of coalesced calls.

use super::Failure;
use super::entry::Entry;
use std::sync::Arc;
use weir_engine::single_flight::{self, SingleFlight};

/// All calls in flight in this process.
pub(super) type Flights = SingleFlight<Landed>;

/// The leader's handle of a flight: it must deliver the answer.
pub(super) type Flight = single_flight::Flight<Landed>;

/// The waiter's handle of a flight.
pub(super) type Arrival = single_flight::Arrival<Landed>;

/// Result of a flight.
#[derive(Clone, Debug)]
pub(super) enum Landed {
    /// An answer for all waiting requests.
    Entry(Arc<Entry>, AnswerOrigin),
    /// A private answer: only the request that started the flight gets it, the others make calls of their own.
    Private(Arc<Entry>),
    /// The call failed.
    Failed(Failure),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerOrigin {
    Upstream,
    Remote,
}
