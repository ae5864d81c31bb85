//! `sources[].postgres`: what only a PostgreSQL source knows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use weir_sql::postgres::{Limits, Settings, flavour};

/// The block's keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Postgres {
    /// The schemas that are served. Tables of others than `public` are called `schema_table`.
    pub schemas: Vec<String>,
    /// Gives bigint, numeric, float8 and money as JSON strings.
    pub stringify_numeric_types: bool,
    /// Which database it is, if that is not to be found out: SQL is written for this one.
    pub flavour: Option<Flavour>,
    /// Connections that short reads share; without the key one per worker thread.
    pub lanes: Option<u16>,
    /// Connections for mutations and long reads, one request each.
    pub sessions_max: u16,
    /// Statements that may wait for a shared connection, and requests for one of their own.
    pub waiting_max: u32,
    /// They wait at most so many milliseconds.
    pub wait_ms_max: u32,
    /// The server ends a statement after so many seconds.
    pub statement_timeout_s: u16,
    /// Answers that leave in chunks may take so many seconds.
    pub stream_timeout_s: u16,
}

/// `sources[].postgres.flavour`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Flavour {
    /// PostgreSQL.
    Postgres,
    /// CockroachDB.
    Cockroach,
    /// YugabyteDB.
    Yugabyte,
    /// PostgreSQL with the extension Citus.
    Citus,
}

impl Default for Postgres {
    fn default() -> Self {
        let limits = Limits::DEFAULT;
        Self {
            schemas: vec!["public".into()],
            stringify_numeric_types: false,
            flavour: None,
            lanes: None,
            sessions_max: limits.sessions_max as u16,
            waiting_max: limits.waiting_max as u32,
            wait_ms_max: limits.wait_max.as_millis() as u32,
            statement_timeout_s: limits.statement_timeout.as_secs() as u16,
            stream_timeout_s: limits.stream_timeout.as_secs() as u16,
        }
    }
}

impl Postgres {
    /// Writes the keys into `settings`; `threads` will ask.
    pub(crate) fn apply(&self, settings: &mut Settings, threads: usize) {
        settings.flavour = self.flavour.map(|flavour| match flavour {
            Flavour::Postgres => flavour::Flavour::Postgres,
            Flavour::Cockroach => flavour::Flavour::Cockroach,
            Flavour::Yugabyte => flavour::Flavour::Yugabyte,
            Flavour::Citus => flavour::Flavour::Citus,
        });
        let limits = &mut settings.limits;
        limits.lanes = self.lanes.map_or(threads, usize::from);
        limits.sessions_max = usize::from(self.sessions_max);
        limits.waiting_max = self.waiting_max as usize;
        limits.wait_max = Duration::from_millis(u64::from(self.wait_ms_max));
        limits.statement_timeout = Duration::from_secs(u64::from(self.statement_timeout_s));
        limits.stream_timeout = Duration::from_secs(u64::from(self.stream_timeout_s));
    }
}
