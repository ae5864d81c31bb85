//! `live`: subscriptions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use weir_engine::live::LiveSettings;

/// `live`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LiveOptions {
    /// Milliseconds between two reads of a subscription to a source that does not tell of changes. Hasura's name: `refetch_interval`.
    pub poll_ms: u32,
    /// Shortest time between two reads of a subscription, in milliseconds: changes within it are one.
    pub floor_ms: u32,
    /// Reads for subscriptions in flight.
    pub reads_max: u16,
    /// Subscriptions of the process.
    pub subscriptions_max: u32,
    /// Bytes of one result of a subscription.
    pub result_bytes_max: u32,
}

impl Default for LiveOptions {
    fn default() -> Self {
        let LiveSettings { poll, floor, reads_max, subscriptions_max, result_bytes_max, .. } =
            LiveSettings::STANDARD;
        Self {
            poll_ms: poll.as_millis() as u32,
            floor_ms: floor.as_millis() as u32,
            reads_max: reads_max as u16,
            subscriptions_max: subscriptions_max as u32,
            result_bytes_max: result_bytes_max as u32,
        }
    }
}

impl LiveOptions {
    /// Settings for the engine. A read may take `request_s` seconds.
    pub(crate) fn settings(self, request_s: u16) -> LiveSettings {
        LiveSettings {
            poll: Duration::from_millis(u64::from(self.poll_ms.max(1))),
            floor: Duration::from_millis(u64::from(self.floor_ms)),
            reads_max: usize::from(self.reads_max.max(1)),
            subscriptions_max: self.subscriptions_max as usize,
            result_bytes_max: self.result_bytes_max as usize,
            read_timeout: Duration::from_secs(u64::from(request_s)),
        }
    }
}
