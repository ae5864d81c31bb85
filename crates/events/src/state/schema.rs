//! The tables of the state: Hasura's, and two of Weir's own, which mark that Weir serves them.

use super::database::{Query, StateDatabase, StateError};
use super::dialect::Dialect;
use crate::shared_schema::MAKE_SCHEMA;

/// The server that serves the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// There are no tables.
    Absent,
    /// Weir does.
    Own,
    /// Another one made them: nothing of theirs may be touched before an operator says so.
    Foreign,
}

/// Whether the tables are Weir's, and whether something of another server's is there: its own tables of the state, or a log of events
/// that Weir has not taken over.
const LOOK: Query = Query {
    sql: "SELECT to_regclass('hdb_catalog.weir_lease') IS NOT NULL, to_regclass('hdb_catalog.hdb_cron_events') IS NOT NULL \
          OR to_regclass('hdb_catalog.hdb_version') IS NOT NULL \
          OR (coalesce(to_regclass('hdb_catalog.event_log'), to_regclass('hdb_catalog.hdb_source_catalog_version')) IS NOT NULL \
          AND NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('hdb_catalog.hdb_source_catalog_version') \
          AND attname = 'weir' AND NOT attisdropped))",
    columns: 2,
};

const POSTGRES: [&str; 15] = [
    "CREATE TABLE IF NOT EXISTS hdb_catalog.hdb_cron_events (id text PRIMARY KEY, trigger_name text NOT NULL, \
     scheduled_time timestamptz NOT NULL, status text NOT NULL DEFAULT 'scheduled', tries integer NOT NULL DEFAULT 0, \
     created_at timestamp DEFAULT now(), next_retry_at timestamptz, \
     CONSTRAINT valid_status CHECK (status IN ('scheduled', 'locked', 'delivered', 'error', 'dead')))",
    "CREATE INDEX IF NOT EXISTS hdb_cron_event_status ON hdb_catalog.hdb_cron_events (status)",
    "CREATE INDEX IF NOT EXISTS hdb_cron_events_weir_time ON hdb_catalog.hdb_cron_events (trigger_name, scheduled_time)",
    "CREATE UNIQUE INDEX IF NOT EXISTS hdb_cron_events_unique_scheduled ON hdb_catalog.hdb_cron_events \
     (trigger_name, scheduled_time) WHERE status = 'scheduled'",
    "CREATE TABLE IF NOT EXISTS hdb_catalog.hdb_cron_event_invocation_logs (id text PRIMARY KEY, event_id text REFERENCES \
     hdb_catalog.hdb_cron_events (id) ON UPDATE CASCADE ON DELETE CASCADE, status integer, request json, response json, \
     created_at timestamp DEFAULT now())",
    "CREATE INDEX IF NOT EXISTS hdb_cron_event_invocation_event_id ON hdb_catalog.hdb_cron_event_invocation_logs (event_id)",
    "CREATE TABLE IF NOT EXISTS hdb_catalog.hdb_scheduled_events (id text PRIMARY KEY, webhook_conf json NOT NULL, \
     scheduled_time timestamptz NOT NULL, retry_conf json, payload json, header_conf json, \
     status text NOT NULL DEFAULT 'scheduled', tries integer NOT NULL DEFAULT 0, created_at timestamp DEFAULT now(), \
     next_retry_at timestamptz, comment text, \
     CONSTRAINT valid_status CHECK (status IN ('scheduled', 'locked', 'delivered', 'error', 'dead')))",
    "CREATE INDEX IF NOT EXISTS hdb_scheduled_event_status ON hdb_catalog.hdb_scheduled_events (status)",
    "CREATE TABLE IF NOT EXISTS hdb_catalog.hdb_scheduled_event_invocation_logs (id text PRIMARY KEY, event_id text REFERENCES \
     hdb_catalog.hdb_scheduled_events (id) ON UPDATE CASCADE ON DELETE CASCADE, status integer, request json, response json, \
     created_at timestamp DEFAULT now())",
    "CREATE INDEX IF NOT EXISTS hdb_scheduled_event_invocation_event_id ON \
     hdb_catalog.hdb_scheduled_event_invocation_logs (event_id)",
    "CREATE TABLE IF NOT EXISTS hdb_catalog.hdb_action_log (id uuid PRIMARY KEY, action_name text, \
     input_payload jsonb NOT NULL, request_headers jsonb NOT NULL, session_variables jsonb NOT NULL, response_payload jsonb, \
     errors jsonb, created_at timestamptz NOT NULL DEFAULT now(), response_received_at timestamptz, status text NOT NULL, \
     CHECK (status IN ('created', 'processing', 'completed', 'error')))",
    "ALTER TABLE hdb_catalog.hdb_action_log ADD COLUMN IF NOT EXISTS weir_taken_at timestamptz",
    "CREATE INDEX IF NOT EXISTS hdb_action_log_weir_due ON hdb_catalog.hdb_action_log (status, action_name, created_at)",
    "CREATE TABLE IF NOT EXISTS hdb_catalog.weir_cron_schedules (trigger_name text PRIMARY KEY, schedule text NOT NULL, \
     since timestamptz NOT NULL)",
    "CREATE TABLE IF NOT EXISTS hdb_catalog.weir_lease (name text PRIMARY KEY, owner text NOT NULL, expires_at timestamptz NOT NULL)",
];

const SQLITE: [&str; 13] = [
    "CREATE TABLE IF NOT EXISTS hdb_cron_events (id TEXT PRIMARY KEY, trigger_name TEXT NOT NULL, scheduled_time TEXT NOT NULL, \
     status TEXT NOT NULL DEFAULT 'scheduled' CHECK (status IN ('scheduled', 'locked', 'delivered', 'error', 'dead')), \
     tries INTEGER NOT NULL DEFAULT 0, created_at TEXT, next_retry_at TEXT)",
    "CREATE INDEX IF NOT EXISTS hdb_cron_event_status ON hdb_cron_events (status)",
    "CREATE INDEX IF NOT EXISTS hdb_cron_events_weir_time ON hdb_cron_events (trigger_name, scheduled_time)",
    "CREATE UNIQUE INDEX IF NOT EXISTS hdb_cron_events_unique_scheduled ON hdb_cron_events (trigger_name, scheduled_time) \
     WHERE status = 'scheduled'",
    "CREATE TABLE IF NOT EXISTS hdb_cron_event_invocation_logs (id TEXT PRIMARY KEY, event_id TEXT REFERENCES \
     hdb_cron_events (id) ON UPDATE CASCADE ON DELETE CASCADE, status INTEGER, request TEXT, response TEXT, created_at TEXT)",
    "CREATE INDEX IF NOT EXISTS hdb_cron_event_invocation_event_id ON hdb_cron_event_invocation_logs (event_id)",
    "CREATE TABLE IF NOT EXISTS hdb_scheduled_events (id TEXT PRIMARY KEY, webhook_conf TEXT NOT NULL, scheduled_time TEXT NOT NULL, \
     retry_conf TEXT, payload TEXT, header_conf TEXT, \
     status TEXT NOT NULL DEFAULT 'scheduled' CHECK (status IN ('scheduled', 'locked', 'delivered', 'error', 'dead')), \
     tries INTEGER NOT NULL DEFAULT 0, created_at TEXT, next_retry_at TEXT, comment TEXT)",
    "CREATE INDEX IF NOT EXISTS hdb_scheduled_event_status ON hdb_scheduled_events (status)",
    "CREATE TABLE IF NOT EXISTS hdb_scheduled_event_invocation_logs (id TEXT PRIMARY KEY, event_id TEXT REFERENCES \
     hdb_scheduled_events (id) ON UPDATE CASCADE ON DELETE CASCADE, status INTEGER, request TEXT, response TEXT, created_at TEXT)",
    "CREATE TABLE IF NOT EXISTS hdb_action_log (id TEXT PRIMARY KEY, action_name TEXT, input_payload TEXT NOT NULL, \
     request_headers TEXT NOT NULL, session_variables TEXT NOT NULL, response_payload TEXT, errors TEXT, created_at TEXT NOT NULL, \
     response_received_at TEXT, status TEXT NOT NULL CHECK (status IN ('created', 'processing', 'completed', 'error')), \
     weir_taken_at TEXT)",
    "CREATE INDEX IF NOT EXISTS hdb_action_log_weir_due ON hdb_action_log (status, action_name, created_at)",
    "CREATE TABLE IF NOT EXISTS weir_cron_schedules (trigger_name TEXT PRIMARY KEY, schedule TEXT NOT NULL, since TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS weir_lease (name TEXT PRIMARY KEY, owner TEXT NOT NULL, expires_at TEXT NOT NULL)",
];

impl StateDatabase {
    /// Looks at the tables, and makes nothing.
    /// # Errors
    /// The database cannot be reached.
    pub async fn look(&self) -> Result<Ownership, StateError> {
        if let Some(path) = self.file() {
            return Ok(if path.exists() { Ownership::Own } else { Ownership::Absent });
        }
        let found = self.run(LOOK, Vec::new()).await?;
        let is_there = |at: usize| found.first().and_then(|it| it.get(at)?.as_deref()) == Some("t");
        Ok(match (is_there(0), is_there(1)) {
            (true, _) => Ownership::Own,
            (false, true) => Ownership::Foreign,
            (false, false) => Ownership::Absent,
        })
    }

    /// Makes the tables that are missing, unless they are another server's and `takes_over` is false.
    /// # Errors
    /// The database cannot be reached, or tables cannot be made.
    pub async fn prepare(&self, takes_over: bool) -> Result<Ownership, StateError> {
        let step = |sql: &&'static str| (Query { sql, columns: 0 }, Vec::new());
        if self.dialect() == Dialect::Sqlite {
            self.transact(SQLITE.iter().map(step).collect()).await?;
            return Ok(Ownership::Own);
        }
        match self.look().await? {
            Ownership::Own => return Ok(Ownership::Own),
            Ownership::Foreign if !takes_over => return Ok(Ownership::Foreign),
            Ownership::Absent | Ownership::Foreign => {}
        }
        let [lock, make] = MAKE_SCHEMA;
        let first =
            [Query { sql: lock, columns: 1 }, Query { sql: make, columns: 0 }].map(|it| (it, Vec::new()));
        self.transact(first.into_iter().chain(POSTGRES.iter().map(step)).collect()).await?;
        Ok(Ownership::Own)
    }
}
