//! Connections within what the server has room for.
//!
//! A connection that requests need takes the place of a helper ([`crate::admission::helper_lanes`]) where the server has too many; a helper
//! itself is let go where it would take one of the last places.

use crate::admission::helper_lanes::ROOM_PAUSE;
use crate::connect::dial::{Connected, Dialer, Kind};
use crate::error::Error;
use crate::places::{Seat, Sign, Use};
use crate::protocol::connection::{Connection, End};
use crate::protocol::statement::{Format, Parameters, Statement};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};
use weir_relational::dialect::flavour::Flavour;

/// Timeout of a helper's attempt to connect: a pooler may let it wait for a place.
const HELPER_MAX: Duration = Duration::from_secs(2);
/// Attempts at a server that has too many connections, where none of ours is known to it.
const LONE_TRIES_MAX: u32 = 10;
/// A pooler that lets a connection wait so long may have no place for it ([`crate::places`]).
const WAIT_MAX: Duration = Duration::from_secs(1);

/// True if the server has few connections left.
static IS_CROWDED: LazyLock<Arc<Statement>> = LazyLock::new(|| {
    let sql = "SELECT (SELECT sum(numbackends) FROM pg_catalog.pg_stat_database) * 4 > \
               pg_catalog.current_setting('max_connections')::bigint * 3";
    Statement::new(sql, [], [Format::Text], [], None)
});

/// Connects to a host of the settings, in place of a helper if there are too many connections; `None` if the server serves no more
/// and others are open.
pub(crate) async fn connect(dialer: &Dialer, kind: Kind, mut seat: Seat) -> Result<Option<Connected>, Error> {
    let settings = &dialer.settings;
    let last = Instant::now() + settings.connect_timeout;
    let mut tries = 0;
    loop {
        let mut attempt = Box::pin(dialer.connect(kind, &settings.hosts, settings.target));
        let mut recall = None;
        let done = loop {
            match tokio::time::timeout(WAIT_MAX, &mut attempt).await {
                Ok(done) => break done,
                Err(_) if dialer.is_single() => {}
                Err(_) if seat.is_probe() => dialer.places.note_sign(Sign::Waited),
                Err(_) if dialer.places.note_full(Sign::Waited) => return Ok(None),
                Err(_) => recall = Some(dialer.helpers.recall()),
            }
        };
        drop(recall);
        match done {
            Ok((mut connection, key)) => {
                seat.settle();
                connection.occupy(seat);
                return Ok(Some((connection, key)));
            }
            Err(error) if error.is_full() && dialer.helpers.make_room().await => {}
            Err(error) if error.is_full() && dialer.places.note_full(Sign::Refused) => return Ok(None),
            // One that was just closed still counts, and one that is being made shows soon that there are others.
            Err(error)
                if error.is_full()
                    && (dialer.places.is_hopeful() || tries < LONE_TRIES_MAX)
                    && Instant::now() < last =>
            {
                tries += 1;
                tokio::time::sleep(ROOM_PAUSE).await;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Connects a helper; `None` if the server is better off without.
pub(crate) async fn connect_helper(dialer: &Dialer) -> Option<Connected> {
    let settings = &dialer.settings;
    let mut seat = dialer.places.enter(Use::Lane)?;
    let attempt = async {
        let (mut connection, key) = dialer.connect(Kind::Lane, &settings.hosts, settings.target).await?;
        Ok::<_, Error>((!is_crowded(&mut connection).await?).then_some((connection, key)))
    };
    match tokio::time::timeout(HELPER_MAX, Box::pin(attempt)).await {
        Ok(Ok(Some((mut connection, key)))) => {
            seat.settle();
            connection.occupy(seat);
            return Some((connection, key));
        }
        Ok(Ok(None)) => tracing::info!("PostgreSQL has few connections left: no further lane"),
        Ok(Err(error)) => tracing::info!(%error, "PostgreSQL lets no further lane in"),
        Err(_) => {
            tracing::info!("PostgreSQL lets no further lane in for long");
            dialer.places.note_full(Sign::Waited);
        }
    }
    dialer.helpers.note_refusal();
    None
}

/// Asks a server that counts its connections.
async fn is_crowded(connection: &mut Connection) -> Result<bool, Error> {
    if !matches!(connection.facts.flavour, Flavour::Postgres | Flavour::Citus) {
        return Ok(false);
    }
    connection.push(&IS_CROWDED, &Parameters::new())?;
    connection.sync();
    let mut is_crowded = false;
    loop {
        match connection.next_end().await? {
            End::Complete(rows) => {
                let first = rows.iter().next();
                is_crowded = first.and_then(|it| it.column(0).flatten()) == Some(b"t");
            }
            End::Refused(error) => return Err(Error::Database { error, statement: 0 }),
            End::TooLarge { bytes_max } => return Err(Error::AnswerTooLarge { bytes_max }),
            End::Ready(_) => return Ok(is_crowded),
        }
    }
}
