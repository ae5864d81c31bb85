//! Runs the statements that make and drop functions and triggers.
//!
//! **Invariant:** writers of a table wait behind a definition for [`LOCK_TIMEOUT`] twice at most, and then not before the next attempt.

use crate::capture::CaptureDifference;
use std::collections::BTreeSet;
use std::time::Instant;
use weir_postgres::script::{self, Manner};
use weir_postgres::{Error, Settings};

/// The time that a definition waits for a lock of a table, within which writes wait behind it.
const LOCK_TIMEOUT: &str = "SET LOCAL lock_timeout = '300ms';";

/// The reason of what waits for a lock.
const LOCKED: &str = "its table is locked by another transaction";

/// Statements that make or drop a function and its trigger.
pub(super) struct FunctionScript<'t> {
    /// Name of the function.
    pub(super) name: String,
    pub(super) sql: String,
    /// Schema and name of the table that is locked for it.
    pub(super) table: Option<(String, String)>,
    /// Name of the event trigger that it is made for; `None`: the function is dropped.
    pub(super) trigger: Option<&'t str>,
}

/// Runs `scripts`, and takes those that fail out of `difference`, with their reasons.
pub(super) async fn run_scripts(
    settings: &Settings,
    scripts: &[FunctionScript<'_>],
    difference: &mut CaptureDifference,
    deadline: Instant,
) -> Result<(), Error> {
    let whole: String = scripts.iter().map(|it| it.sql.as_str()).collect();
    if scripts.is_empty() || change(settings, &whole, deadline).await.is_ok() {
        return Ok(());
    }
    let mut locked = BTreeSet::new();
    // One by one, so that what fails keeps no other from being made.
    for script in scripts {
        if script.table.as_ref().is_some_and(|it| locked.contains(it)) {
            note_failure(script, Failure::Passing(LOCKED.to_owned()), difference);
            continue;
        }
        let Err(error) = change(settings, &script.sql, deadline).await else { continue };
        if error.sqlstate().is_none() {
            return Err(error);
        }
        if is_locked(&error) {
            locked.extend(script.table.as_ref());
        }
        note_failure(script, classify(&error), difference);
    }
    Ok(())
}

async fn change(settings: &Settings, sql: &str, deadline: Instant) -> Result<(), Error> {
    let sql = format!("{LOCK_TIMEOUT}\n{sql}");
    script::run(settings, &sql, Manner::default(), deadline).await.map(drop)
}

/// A reason why a script failed.
enum Failure {
    /// Somebody has to mend something.
    Lasting(String),
    /// The next attempt may succeed.
    Passing(String),
}

fn is_locked(error: &Error) -> bool {
    error.sqlstate() == Some(*b"55P03")
}

/// The kind of `error`. Of what the server refuses only rights, names and features (classes 42 and 0A), states of objects and exceptions
/// of other people's code last: a trigger that was taken for one of those may be removed with its events.
fn classify(error: &Error) -> Failure {
    let is_lasting = match error.sqlstate() {
        Some([b'4', b'2', ..] | [b'0', b'A', ..] | [b'P', b'0', ..]) => !error.is_retryable(),
        Some(state) => state == *b"55000",
        None => false,
    };
    match (is_lasting, is_locked(error)) {
        (true, _) => Failure::Lasting(error.to_string()),
        (false, true) => Failure::Passing(LOCKED.to_owned()),
        (false, false) => Failure::Passing(error.to_string()),
    }
}

fn note_failure(script: &FunctionScript<'_>, failure: Failure, difference: &mut CaptureDifference) {
    difference.take_back(&script.name);
    let (list, name, reason) = match (script.trigger, failure) {
        (Some(trigger), Failure::Lasting(reason)) => (&mut difference.failed, trigger, reason),
        (Some(trigger), Failure::Passing(reason)) => (&mut difference.delayed, trigger, reason),
        (None, Failure::Lasting(reason) | Failure::Passing(reason)) => {
            (&mut difference.kept, script.name.as_str(), reason)
        }
    };
    let entry = (name.to_owned(), reason);
    if !list.contains(&entry) {
        list.push(entry);
    }
}
