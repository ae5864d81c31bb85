//! Commands about cron triggers.

use super::arguments::Arguments;
use super::lookup::{already_exists, not_there, take_out};
use super::{Command, Done, Outcome};
use crate::document::Metadata;
use crate::document::cron_trigger::CronTriggerEntry;

/// The command called `name`.
pub(super) fn command(name: &str) -> Option<Command> {
    match name {
        "create_cron_trigger" => Some(create_cron_trigger),
        "delete_cron_trigger" => Some(delete_cron_trigger),
        _ => None,
    }
}

fn create_cron_trigger(document: &mut Metadata, args: &mut Arguments) -> Done {
    let replaces = args.flag("replace")?;
    let trigger: CronTriggerEntry = args.rest()?;
    let name = &trigger.name;
    match document.cron_triggers.iter_mut().find(|it| it.name == *name) {
        Some(known) if replaces => *known = trigger,
        Some(_) => return Err(already_exists(format!("cron trigger with name: {name} already exists"))),
        None => document.cron_triggers.push(trigger),
    }
    Ok(Outcome::default())
}

fn delete_cron_trigger(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("name")?;
    let missing = || not_there(format!("cron trigger with name: {name} does not exist"));
    take_out(&mut document.cron_triggers, |it| it.name == name, missing)?;
    Ok(Outcome::default())
}
