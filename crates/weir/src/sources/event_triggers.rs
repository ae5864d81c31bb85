//! The event triggers of a source: those that its tables have, with their webhooks resolved.

use super::known_sources::KnownContents;
use crate::config::{Config, Source};
use std::sync::Arc;
use std::time::Duration;
use weir_events::capture::Leftovers;
use weir_events::delivery::{LogVersion, Receiver, RetryPolicy};
use weir_events::dispatch::DeliveredTrigger;
use weir_events::schedule::CronSchedule;
use weir_events::service::{EventDatabase, EventSource, TriggerSetup};
use weir_events::trigger::CapturedTrigger;
use weir_metadata::document::event_trigger::{EventTriggerEntry, OperationSpec};
use weir_metadata::document::permission::Columns;
use weir_metadata::document::table::TableEntry;
use weir_metadata::document::webhook::WebhookAddress;
use weir_relational::catalog::{Catalog, Warning};

/// Longest time of a call of a trigger that says none, in seconds.
const TIMEOUT_S: u32 = 60;

/// The event triggers of `source`, whose database is `database`, and what is wrong with them. `None`: it has none and never had any of
/// Weir's.
pub(super) fn read(
    source: &Source,
    config: &Config,
    database: EventDatabase,
    contents: Option<&KnownContents>,
) -> (Option<EventSource>, Vec<Warning>) {
    let has_triggers = source.tables.iter().any(|it| !it.event_triggers.is_empty());
    if !has_triggers && source.of_metadata.is_none() {
        return (None, Vec::new());
    }
    let catalog = match contents {
        Some(KnownContents::Sqlite(contents)) => Some(&contents.catalog),
        Some(KnownContents::Postgres(contents)) => Some(&contents.tables.catalog),
        Some(KnownContents::Native(_) | KnownContents::Graphql(_)) | None => None,
    };
    let mut triggers = Vec::new();
    let mut warnings = Vec::new();
    for (table_at, table) in source.tables.iter().enumerate() {
        for (at, entry) in table.event_triggers.iter().enumerate() {
            let mut warn = |reason: String| {
                let entry_path = vec!["tables".into(), table_at.into(), "event_triggers".into(), at.into()];
                warnings.push(Warning { place: entry.name.clone(), reason, entry: entry_path });
            };
            catalog.and_then(|it| find_missing_column(it, table, entry)).into_iter().for_each(&mut warn);
            triggers.push(set_up(table, entry, &mut warn));
        }
    }
    let is_partial = config.described.as_ref().is_some_and(|it| it.loaded.is_partial);
    let leftovers =
        if is_partial && source.of_metadata.is_some() { Leftovers::Keep } else { Leftovers::Drop };
    let (name, address) = (source.name.clone(), source.url.clone());
    (Some(EventSource { name, address, database, triggers, leftovers, is_down: false }), warnings)
}

/// The trigger of `entry`. One whose webhook cannot be resolved is captured all the same: no change is lost meanwhile.
fn set_up(table: &TableEntry, entry: &EventTriggerEntry, mut warn: impl FnMut(String)) -> TriggerSetup {
    let timeout_s = entry.retry_conf.timeout_sec.unwrap_or(TIMEOUT_S);
    let timeout = Duration::from_secs(timeout_s.max(1).into());
    let address = WebhookAddress::from_members(entry.webhook.clone(), entry.webhook_from_env.clone());
    let headers = entry.headers.as_deref().unwrap_or_default();
    let environment = |name: &str| std::env::var(name).ok();
    let receiver = address
        .map_err(str::to_owned)
        .and_then(|it| Receiver::new(&it, headers, timeout, LogVersion::Two, &environment))
        .and_then(|it| {
            it.with_transforms(entry.request_transform.as_ref(), entry.response_transform.as_ref())
        });
    let delivered = match receiver {
        Ok(receiver) => Some(DeliveredTrigger {
            name: entry.name.clone(),
            receiver: Arc::new(receiver),
            retry: RetryPolicy {
                retries: entry.retry_conf.num_retries,
                interval: Duration::from_secs(entry.retry_conf.interval_sec.into()),
            },
            is_ordered: entry.ordered.unwrap_or_default(),
        }),
        Err(reason) => {
            warn(reason);
            None
        }
    };
    if let Some(Err(wrong)) = entry.cleanup_config.as_ref().map(|it| CronSchedule::parse(&it.schedule)) {
        warn(format!("old events are not removed: {wrong}"));
    }
    TriggerSetup {
        captured: CapturedTrigger::new(&table.table, entry),
        delivered,
        is_manual: entry.definition.enable_manual.unwrap_or_default(),
        cleanup: entry.cleanup_config.clone(),
    }
}

/// The first column of `entry` that its table lacks. A table that is missing is reported by itself.
fn find_missing_column(catalog: &Catalog, table: &TableEntry, entry: &EventTriggerEntry) -> Option<String> {
    let (schema, name) = table.table.parts();
    let known = catalog.table(catalog.find(schema, name)?);
    if !known.is_whole {
        return None;
    }
    let definition = &entry.definition;
    let specs = [&definition.insert, &definition.update, &definition.delete];
    let specs = specs.into_iter().flatten();
    let lists = specs.flat_map(|OperationSpec { columns, payload }| [Some(columns), payload.as_ref()]);
    let names = lists.flatten().flat_map(|it| match it {
        Columns::All => [].iter(),
        Columns::Listed(names) => names.iter(),
    });
    let is_there = |name: &&String| known.columns.iter().any(|it| it.name == **name);
    let missing = names.into_iter().find(|it| !is_there(it))?;
    Some(format!("column \"{missing}\" does not exist in table \"{name}\""))
}
