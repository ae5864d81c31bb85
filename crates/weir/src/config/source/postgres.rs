//! `sources[].postgres`: what only a PostgreSQL source knows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use weir_postgres::{CallerSettings, DecodingSettings, Limits, Naming, RowSecurity, Settings};
use weir_relational::dialect::flavour;

/// The block's keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Postgres {
    /// The schemas that are served. Tables of others than `public` are called `schema_table`.
    pub schemas: Vec<String>,
    /// Gives bigint, numeric, float8 and money as JSON strings.
    pub stringify_numeric_types: bool,
    /// Dialect of SQL to write; without the key detected.
    pub flavour: Option<Flavour>,
    /// Servers that follow this one, each `host` or `host:port`: queries may be read from them.
    pub replicas: Vec<String>,
    /// A replica that is further behind is not read from, in milliseconds.
    pub replica_lag_ms_max: u32,
    /// Maximum age of reads, in milliseconds, for requests with `x-weir-consistency: eventual` and for followers of a distributed
    /// database.
    pub stale_reads_ms_max: u32,
    /// Use of named prepared statements.
    pub statement_names: StatementNames,
    /// Looks every few seconds whether the database's schema changed, and reloads then.
    pub watch_ddl: bool,
    /// Sets `hasura.user` and `hasura.tracecontext` for reads too, each of which is a transaction of its own then.
    pub session_in_reads: bool,
    /// Gives every transaction the database role of its caller: the database's grants and policies decide instead of permissions.
    pub row_level_security: Option<RowLevelSecurity>,
    /// Mutations of one statement that wait together share one commit; each is still in or out by itself.
    pub batch_mutations: bool,
    /// Has the database tell subscriptions of changes by logical decoding, where it can; else they are read at intervals.
    pub logical_decoding: bool,
    /// Megabytes of the server's log that a slot may hold back; beyond, it is given up for a while.
    pub decoding_log_mb_max: u32,
    /// Connections that short reads share; without the key one per worker thread, and more where the server is slow.
    pub lanes: Option<u16>,
    /// Connections for mutations and long reads, one request each.
    pub sessions_max: u16,
    /// Statements that may wait for a shared connection, and requests for one of their own.
    pub waiting_max: u32,
    /// They wait at most so many milliseconds.
    pub wait_ms_max: u32,
    /// The server ends a statement after so many seconds; without the key `limits.statement_s`.
    pub statement_timeout_s: Option<u16>,
    /// Answers that leave in chunks may take so many seconds.
    pub stream_timeout_s: u16,
    /// A connection that nobody used for so many seconds is closed; 0: it stays.
    pub idle_s_max: u16,
}

/// `sources[].postgres.row_level_security`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RowLevelSecurity {
    /// Claim of the token, or session variable that begins with `x-hasura-`, that names the role.
    pub role_claim: String,
    /// Role of callers without a credential, or whose token lacks the claim; without the key they see nothing.
    pub anonymous_role: Option<String>,
    /// Headers of a request that policies find in `request.headers`.
    pub headers: Vec<String>,
}

impl Default for RowLevelSecurity {
    fn default() -> Self {
        Self { role_claim: "role".into(), anonymous_role: None, headers: Vec::new() }
    }
}

/// `sources[].postgres.statement_names`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StatementNames {
    /// Unless a pooler stands between, which is found out.
    Detect,
    /// Always: the pooler keeps track of them.
    Always,
    /// Never: statements are parsed each time.
    Never,
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
            replicas: Vec::new(),
            replica_lag_ms_max: 1000,
            stale_reads_ms_max: 10_000,
            statement_names: StatementNames::Detect,
            watch_ddl: false,
            session_in_reads: false,
            row_level_security: None,
            batch_mutations: false,
            logical_decoding: DecodingSettings::DEFAULT.is_wanted,
            decoding_log_mb_max: (DecodingSettings::DEFAULT.log_bytes_max >> 20) as u32,
            lanes: None,
            sessions_max: limits.sessions_max as u16,
            waiting_max: limits.waiting_max as u32,
            wait_ms_max: limits.wait_max.as_millis() as u32,
            statement_timeout_s: None,
            stream_timeout_s: limits.stream_timeout.as_secs() as u16,
            idle_s_max: limits.idle_max.map_or(0, |it| it.as_secs() as u16),
        }
    }
}

impl RowLevelSecurity {
    /// # Errors
    /// A name is blank.
    fn rules(&self) -> Result<RowSecurity, String> {
        let is_blank = |it: &str| it.trim().is_empty();
        if is_blank(&self.role_claim) || self.anonymous_role.as_deref().is_some_and(is_blank) {
            return Err("`row_level_security`: `role_claim` and `anonymous_role` are no blank names".into());
        }
        Ok(RowSecurity {
            role_claim: self.role_claim.as_str().into(),
            anonymous_role: self.anonymous_role.as_deref().map(Box::from),
            headers: self.headers.iter().map(|it| it.to_ascii_lowercase().into()).collect(),
        })
    }
}

impl Postgres {
    /// Applies the keys to `settings`. `threads` is the number of worker threads; `bounds` are the limits.
    /// # Errors
    /// A replica is not a valid host.
    pub(crate) fn apply(
        &self,
        settings: &mut Settings,
        threads: usize,
        bounds: &crate::config::Limits,
    ) -> Result<(), String> {
        for replica in &self.replicas {
            // A URL is parsed, so that sockets and IPv6 addresses have the same syntax.
            let read = Settings::parse(&format!("postgres://anyone@{replica}/"), |_| None);
            settings.replicas.extend(read.map_err(|it| format!("replica `{replica}`: {it}"))?.hosts);
        }
        settings.replica_lag_max = Duration::from_millis(u64::from(self.replica_lag_ms_max));
        settings.stale_reads_max = Duration::from_millis(u64::from(self.stale_reads_ms_max));
        settings.batch_mutations = self.batch_mutations;
        settings.caller = CallerSettings {
            in_mutations: false,
            in_reads: self.session_in_reads,
            row_security: self.row_level_security.as_ref().map(RowLevelSecurity::rules).transpose()?,
        };
        settings.decoding = DecodingSettings {
            is_wanted: self.logical_decoding,
            log_bytes_max: u64::from(self.decoding_log_mb_max) << 20,
        };
        settings.naming = match self.statement_names {
            StatementNames::Detect => Naming::Detect,
            StatementNames::Always => Naming::Named,
            StatementNames::Never => Naming::Unnamed,
        };
        settings.flavour = self.flavour.map(|flavour| match flavour {
            Flavour::Postgres => flavour::Flavour::Postgres,
            Flavour::Cockroach => flavour::Flavour::Cockroach,
            Flavour::Yugabyte => flavour::Flavour::Yugabyte,
            Flavour::Citus => flavour::Flavour::Citus,
        });
        let limits = &mut settings.limits;
        limits.lanes = self.lanes.map(usize::from);
        limits.threads = threads;
        limits.sessions_max = usize::from(self.sessions_max);
        limits.waiting_max = self.waiting_max as usize;
        limits.wait_max = Duration::from_millis(u64::from(self.wait_ms_max));
        limits.statement_timeout =
            self.statement_timeout_s.map_or(bounds.statement_max(), |it| Duration::from_secs(u64::from(it)));
        bounds.bound_streams(limits);
        limits.stream_timeout = Duration::from_secs(u64::from(self.stream_timeout_s));
        limits.idle_max = (self.idle_s_max > 0).then(|| Duration::from_secs(u64::from(self.idle_s_max)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(replicas: &[&str], expected: &str) {
        let mut settings = Settings::parse("postgres://ada@main/music", |_| None).unwrap();
        let replicas = replicas.iter().map(|&it| it.to_owned()).collect();
        let keys = Postgres { replicas, replica_lag_ms_max: 250, ..Postgres::default() };
        let read = keys
            .apply(&mut settings, 3, &crate::config::Limits::default())
            .map(|()| format!("{:?}", settings.replicas));
        assert_eq!(read.unwrap_or_else(|message| message), expected);
    }

    #[test]
    fn replicas_are_hosts_as_in_a_url() {
        check(&[], "[]");
        check(
            &["one", "[::1]:6000"],
            r#"[Tcp { name: "one", port: 5432 }, Tcp { name: "::1", port: 6000 }]"#,
        );
        check(&["one:two"], "replica `one:two`: `two` is no port");
    }
}
