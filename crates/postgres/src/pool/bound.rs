//! Maximum numbers of connections that one process opens to the servers of a database.
//!
//! **Invariant:** a pool never holds more than this, but for the short connections that cancel statements.

use crate::address::Settings;
use crate::lanes::lane_queue::DETACHED_MAX;
use std::fmt;

/// Maximum number of connections, by server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionBound {
    lanes: usize,
    /// Lanes beyond these live on the sessions' account.
    sessions: usize,
    /// Connections for mutations that share a commit.
    groups: usize,
    replicas: usize,
    has_followers: bool,
}

impl ConnectionBound {
    /// The bound of a pool with these settings.
    pub fn new(settings: &Settings) -> Self {
        Self {
            lanes: settings.limits.lanes.unwrap_or(settings.limits.threads).max(1),
            sessions: settings.limits.sessions_max.max(1),
            groups: usize::from(settings.batch_mutations),
            replicas: settings.replicas.len(),
            has_followers: !settings.follower_reads.is_empty(),
        }
    }

    /// Connections to each replica: lanes with their slow statements, and sessions.
    pub const fn replica(&self) -> usize {
        self.lanes * (1 + DETACHED_MAX) + self.sessions
    }

    /// Connections to the primary, or through it to followers.
    pub const fn primary(&self) -> usize {
        let copies = if self.has_followers { 2 } else { 1 };
        copies * self.replica() + self.groups
    }
}

impl fmt::Display for ConnectionBound {
    /// `at most 42 connections to the primary (2 lanes x 5 + 32 sessions)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lanes, sessions, groups, replicas, has_followers } = self;
        write!(f, "at most {} connections to the primary (", self.primary())?;
        if *has_followers {
            f.write_str("for the present and for followers each ")?;
        }
        let s = if *lanes == 1 { "" } else { "s" };
        write!(f, "{lanes} lane{s} x {} + {sessions} sessions", 1 + DETACHED_MAX)?;
        if *groups > 0 {
            f.write_str(" + 1 for shared commits")?;
        }
        f.write_str(")")?;
        match replicas {
            0 => Ok(()),
            1 => write!(f, " and {} to its replica", self.replica()),
            more => write!(f, " and {} to each of its {more} replicas", self.replica()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Host;

    fn check(change: impl FnOnce(&mut Settings), expected: &str) {
        let mut settings = Settings::parse("postgres://ada@main/music", |_| None).unwrap();
        change(&mut settings);
        assert_eq!(ConnectionBound::new(&settings).to_string(), expected);
    }

    #[test]
    fn the_bound_is_told_with_its_parts() {
        check(|_| {}, "at most 42 connections to the primary (2 lanes x 5 + 32 sessions)");
        check(
            |it| {
                (it.limits.lanes, it.limits.sessions_max, it.batch_mutations) = (Some(1), 8, true);
                it.replicas = vec![Host::Tcp { name: "two".into(), port: 5432 }];
            },
            "at most 14 connections to the primary (1 lane x 5 + 8 sessions + 1 for shared commits) and 13 to its replica",
        );
        check(
            |it| it.follower_reads = &[("default_transaction_read_only", "on")],
            "at most 84 connections to the primary (for the present and for followers each 2 lanes x 5 + 32 sessions)",
        );
    }
}
