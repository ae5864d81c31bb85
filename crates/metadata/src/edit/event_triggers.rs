//! Commands about event triggers: made, replaced, deleted; their cleanups paused and resumed.

use super::arguments::Arguments;
use super::lookup::{already_exists, display_name, not_there, source};
use super::{Command, Done, Outcome, Refused};
use crate::document::Metadata;
use crate::document::event_trigger::{EventDefinition, EventRetry, EventTriggerEntry};
use crate::document::table::TableName;
use serde::Deserialize;

/// The command called `verb`, without the prefix of a kind of database.
pub(super) fn command(verb: &str) -> Option<Command> {
    Some(match verb {
        "create_event_trigger" => create,
        "delete_event_trigger" => delete,
        _ => return None,
    })
}

/// The command called `name`, about all sources.
pub(super) fn command_of_all(name: &str) -> Option<Command> {
    Some(match name {
        "pause_event_trigger_cleanups" => |document, args| set_paused(document, args, true),
        "resume_event_trigger_cleanups" => |document, args| set_paused(document, args, false),
        _ => return None,
    })
}

fn create(document: &mut Metadata, args: &mut Arguments) -> Done {
    let of: String = args.source()?;
    let table: Option<TableName> = args.read("table")?;
    let replaces = args.flag("replace")?;
    let entry = read_entry(args)?;
    let known = source(document, &of)?;
    let name = &entry.name;
    let at = known.tables.iter().position(|it| it.event_triggers.iter().any(|it| it.name == *name));
    match (at, replaces) {
        (Some(_), false) => {
            return Err(already_exists(format!("Event trigger with name \"{name}\" already exists")));
        }
        (None, true) => return Err(absent(name)),
        (Some(at), true) => {
            let owner = &mut known.tables[at];
            if table.is_some_and(|it| display_name(&it) != display_name(&owner.table)) {
                let message = "cannot replace table or schema for trigger";
                return Err(Refused::new("not-supported", message));
            }
            owner.event_triggers.retain(|it| it.name != *name);
            owner.event_triggers.push(entry);
        }
        (None, false) => {
            let missing = || Refused::new("parse-failed", "key \"table\" not found");
            let table = table.ok_or_else(missing)?;
            let owner = known.tables.iter_mut().find(|it| display_name(&it.table) == display_name(&table));
            let owner = owner.ok_or_else(|| {
                not_there(format!("table \"{}\" does not exist in source: {of}", display_name(&table)))
            })?;
            owner.event_triggers.push(entry);
        }
    }
    Ok(Outcome::default())
}

/// The entry that the members of `create_event_trigger` say.
fn read_entry(args: &mut Arguments) -> Result<EventTriggerEntry, Refused> {
    let definition = EventDefinition {
        enable_manual: args.read("enable_manual")?,
        insert: args.read("insert")?,
        update: args.read("update")?,
        delete: args.read("delete")?,
    };
    let entry = EventTriggerEntry {
        name: args.need("name")?,
        definition,
        retry_conf: args.read("retry_conf")?.unwrap_or(EventRetry::USUAL),
        webhook: args.read("webhook")?,
        webhook_from_env: args.read("webhook_from_env")?,
        headers: args.read("headers")?,
        request_transform: args.read("request_transform")?,
        response_transform: args.read("response_transform")?,
        cleanup_config: args.read("cleanup_config")?,
        trigger_on_replication: args.read("trigger_on_replication")?,
        ordered: args.read("ordered")?,
    };
    match entry.find_faults().into_iter().next() {
        None => Ok(entry),
        Some((path, message)) => {
            // The members of a definition stand beside the others in a command.
            let below = path.iter().filter(|it| **it != "definition").map(|it| format!(".{it}"));
            let path = format!("args{}", below.collect::<String>());
            Err(Refused { code: "parse-failed", path, message })
        }
    }
}

fn absent(name: &str) -> Refused {
    not_there(format!("event trigger \"{name}\" does not exist"))
}

fn delete(document: &mut Metadata, args: &mut Arguments) -> Done {
    let of: String = args.source()?;
    let name: String = args.need("name")?;
    let known = source(document, &of)?;
    let owner =
        known.tables.iter_mut().find(|it| it.event_triggers.iter().any(|trigger| trigger.name == name));
    owner.ok_or_else(|| absent(&name))?.event_triggers.retain(|it| it.name != name);
    Ok(Outcome::default())
}

/// Event triggers that a command about cleanups names.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "an object with `sources`, or a list of objects with `source_name` and `event_triggers`"
)]
enum CleanupTargets {
    Sources { sources: NamedSources },
    Triggers(Vec<NamedTriggers>),
}

/// `"*"`, or names.
#[derive(Deserialize)]
#[serde(untagged, expecting = "'*' or a list of names")]
enum NamedSources {
    Star(String),
    Names(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedTriggers {
    #[serde(default)]
    source_name: Option<String>,
    event_triggers: Vec<String>,
}

fn set_paused(document: &mut Metadata, args: &mut Arguments, is_paused: bool) -> Done {
    match args.need("event_triggers")? {
        CleanupTargets::Sources { sources: NamedSources::Star(star) } if star == "*" => {
            let tables = document.sources.iter_mut().flat_map(|it| &mut it.tables);
            tables.flat_map(|it| &mut it.event_triggers).for_each(|it| set_paused_of(it, is_paused));
        }
        CleanupTargets::Sources { sources: NamedSources::Star(_) } => {
            return Err(Refused::new("parse-failed", "`sources` is '*' or a list of names"));
        }
        CleanupTargets::Sources { sources: NamedSources::Names(names) } => {
            for name in &names {
                let tables = &mut source(document, name)?.tables;
                let triggers = tables.iter_mut().flat_map(|it| &mut it.event_triggers);
                triggers.for_each(|it| set_paused_of(it, is_paused));
            }
        }
        CleanupTargets::Triggers(list) => {
            for NamedTriggers { source_name, event_triggers } in list {
                let known = source(document, source_name.as_deref().unwrap_or("default"))?;
                for name in &event_triggers {
                    let mut triggers = known.tables.iter_mut().flat_map(|it| &mut it.event_triggers);
                    let trigger = triggers.find(|it| it.name == *name).ok_or_else(|| absent(name))?;
                    set_paused_of(trigger, is_paused);
                }
            }
        }
    }
    Ok(Outcome::default())
}

/// Pauses or resumes the cleanup of `trigger`, if it has one.
fn set_paused_of(trigger: &mut EventTriggerEntry, is_paused: bool) {
    if let Some(cleanup) = &mut trigger.cleanup_config {
        cleanup.paused = Some(is_paused);
    }
}
