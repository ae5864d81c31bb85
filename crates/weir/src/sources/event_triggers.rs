//! The event triggers of a source: those that its tables have, with their webhooks resolved.

use super::known_sources::KnownContents;
use crate::config::{Config, Described, Source};
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
use weir_metadata::{Inconsistent, Step};
use weir_relational::catalog::{Catalog, ConfigStep, Table, TableKind, Warning};

/// Words for event triggers of databases that cannot have any.
const NO_EVENTS: &str = "event triggers are served on PostgreSQL and SQLite only";

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
                let entry_path = entry_path(table_at, at);
                warnings.push(Warning { place: entry.name.clone(), reason, entry: entry_path });
            };
            catalog.and_then(|it| find_fault(it, table, entry)).into_iter().for_each(&mut warn);
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

/// The reason why the table of `entry` cannot have the trigger. A table that is missing is reported by itself.
fn find_fault(catalog: &Catalog, table: &TableEntry, entry: &EventTriggerEntry) -> Option<String> {
    let (schema, name) = table.table.parts();
    let known = catalog.table(catalog.find(schema, name)?);
    match known.kind {
        TableKind::Table => find_missing_column(known, entry),
        TableKind::View | TableKind::MaterializedView | TableKind::Model => Some(format!(
            "\"{name}\" is no table, and only rows of tables fire triggers: put the event trigger on the tables that it reads"
        )),
    }
}

/// The first column of `entry` that `table` lacks.
fn find_missing_column(table: &Table, entry: &EventTriggerEntry) -> Option<String> {
    if !table.is_whole {
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
    let is_there = |name: &&String| table.columns.iter().any(|it| it.name == **name);
    let missing = names.into_iter().find(|it| !is_there(it))?;
    Some(format!("column \"{missing}\" does not exist in table \"{}\"", table.name))
}

/// An event trigger of the metadata as an inconsistent object without a reason.
#[derive(Clone, Debug)]
pub(crate) struct EventEntry {
    source: String,
    trigger: String,
    object: Inconsistent,
}

impl EventEntry {
    /// The trigger `name` of `source`, whose entry is at `path` of the metadata.
    fn new(source: &Source, name: &str, described: &Described, path: &[Step]) -> Self {
        let object = described.inconsistent(path, "");
        Self { source: source.name.clone(), trigger: name.to_owned(), object }
    }

    /// The inconsistent object, if `find_failure` gives a reason for a source and a trigger.
    pub(crate) fn to_object(
        &self,
        find_failure: impl Fn(&str, &str) -> Option<String>,
    ) -> Option<Inconsistent> {
        let reason = find_failure(&self.source, &self.trigger)?;
        let mut object = self.object.clone();
        object.reason.push_str(&reason);
        Some(object)
    }
}

/// The event triggers of `source`, as far as they are of the metadata.
pub(super) fn list_entries(source: &Source, config: &Config) -> Vec<EventEntry> {
    let Some((described, at)) = config.described.as_ref().zip(source.of_metadata) else { return Vec::new() };
    let mut entries = Vec::new();
    for (table_at, table) in source.tables.iter().enumerate() {
        for (entry_at, entry) in table.event_triggers.iter().enumerate() {
            let path = Described::path(at, &entry_path(table_at, entry_at));
            entries.push(EventEntry::new(source, &entry.name, described, &path));
        }
    }
    entries
}

/// The path of an event trigger from its source.
fn entry_path(table: usize, trigger: usize) -> Vec<ConfigStep> {
    vec!["tables".into(), table.into(), "event_triggers".into(), trigger.into()]
}

/// Faults of the event triggers of `source`, a database that cannot have any.
pub(super) fn refuse_all(source: &Source) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (table_at, table) in source.tables.iter().enumerate() {
        for (at, entry) in table.event_triggers.iter().enumerate() {
            let entry_path = entry_path(table_at, at);
            warnings.push(Warning {
                place: entry.name.clone(),
                reason: NO_EVENTS.to_owned(),
                entry: entry_path,
            });
        }
    }
    warnings
}
