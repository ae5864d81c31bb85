//! Event triggers of tables: the changes that are told, and the webhook that is told them. Columns have their names of the database.

use super::permission::Columns;
use super::webhook::{HeaderEntry, RequestTransform, ResponseTransform};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Longest name of a trigger, so that names of the functions and triggers made of it fit the database.
pub const NAME_CHARACTERS_MAX: usize = 42;

/// One of `event_triggers`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventTriggerEntry {
    /// Name, unique in its source.
    pub name: String,
    /// The changes that are told.
    pub definition: EventDefinition,
    /// Further attempts.
    #[serde(default = "EventRetry::usual")]
    pub retry_conf: EventRetry,
    /// The address of the webhook, with `{{NAME}}` for variables; or else `webhook_from_env`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<String>,
    /// The variable that holds the address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook_from_env: Option<String>,
    /// Headers of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<Vec<HeaderEntry>>,
    /// A change of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<BTreeMap<String, serde_json::Value>>")]
    pub request_transform: Option<RequestTransform>,
    /// A change of the answer, which only the log shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<BTreeMap<String, serde_json::Value>>")]
    pub response_transform: Option<ResponseTransform>,
    /// Removal of old rows of the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleanup_config: Option<CleanupConfig>,
    /// True if the trigger also fires for rows that come by logical replication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger_on_replication: Option<bool>,
    /// True if the events of one row are delivered one after the other. Weir's own key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordered: Option<bool>,
}

/// `definition` of an event trigger.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventDefinition {
    /// Deleted rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delete: Option<OperationSpec>,
    /// True if the trigger may be invoked by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enable_manual: Option<bool>,
    /// New rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insert: Option<OperationSpec>,
    /// Changed rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<OperationSpec>,
}

/// `insert`, `update` or `delete` of an event trigger.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperationSpec {
    /// Columns whose change is told; of updates alone.
    pub columns: Columns,
    /// Columns of the rows that are told; without it all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Columns>,
}

/// `retry_conf` of an event trigger; times in seconds. Hasura's files have the first two, its commands may leave out the whole.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventRetry {
    /// Pause before another attempt; without it 10.
    #[serde(default = "EventRetry::usual_interval")]
    pub interval_sec: u32,
    /// Number of attempts after the first; without it none.
    #[serde(default)]
    pub num_retries: u32,
    /// Longest time of a call; without it 60.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_sec: Option<u32>,
}

impl EventRetry {
    /// The values of a trigger that says none.
    pub const USUAL: Self = Self { interval_sec: 10, num_retries: 0, timeout_sec: Some(60) };

    const fn usual() -> Self {
        Self::USUAL
    }

    const fn usual_interval() -> u32 {
        Self::USUAL.interval_sec
    }
}

/// `cleanup_config` of an event trigger.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CleanupConfig {
    /// Rows removed by one statement; without it 10,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_size: Option<u32>,
    /// True if the rows of their calls are removed too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clean_invocation_logs: Option<bool>,
    /// Age of removed rows, in hours.
    pub clear_older_than: u32,
    /// True if nothing is removed for now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
    /// Times, as cron writes them.
    pub schedule: String,
    /// Longest time of a cleanup, in seconds; without it 60.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u32>,
}

impl EventTriggerEntry {
    /// Faults of the entry by itself, in Hasura's words, with the path of the member; empty for the whole.
    pub fn find_faults(&self) -> Vec<(&'static [&'static str], String)> {
        let mut faults: Vec<(&'static [&'static str], String)> = Vec::new();
        faults.extend(check_name(&self.name).err().map(|it| (&["name"][..], it.to_owned())));
        let EventDefinition { enable_manual, insert, update, delete } = &self.definition;
        if enable_manual.is_none() && insert.is_none() && update.is_none() && delete.is_none() {
            let message = "atleast one amongst insert/update/delete/enable_manual spec must be provided";
            faults.push((&["definition"], message.to_owned()));
        }
        let is_empty = |columns: &Columns| *columns == Columns::Listed(Vec::new());
        for (spec, columns, payload) in [
            (insert, &["definition", "insert", "columns"], &["definition", "insert", "payload"]),
            (update, &["definition", "update", "columns"], &["definition", "update", "payload"]),
            (delete, &["definition", "delete", "columns"], &["definition", "delete", "payload"]),
        ] {
            let Some(spec) = spec else { continue };
            if is_empty(&spec.columns) {
                faults.push((columns, "found empty column specification".to_owned()));
            }
            if spec.payload.as_ref().is_some_and(is_empty) {
                faults.push((payload, "found empty payload specification".to_owned()));
            }
        }
        match (&self.webhook, &self.webhook_from_env) {
            (Some(_), Some(_)) => {
                faults.push((&[], "only one of webhook or webhook_from_env should be given".to_owned()));
            }
            (None, None) => faults.push((&[], "must provide webhook or webhook_from_env".to_owned())),
            (Some(_), None) | (None, Some(_)) => {}
        }
        faults
    }
}

/// Checks that `name` may be one of an event trigger.
/// # Errors
/// Hasura's words.
pub fn check_name(name: &str) -> Result<(), &'static str> {
    let is_letter = |it: char| it.is_ascii_alphabetic();
    let is_allowed = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    if !name.starts_with(is_letter) || !name.chars().all(is_allowed) {
        Err("only alphanumeric and underscore and hyphens allowed for name")
    } else if name.len() > NAME_CHARACTERS_MAX {
        Err("event trigger name can be at most 42 characters")
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    fn check(more: &str, interval_sec: u32, num_retries: u32, timeout_sec: Option<u32>) {
        let text = format!("name: a\nwebhook: w\ndefinition: {{enable_manual: true}}\n{more}");
        let entry: EventTriggerEntry = read::entry(&text).expect("it is a trigger");
        assert_eq!(entry.retry_conf, EventRetry { interval_sec, num_retries, timeout_sec }, "{more}");
    }

    #[test]
    fn further_attempts_may_be_left_out_whole_or_in_part() {
        check("", 10, 0, Some(60));
        check("retry_conf: {}", 10, 0, None);
        check("retry_conf: {num_retries: 3}", 10, 3, None);
        check("retry_conf: {interval_sec: 5, timeout_sec: 7}", 5, 0, Some(7));
    }
}
