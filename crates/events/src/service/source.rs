//! A source as the configuration gives it, and how it stands.

use crate::capture::postgres::WideNumbers;
use crate::capture::{CaptureDifference, Leftovers};
use crate::dispatch::{DeliveredTrigger, DispatchSettings};
use crate::trigger::CapturedTrigger;
use std::time::Duration;
use weir_database::sqlite::SharedWriter;
use weir_metadata::document::event_trigger::CleanupConfig;
use weir_postgres::Settings;

/// The database of a source.
#[derive(Clone, Debug)]
pub enum EventDatabase {
    /// A server of PostgreSQL, and the form of wide numbers in its events.
    Postgres(Box<Settings>, WideNumbers),
    /// A file of SQLite's.
    Sqlite(SharedWriter),
}

/// An event trigger.
#[derive(Clone, Debug)]
pub struct TriggerSetup {
    /// The part that the database knows.
    pub captured: CapturedTrigger,
    /// The part that is delivered; `None`: its webhook cannot be resolved, and its events wait.
    pub delivered: Option<DeliveredTrigger>,
    /// True if it may be invoked by hand.
    pub is_manual: bool,
    /// Removal of old rows.
    pub cleanup: Option<CleanupConfig>,
}

/// A source with all its event triggers, perhaps none.
#[derive(Clone, Debug)]
pub struct EventSource {
    /// Name of the source.
    pub name: String,
    /// Identity of the database: a source with another one is another source.
    pub address: String,
    pub database: EventDatabase,
    /// Event triggers.
    pub triggers: Vec<TriggerSetup>,
    /// Treatment of triggers that the metadata does not have.
    pub leftovers: Leftovers,
    /// True if the database could not be reached just now: nobody waits for its triggers.
    pub is_down: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceSettings {
    /// Largest number of calls in flight.
    pub slots: u32,
    /// Fetches.
    pub dispatch: DispatchSettings,
    /// Longest wait for calls in flight when a source goes.
    pub stop_max: Duration,
    /// True if the databases may be changed.
    pub captures: bool,
    /// True if events are delivered.
    pub delivers: bool,
    /// True if events of another server, and of copied files, are delivered too.
    pub takes_over: bool,
}

/// How a source stands after its triggers were made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceReport {
    /// Name of the source.
    pub source: String,
    /// Triggers that were made, dropped, or cannot be made.
    pub difference: CaptureDifference,
    /// One line about the changes that wait for an operator.
    pub waits: Option<String>,
    /// The reason why the database cannot be asked; it is tried again.
    pub error: Option<String>,
}
