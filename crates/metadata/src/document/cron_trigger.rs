//! Cron triggers.

use super::webhook::{HeaderEntry, RequestTransform, ResponseTransform};
use crate::json::Json;
use serde::{Deserialize, Serialize};

/// One of `cron_triggers`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CronTriggerEntry {
    /// Name of the trigger.
    pub name: String,
    /// Address, in which `{{NAME}}` is a variable of the environment.
    pub webhook: String,
    /// Cron expression, in UTC.
    pub schedule: String,
    /// False if exports leave it out.
    pub include_in_metadata: bool,
    /// Payload of each event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Json>,
    /// Further attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_conf: Option<ScheduleRetry>,
    /// Headers of the calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<HeaderEntry>,
    /// Comment of the trigger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Transform of the calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_transform: Option<RequestTransform>,
    /// Transform of the answers, as the log has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_transform: Option<ResponseTransform>,
}

/// `retry_conf` of scheduled events, as it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct ScheduleRetry {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_retries: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_interval_seconds: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance_seconds: Option<u32>,
}

impl ScheduleRetry {
    /// Number of attempts after the first.
    pub fn num_retries(&self) -> u32 {
        self.num_retries.unwrap_or(0)
    }

    /// Seconds between two attempts.
    pub fn retry_interval_seconds(&self) -> u32 {
        self.retry_interval_seconds.unwrap_or(10)
    }

    /// Seconds of one call.
    pub fn timeout_seconds(&self) -> u32 {
        self.timeout_seconds.unwrap_or(60)
    }

    /// Seconds after which an event is not called any more.
    pub fn tolerance_seconds(&self) -> u32 {
        self.tolerance_seconds.unwrap_or(21_600)
    }
}
