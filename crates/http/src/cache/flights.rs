//! Results of coalesced calls.

use super::Failure;
use super::entry::Entry;
use std::sync::Arc;
use weir_engine::single_flight::{self, SingleFlight};

/// All calls in flight of a process.
pub(super) type Flights = SingleFlight<Landed>;

/// The right and the duty to bring a key's answer.
pub(super) type Flight = single_flight::Flight<Landed>;

/// The end of a flight, for waiting requests.
pub(super) type Arrival = single_flight::Arrival<Landed>;

/// Result of a flight.
#[derive(Clone, Debug)]
pub(super) enum Landed {
    /// An answer for all waiting requests.
    Entry(Arc<Entry>, AnswerOrigin),
    /// An answer for the request that began the flight; the others have to call by themselves.
    Private(Arc<Entry>),
    /// No answer.
    Failed(Failure),
}

/// Origin of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerOrigin {
    Upstream,
    Remote,
}
