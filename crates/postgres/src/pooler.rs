//! Detects a pooler between Weir and its server by trying: its product, and what does not work behind it.
//!
//! **Cost:** as many connections as the pool may open, for a moment; so only an operator's question is worth it.

use crate::address::{Naming, Settings};
use crate::connect::dial::{Dialer, Kind, ReadVersion};
use crate::error::Error;
use crate::pool::bound::ConnectionBound;
use crate::protocol::connection::End;
use crate::protocol::rows::Rows;
use crate::protocol::statement::{Format, Parameters, Statement};
use crate::protocol::transaction;
use crate::replication::pooler_name;
use crate::session::session_wire::Wire;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};
use weir_relational::quoting::quote_identifier;

/// Limit after which an attempt counts as waiting for another connection.
const WAIT_MAX: Duration = Duration::from_secs(1);

/// Findings about PGlite.
const SINGLE: &str = "PGlite has one session for all connections: Weir holds one connection at a time, closes it after each batch of \
                      reads and each mutation, and gives statements no names";
/// The server's process that answers.
static PROCESS: LazyLock<Arc<Statement>> = LazyLock::new(|| {
    Statement::new("SELECT pg_backend_pid()::text /* weir check */", [], [Format::Text], [25], None)
});
/// Removes that statement from a server process that goes on without the connection that named it.
static FORGET: LazyLock<Arc<Statement>> = LazyLock::new(|| {
    let sql = "DO $$ DECLARE it text; BEGIN \
               FOR it IN SELECT name FROM pg_catalog.pg_prepared_statements WHERE statement LIKE '%/* weir check */' LOOP \
               EXECUTE pg_catalog.format('DEALLOCATE %I', it); END LOOP; END $$";
    Statement::new(sql, [], [], [], None)
});

/// A pooler, or a server that is used like one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pooler {
    /// Product, with its version if it says so; none if it does not show.
    name: Option<String>,
    /// Each transaction may be at another server process.
    shares_sessions: bool,
    /// Weir gives statements names.
    has_names: bool,
    /// Statements keep their names between two transactions.
    keeps_names: bool,
    /// It refuses the settings that Weir connects with.
    refuses_settings: bool,
    /// Connections that it served at once.
    places: usize,
    /// Connections that the pool may open, and that were tried.
    wanted: usize,
}

/// Describes the pooler in front of the server of `settings`, one finding a line; empty without a pooler. Call it before any other connection is made.
///
/// # Errors
/// The server is not reachable.
pub async fn find(settings: &Settings, deadline: Instant) -> Result<Vec<String>, Error> {
    let tried = async {
        let naming = Naming::Named;
        let dialer = Dialer::new(Settings { naming, ..settings.clone() }, ReadVersion::Present);
        let connect = async || dialer.connect(Kind::Session, &settings.hosts, settings.target).await;
        // Closed at once: it may be the only one.
        let facts = connect().await?.0.facts;
        if facts.is_single {
            return Ok(vec![SINGLE.to_owned()]);
        }
        // Pgpool-II passes on the number of the server's process, by which other poolers show.
        let name = pooler_name(settings).await;
        if name.is_none() && !facts.is_pooled {
            return Ok(Vec::new());
        }
        let (connection, key) = connect().await?;
        Ok(Pooler::find(settings, &dialer, Wire::new(connection, key), name).await?.words(settings))
    };
    tokio::time::timeout_at(deadline.into(), tried).await.unwrap_or(Err(Error::Timeout))
}

impl Pooler {
    /// Tries a pooler, by as many connections as a pool opens beside `first`.
    async fn find(
        settings: &Settings,
        dialer: &Dialer,
        first: Wire,
        name: Option<String>,
    ) -> Result<Self, Error> {
        let wanted = ConnectionBound::new(settings).primary();
        let is_pooled = first.connection.facts.is_pooled;
        let mut wires = vec![first];
        while wires.len() < wanted {
            let attempt = dialer.connect(Kind::Session, &settings.hosts, settings.target);
            let Ok(Ok((connection, key))) = tokio::time::timeout(WAIT_MAX, Box::pin(attempt)).await else {
                break;
            };
            wires.push(Wire::new(connection, key));
        }
        let places = wires.len();
        let (shares_sessions, keeps_names) = match wires.as_mut_slice() {
            [one, other, ..] => try_sessions(one, other).await?,
            _ => (false, false),
        };
        drop(wires);
        let has_names = match settings.naming {
            Naming::Named => true,
            Naming::Detect => !is_pooled,
            Naming::Unnamed => false,
        };
        let refuses_settings = dialer.is_modest();
        Ok(Self { name, shares_sessions, has_names, keeps_names, refuses_settings, places, wanted })
    }

    /// Words about it for operators.
    fn words(&self, settings: &Settings) -> Vec<String> {
        let name = self.name.as_deref().unwrap_or("a pooler that does not say which");
        let kind = if self.shares_sessions {
            "each transaction may be at another server process"
        } else {
            "each connection has a server process of its own"
        };
        let mut words = vec![format!("{name} stands before the server; {kind}")];
        words.push(match (self.has_names, self.keeps_names) {
            (true, true) => "statements keep their names".into(),
            (true, false) => {
                "statements lose their names between two transactions: set `statement_names: never`".into()
            }
            (false, true) => {
                "statements have no names and are parsed each time, though it keeps names: `statement_names: always` saves that".into()
            }
            (false, false) => {
                "statements lose their names between two transactions, so they have none and are parsed each time".into()
            }
        });
        if self.refuses_settings {
            let role = quote_identifier(&settings.user);
            let seconds = settings.limits.statement_timeout.as_secs();
            words.push(format!(
                "it takes no `statement_timeout` and `lock_timeout` from Weir: `ALTER ROLE {role} SET statement_timeout = '{seconds}s'`"
            ));
        }
        words.extend((self.places < self.wanted).then(|| self.room_words(settings)));
        words
    }

    fn room_words(&self, settings: &Settings) -> String {
        let Self { places, wanted, .. } = self;
        let lane = wanted - settings.limits.sessions_max.max(1);
        let lane = lane / settings.limits.lanes.unwrap_or(settings.limits.threads).max(1);
        let remedy = match places.checked_sub(lane) {
            Some(sessions @ 1..) => format!("set `lanes: 1` and `sessions_max: {sessions}`"),
            _ => format!("for {} with `lanes: 1` and `sessions_max: 1`", lane + 1),
        };
        let s = if *places == 1 { "" } else { "s" };
        format!(
            "it serves {places} connection{s} at a time and Weir opens up to {wanted}, so requests wait for each other: make room there, or {remedy}"
        )
    }
}

/// Whether two connections share server processes, and whether statements keep their names all the same.
async fn try_sessions(one: &mut Wire, other: &mut Wire) -> Result<(bool, bool), Error> {
    let first = match ask(one, &PROCESS).await {
        // Another connection left it there.
        Err(error) if error.sqlstate().as_ref() == Some(b"42P05") => return Ok((true, false)),
        first => first?,
    };
    other.connection.forgo_names();
    // The other one keeps a server process for itself, the one that is free.
    ask(other, &transaction::BEGIN).await?;
    let second = ask(other, &PROCESS).await?;
    let again = tokio::time::timeout(WAIT_MAX, ask(one, &PROCESS)).await.unwrap_or(Err(Error::Timeout));
    if again.is_err() {
        ask(other, &FORGET).await?;
    }
    other.clean().await?;
    let is_moved = again.as_ref().is_ok_and(|it| *it != first) || again.is_err();
    Ok((first == second || is_moved, again.is_ok()))
}

/// The first column of a statement's first row.
async fn ask(wire: &mut Wire, statement: &Arc<Statement>) -> Result<Option<String>, Error> {
    wire.connection.push(statement, &Parameters::new())?;
    wire.sync();
    let mut answer = Rows::default();
    let mut refused = None;
    while wire.is_busy {
        match wire.next_end().await? {
            End::Complete(rows) => answer = rows,
            End::Refused(error) => refused = Some(Error::Database { error, statement: 0 }),
            End::TooLarge { .. } | End::Ready(_) => {}
        }
    }
    let first = answer.iter().next().and_then(|it| it.column(0).flatten().map(<[u8]>::to_vec));
    match refused {
        Some(error) => Err(error),
        None => Ok(first.map(|it| String::from_utf8_lossy(&it).into_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tune: impl FnOnce(&mut Pooler), expected: &[&str]) {
        let settings = Settings::parse("postgres://ada@h/shop", |_| None).unwrap();
        let mut pooler = Pooler {
            name: None,
            shares_sessions: false,
            has_names: false,
            keeps_names: false,
            refuses_settings: false,
            places: 42,
            wanted: 42,
        };
        tune(&mut pooler);
        let words = pooler.words(&settings);
        let last: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_eq!(&last[last.len() - expected.len()..], expected);
    }

    #[test]
    fn what_does_not_work_is_told_with_what_to_set() {
        check(
            |it| (it.name, it.shares_sessions) = (Some("PgBouncer".into()), true),
            &[
                "PgBouncer stands before the server; each transaction may be at another server process",
                "statements lose their names between two transactions, so they have none and are parsed each time",
            ],
        );
        check(
            |it| it.keeps_names = true,
            &[
                "a pooler that does not say which stands before the server; each connection has a server process of its own",
                "statements have no names and are parsed each time, though it keeps names: `statement_names: always` saves that",
            ],
        );
        check(
            |it| it.refuses_settings = true,
            &[
                "it takes no `statement_timeout` and `lock_timeout` from Weir: `ALTER ROLE \"ada\" SET statement_timeout = '20s'`",
            ],
        );
        check(
            |it| it.places = 8,
            &["it serves 8 connections at a time and Weir opens up to 42, so requests wait for each other: \
                 make room there, or set `lanes: 1` and `sessions_max: 3`"],
        );
        check(
            |it| it.places = 1,
            &["it serves 1 connection at a time and Weir opens up to 42, so requests wait for each other: \
                 make room there, or for 6 with `lanes: 1` and `sessions_max: 1`"],
        );
    }
}
