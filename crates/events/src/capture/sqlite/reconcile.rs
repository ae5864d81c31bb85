//! Makes, replaces and drops the triggers of a file, so that they are those of the metadata.
//!
//! **Invariant:** one transaction; a trigger never names a table that is not there.

use super::columns::read_columns;
use super::tables::{create_tables, has_tables};
use super::trigger_text::write_trigger;
use crate::capture::{CaptureDifference, Leftovers};
use crate::trigger::{CapturedOperation, CapturedTrigger, NAME_PREFIX};
use rusqlite::Connection;
use std::collections::BTreeMap;
use weir_relational::quoting::quote_identifier;

/// Statements by the names of triggers.
type Statements = BTreeMap<String, String>;

/// The difference, and the statements of all triggers that are wanted.
fn compare(
    connection: &Connection,
    triggers: &[CapturedTrigger],
    leftovers: Leftovers,
) -> rusqlite::Result<(CaptureDifference, Statements)> {
    let mut wanted = Statements::new();
    let mut difference = CaptureDifference::default();
    for trigger in triggers {
        match write_all(connection, trigger)? {
            Ok(statements) => wanted.extend(statements),
            Err(reason) => difference.failed.push((trigger.name.clone(), reason)),
        }
    }
    let sql =
        "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND substr(name, 1, length(?1)) = ?1";
    let mut statement = connection.prepare(sql)?;
    let known = statement
        .query_map([NAME_PREFIX], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<Statements>>()?;
    for (name, sql) in &wanted {
        match known.get(name) {
            None => difference.made.push(name.clone()),
            Some(other) if other != sql => difference.replaced.push(name.clone()),
            Some(_) => {}
        }
    }
    if leftovers == Leftovers::Drop {
        let keeps = |it: &String| {
            wanted.contains_key(it) || difference.failed.iter().any(|(name, _)| is_of(it, name))
        };
        let dropped: Vec<String> = known.into_keys().filter(|it| !keeps(it)).collect();
        difference.dropped = dropped;
    }
    Ok((difference, wanted))
}

/// The statements of `trigger`, or the reason why it cannot be made.
fn write_all(
    connection: &Connection,
    trigger: &CapturedTrigger,
) -> rusqlite::Result<Result<Statements, String>> {
    let Some(columns) = read_columns(connection, &trigger.table)? else {
        return Ok(Err(format!("\"{}\" is no table on which triggers can stand", trigger.table)));
    };
    let statement = |it: &CapturedOperation| {
        Ok((trigger.object_name(it.operation), write_trigger(trigger, it, &columns)?))
    };
    Ok(trigger.operations.iter().map(statement).collect())
}

/// True if `object` is a trigger of the event trigger `name`.
fn is_of(object: &str, name: &str) -> bool {
    let rest = object.strip_prefix(NAME_PREFIX).and_then(|it| it.strip_prefix(name));
    rest.is_some_and(|it| ["_INSERT", "_UPDATE", "_DELETE"].contains(&it))
}

/// Changes that [`reconcile`] would make, without making them.
/// # Errors
/// SQLite's.
pub fn plan(
    connection: &Connection,
    triggers: &[CapturedTrigger],
    leftovers: Leftovers,
) -> rusqlite::Result<CaptureDifference> {
    compare(connection, triggers, leftovers).map(|it| it.0)
}

/// Makes the triggers of the file those of `triggers`. A file that has none and needs none is not touched.
/// # Errors
/// SQLite's; then nothing has changed.
pub fn reconcile(
    connection: &mut Connection,
    triggers: &[CapturedTrigger],
    leftovers: Leftovers,
) -> rusqlite::Result<CaptureDifference> {
    let (difference, _) = compare(connection, triggers, leftovers)?;
    let needs_tables = !triggers.is_empty() && !has_tables(connection)?;
    if difference.is_empty() && !needs_tables {
        return Ok(difference);
    }
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let (difference, wanted) = compare(&transaction, triggers, leftovers)?;
    if !triggers.is_empty() {
        create_tables(&transaction)?;
    }
    for name in difference.dropped.iter().chain(&difference.replaced) {
        transaction.execute_batch(&format!("DROP TRIGGER {}", quote_identifier(name)))?;
    }
    for name in difference.made.iter().chain(&difference.replaced) {
        if let Some(sql) = wanted.get(name) {
            transaction.execute_batch(sql)?;
        }
    }
    transaction.commit()?;
    Ok(difference)
}
