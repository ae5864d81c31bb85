//! The lease by which one of several servers delivers scheduled events.
//!
//! In PostgreSQL it ends by the clock of the database, so that servers with wrong clocks do not both hold it.

use super::database::{Query, StateDatabase, StateError};
use crate::moment::Moment;
use std::time::Duration;

/// Time after which a lease that is not renewed is free.
pub const LEASE_TIME: Duration = Duration::from_secs(30);

const TAKE: Query = Query {
    sql: "INSERT INTO {hdb}weir_lease (name, owner, expires_at) VALUES ('schedules', $1::text, $3::timestamptz) \
          ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at \
          WHERE weir_lease.owner = excluded.owner OR weir_lease.expires_at <= $2::timestamptz RETURNING owner",
    columns: 1,
};
const TAKE_BY_DATABASE: Query = Query {
    sql: "INSERT INTO hdb_catalog.weir_lease (name, owner, expires_at) \
          VALUES ('schedules', $1::text, clock_timestamp() + $2::interval) \
          ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at \
          WHERE weir_lease.owner = excluded.owner OR weir_lease.expires_at <= clock_timestamp() RETURNING owner",
    columns: 1,
};
const LOOK: Query = Query { sql: "SELECT owner FROM {hdb}weir_lease WHERE name = 'schedules'", columns: 1 };
const RELEASE: Query = Query { sql: "DELETE FROM {hdb}weir_lease WHERE owner = $1::text", columns: 0 };

/// A server's part of the lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lease {
    /// It held the lease before and holds it on.
    Renewed,
    /// It has the lease from another, or for the first time: events in work are nobody's.
    Taken,
    /// Another server holds it.
    Other,
}

impl StateDatabase {
    /// Takes or renews the lease for the server `owner` at `now`, for [`LEASE_TIME`].
    /// # Errors
    /// The database cannot be asked.
    pub async fn take_lease(&self, owner: &str, now: Moment) -> Result<Lease, StateError> {
        let owner_value = || Some(owner.to_owned());
        let take = if self.is_shared() {
            (TAKE_BY_DATABASE, vec![owner_value(), Some(format!("{} seconds", LEASE_TIME.as_secs()))])
        } else {
            (TAKE, vec![owner_value(), Some(now.to_text()), Some(now.after(LEASE_TIME).to_text())])
        };
        let rows = self.transact(vec![(LOOK, Vec::new()), take]).await?;
        let [before, after] = [0, 1].map(|at| rows.get(at).and_then(|it| it.first()?.first()?.as_deref()));
        Ok(match (before, after) {
            (_, None) => Lease::Other,
            (Some(before), Some(_)) if before == owner => Lease::Renewed,
            (_, Some(_)) => Lease::Taken,
        })
    }

    /// Gives the lease of `owner` back.
    /// # Errors
    /// The database cannot be asked.
    pub async fn release_lease(&self, owner: &str) -> Result<(), StateError> {
        self.run(RELEASE, vec![Some(owner.to_owned())]).await.map(drop)
    }
}
