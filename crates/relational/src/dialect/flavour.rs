//! Capabilities of PostgreSQL and of compatible databases, in one table.
//!
//! The flavour is found at connect, or forced by the configuration: every flavour's statements run on plain PostgreSQL,
//! so that its tests can run them all.
//!
//! Source: the databases' own documents and issue trackers; `docs/decisions/postgresql-statements.md`.

/// Databases with PostgreSQL's protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Flavour {
    /// PostgreSQL.
    #[default]
    Postgres,
    /// CockroachDB.
    Cockroach,
    /// YugabyteDB's YSQL.
    Yugabyte,
    /// PostgreSQL with the extension Citus.
    Citus,
}

/// Abilities of a flavour's SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// `LATERAL (… LIMIT …)` is planned well. If not, pages below parents are cut by `row_number()`.
    pub lateral_pages: bool,
    /// `= ANY(ARRAY(SELECT …))` reads an index. If not, keys are joined.
    pub any_of_keys: bool,
    /// `ON CONFLICT ON CONSTRAINT` is known.
    pub conflict_by_name: bool,
    /// True if nulls come last ascending and first descending by default; false for the reverse.
    pub nulls_are_largest: bool,
    /// `LISTEN` and `NOTIFY` are known.
    pub listens: bool,
    /// The catalog lists functions as PostgreSQL's does.
    pub lists_functions: bool,
    /// A related row can be found by a subplan. If not, every `EXISTS` has to become a join.
    pub subplans: bool,
    /// A condition, an order or a value may look for related rows of another shard row by row. If not, they are gathered by key
    /// ([`crate::sql`]).
    pub correlates_shards: bool,
    /// The type of a row as a whole is the table's, also on a shard.
    pub has_row_types: bool,
    /// A statement by key may be asked for many keys at once by a join with them, whatever the nodes are.
    pub merges_by_join: bool,
    /// A transaction may change all shards of a table and then a table that is on every node. If not, the session is told to change
    /// the shards one after the other.
    pub mixes_shards: bool,
    /// Messages name tables and constraints as clients know them. If not, they may name a shard's, and those of the planner of shards
    /// say what it cannot do.
    pub hides_shards: bool,
    /// The hidden column `xmax` of a row that was inserted is 0, and of one that an upsert updated is not.
    pub tells_upserts: bool,
    /// Returned columns of a change may call functions that depend on the session.
    pub returns_stable: bool,
    /// An `OFFSET` or condition on values of the request alone is computed before a row is read.
    pub judges: bool,
    /// The snapshot of a statement says which transactions run.
    pub tells_snapshots: bool,
    /// A setting of any name can hold until the end of its transaction.
    pub local_settings: bool,
    /// Other statements can run while rows of one are still to come.
    pub portals: bool,
    /// A transaction may have to be repeated though it does nothing unusual (40001).
    pub repeats: bool,
    /// A transaction that lost a race goes on from a savepoint named `cockroach_restart`, and keeps its place among others by that.
    pub restarts_at_savepoint: bool,
    /// Session settings under which reads may be of the past and answered by the nearest copy; none: there are no such reads. `{ms}`
    /// stands for the milliseconds that they may be behind.
    pub follower_reads: &'static [(&'static str, &'static str)],
}

/// CockroachDB's reads of followers. It chooses how far they are behind, some 5 seconds. Source: its manual, "Follower Reads".
const COCKROACH_FOLLOWERS: &[(&str, &str)] =
    &[("default_transaction_read_only", "on"), ("default_transaction_use_follower_reads", "on")];

/// YugabyteDB's. Source: its manual, "Follower reads".
const YUGABYTE_FOLLOWERS: &[(&str, &str)] = &[
    ("default_transaction_read_only", "on"),
    ("yb_read_from_followers", "on"),
    ("yb_follower_read_staleness_ms", "{ms}"),
];

impl Flavour {
    /// All flavours.
    pub const ALL: [Self; 4] = [Self::Postgres, Self::Cockroach, Self::Yugabyte, Self::Citus];

    /// The flavour's name in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgresql",
            Self::Cockroach => "cockroachdb",
            Self::Yugabyte => "yugabytedb",
            Self::Citus => "citus",
        }
    }

    /// The flavour called so in the configuration.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// The product's name, for people.
    pub const fn product(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::Cockroach => "CockroachDB",
            Self::Yugabyte => "YugabyteDB",
            Self::Citus => "Citus",
        }
    }

    /// Detects the flavour by the result of `SELECT version()`, and by whether the extension Citus is installed.
    pub fn detect(version: &str, citus: bool) -> Self {
        match version {
            _ if citus => Self::Citus,
            _ if version.contains("CockroachDB") => Self::Cockroach,
            _ if version.contains("-YB-") => Self::Yugabyte,
            _ => Self::Postgres,
        }
    }

    /// Differences from PostgreSQL, for operators: snapshots, unique constraints, foreign keys and sequences first, a line
    /// each.
    pub const fn differences(self) -> &'static [&'static str] {
        match self {
            Self::Postgres => &[],
            Self::Cockroach => &[
                "one request reads one moment; transactions that lose a race (40001) are repeated up to ten times",
                "unique constraints and foreign keys hold as on PostgreSQL; sequences have gaps, and INT columns are `bigint`",
                "`x-weir-consistency: eventual` reads the nearest copy, some 5 seconds behind",
                "mutations do not set `hasura.user`; functions and `watch_ddl` are not served; no run of Weir against CockroachDB was made yet",
            ],
            Self::Yugabyte => &[
                "one request reads one moment; transactions that lose a race (40001) are repeated up to ten times",
                "unique constraints and foreign keys hold as on PostgreSQL; sequences have gaps",
                "`x-weir-consistency: eventual` reads the nearest copy, up to `stale_reads_ms_max` behind",
                "`watch_ddl` is not served; no run of Weir against YugabyteDB was made yet",
            ],
            Self::Citus => &[
                "a read of one shard sees one moment; a read over several may see half of a transaction",
                "a unique constraint holds where it has the distribution column",
                "a foreign key holds between colocated tables by the distribution column, and to reference tables",
                "sequences of `bigint` count on every node, those of `int` on the coordinator alone",
                "connect to the coordinator: local tables are missing on a worker",
            ],
        }
    }

    /// Abilities of this flavour's SQL.
    pub const fn abilities(self) -> Abilities {
        let all = Abilities {
            lateral_pages: true,
            any_of_keys: true,
            conflict_by_name: true,
            nulls_are_largest: true,
            listens: true,
            lists_functions: true,
            subplans: true,
            correlates_shards: true,
            has_row_types: true,
            merges_by_join: true,
            mixes_shards: true,
            hides_shards: true,
            tells_upserts: true,
            tells_snapshots: true,
            returns_stable: true,
            judges: true,
            local_settings: true,
            portals: true,
            repeats: false,
            restarts_at_savepoint: false,
            follower_reads: &[],
        };
        let others = Abilities { tells_upserts: false, tells_snapshots: false, ..all };
        match self {
            Self::Postgres => all,
            Self::Cockroach => Abilities {
                lateral_pages: false,
                any_of_keys: false,
                conflict_by_name: false,
                nulls_are_largest: false,
                listens: false,
                lists_functions: false,
                subplans: false,
                portals: false,
                local_settings: false,
                judges: false,
                repeats: true,
                restarts_at_savepoint: true,
                follower_reads: COCKROACH_FOLLOWERS,
                ..others
            },
            Self::Yugabyte => {
                Abilities { listens: false, repeats: true, follower_reads: YUGABYTE_FOLLOWERS, ..others }
            }
            Self::Citus => Abilities {
                lateral_pages: false,
                subplans: false,
                correlates_shards: false,
                has_row_types: false,
                merges_by_join: false,
                mixes_shards: false,
                returns_stable: false,
                judges: false,
                hides_shards: false,
                ..others
            },
        }
    }
}

/// Version of a product: up to four numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Release {
    numbers: [u16; 4],
    len: u8,
}

impl Release {
    /// Release of a server that does not report one.
    pub const NONE: Self = Self { numbers: [0; 4], len: 0 };

    /// Reads the release of a server of `flavour` from the result of `SELECT version()`, or the version of the extension Citus.
    pub fn detect(flavour: Flavour, version: &str, citus: &str) -> Self {
        let after = |mark: &str| version.split_once(mark).map_or("", |it| it.1);
        let text = match flavour {
            Flavour::Postgres => after("PostgreSQL "),
            Flavour::Cockroach => after(" v"),
            Flavour::Yugabyte => after("-YB-"),
            Flavour::Citus => citus,
        };
        let end = text.find(|it: char| it != '.' && !it.is_ascii_digit()).unwrap_or(text.len());
        let mut release = Self::default();
        for number in text[..end].split('.').filter_map(|it| it.parse().ok()).take(4) {
            release.numbers[usize::from(release.len)] = number;
            release.len += 1;
        }
        release
    }
}

impl std::fmt::Display for Release {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let known = &self.numbers[..usize::from(self.len)];
        let numbers: Vec<String> = known.iter().map(ToString::to_string).collect();
        f.write_str(&numbers.join("."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_is_that_of_the_product() {
        let check = |flavour, version, citus, expected: &str| {
            assert_eq!(Release::detect(flavour, version, citus).to_string(), expected, "{version}");
        };
        let plain = "PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu";
        check(Flavour::Postgres, plain, "", "15.18");
        check(Flavour::Citus, plain, "13.2-1", "13.2");
        check(Flavour::Citus, plain, "", "");
        check(Flavour::Cockroach, "CockroachDB CCL v24.1.0 (x86_64-pc-linux-gnu)", "", "24.1.0");
        check(Flavour::Yugabyte, "PostgreSQL 15.12-YB-2025.1.0.0-b0 on x86_64", "", "2025.1.0.0");
        check(Flavour::Postgres, "PostgreSQL 18beta1", "", "18");
        check(Flavour::Postgres, "PostgreSQL 1.2.3.4.99999.6", "", "1.2.3.4");
    }

    #[test]
    fn the_version_tells_the_flavour() {
        let check =
            |version, citus, expected| assert_eq!(Flavour::detect(version, citus), expected, "{version}");
        check("PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu", false, Flavour::Postgres);
        check("PostgreSQL 16.3 on x86_64-pc-linux-gnu", true, Flavour::Citus);
        check("CockroachDB CCL v24.1.0 (x86_64-pc-linux-gnu, built 2024/05/15)", false, Flavour::Cockroach);
        check("PostgreSQL 15.12-YB-2025.1.0.0-b0 on x86_64-pc-linux-gnu", false, Flavour::Yugabyte);
    }

    #[test]
    fn every_flavour_says_what_holds_on_it() {
        for flavour in Flavour::ALL.into_iter().filter(|it| *it != Flavour::Postgres) {
            let said = flavour.differences().join("\n");
            for of in ["moment", "unique constraint", "foreign key", "sequences"] {
                assert!(said.contains(of), "{of}: {said}");
            }
        }
    }

    #[test]
    fn every_flavour_is_found_by_its_name() {
        assert_eq!(Flavour::ALL.map(|it| Flavour::from_name(it.name())), Flavour::ALL.map(Some));
        assert_eq!(Flavour::from_name("oracle"), None);
    }
}
