//! Event triggers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// `events`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Events {
    /// Event triggers are made in their databases, and their events delivered; those that another server made, and those of copied
    /// files, wait.
    #[default]
    Serve,
    /// Events are captured and delivered also where another server made the tables of events or a file is a copy: that server is gone.
    TakeOver,
    /// No trigger is made, changed or dropped, and no event is delivered.
    Off,
}

/// Delivery of events, as the environment sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventDelivery {
    /// Largest number of calls in flight, `EVENTS_HTTP_POOL_SIZE`.
    pub slots: u32,
    /// Largest number of events that are fetched together, `EVENTS_FETCH_BATCH_SIZE`; 0 switches delivery off.
    pub batch: u32,
    /// Pause between two looks for events, `EVENTS_FETCH_INTERVAL`; 0 switches delivery off.
    pub interval: Duration,
    /// Longest wait for calls in flight when the server ends, `GRACEFUL_SHUTDOWN_TIMEOUT`.
    pub stop_max: Duration,
}

/// Calls of asynchronous actions, as the environment sets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionDelivery {
    /// Pause between two looks for stored calls, `ASYNC_ACTIONS_FETCH_INTERVAL`; 0 switches delivery off.
    pub interval: Duration,
    /// Largest number of calls of one action in flight, `ASYNC_ACTIONS_FETCH_BATCH_SIZE`; 0 switches delivery off.
    pub batch: u32,
}

impl Default for ActionDelivery {
    fn default() -> Self {
        Self { interval: Duration::from_secs(1), batch: 10 }
    }
}

impl Default for EventDelivery {
    fn default() -> Self {
        let stop_max = Duration::from_secs(60);
        Self { slots: 100, batch: 100, interval: Duration::from_millis(25), stop_max }
    }
}
