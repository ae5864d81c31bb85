//! Obstacles: missing settings and rights that prevent a server from reporting changes, each with a remedy.

use super::streamed_tables::TextRows;
use crate::address::Settings;
use crate::error::Error;
use crate::protocol::facts::Facts;
use weir_relational::dialect::flavour::Flavour;
use weir_relational::quoting::quote_identifier;

/// Query for the settings and rights that [`obstacle`] checks.
pub(super) const CAPABILITIES: &str = "SELECT current_setting('wal_level'), \
    (EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.rolname = current_user AND (r.rolsuper OR r.rolreplication)) \
     OR EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.rolname = 'rds_replication' AND pg_has_role(r.oid, 'MEMBER')))::text, \
    has_database_privilege(current_database(), 'CREATE')::text, current_setting('synchronous_standby_names')";

/// The oldest version whose `pgoutput` and catalogs are known.
const VERSION_MIN: u32 = 13_00_00;

/// The obstacle of a server with these `facts`, with a remedy, from its answer to [`CAPABILITIES`].
pub(super) fn obstacle(settings: &Settings, facts: Facts, capabilities: &TextRows) -> Option<String> {
    let text = |at: usize| capabilities.first().and_then(|it| it.get(at)?.as_deref()).unwrap_or("");
    let user = quote_identifier(&settings.user);
    let database = quote_identifier(&settings.database);
    if let Some(obstacle) = of_server(facts) {
        return Some(obstacle);
    }
    if text(0) != "logical" {
        return Some(format!(
            "`wal_level` is `{}`: set `wal_level = logical` and restart the server",
            text(0)
        ));
    }
    if text(1) != "true" {
        return Some(format!("the login may not replicate: `ALTER ROLE {user} REPLICATION`"));
    }
    if text(2) != "true" {
        return Some(format!(
            "the login may not make a publication: `GRANT CREATE ON DATABASE {database} TO {user}`"
        ));
    }
    // A stream of ours that counts as a standby would have commits wait for it.
    let standbys = text(3).to_lowercase();
    let ours = settings.application_name.to_lowercase();
    if standbys.contains('*') || !ours.is_empty() && standbys.contains(&ours) {
        return Some(format!(
            "`synchronous_standby_names` would make commits wait for it: name the standbys in it, and none `{}`",
            settings.application_name
        ));
    }
    None
}

/// The obstacle if a connection for replication was refused by `error`. `pooler` is the name of a pooler, if it reported one.
pub(super) fn of_refusal(error: &Error, facts: Facts, pooler: Option<&str>) -> String {
    let words = error.to_string();
    // PgBouncer passes on the startup parameters that it knows alone.
    let named = pooler.or_else(|| words.contains("unsupported startup parameter").then_some("PgBouncer"));
    match (named, facts.is_pooled) {
        (Some(name), _) => format!(
            "{name} stands before the server and refuses connections for replication ({words}): name the server itself"
        ),
        (None, true) => format!(
            "a pooler stands before the server, and connections for replication are refused ({words}): name the server itself"
        ),
        (None, false) => format!(
            "connections for replication are refused ({words}): let them in by `pg_hba.conf` and `max_wal_senders`"
        ),
    }
}

/// The reason that lies in the product, for which there is no remedy.
pub(super) fn of_product(facts: Facts) -> Option<String> {
    if facts.flavour != Flavour::Postgres {
        return Some(format!("{} has no changes to tell", facts.flavour.product()));
    }
    facts.is_single.then(|| "PGlite has no changes to tell".into())
}

/// The reason that lies in the kind of server.
pub(super) fn of_server(facts: Facts) -> Option<String> {
    if let Some(reason) = of_product(facts) {
        return Some(reason);
    }
    if facts.version < VERSION_MIN {
        return Some("the server is older than PostgreSQL 13: upgrade it".into());
    }
    facts.in_recovery.then(|| "the server is a standby: name the primary".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: Facts = Facts { version: 15_00_20, ..Facts::PLAIN };

    fn check(tune: impl FnOnce(&mut Facts), answer: [&str; 4], expected: &str) {
        let settings = Settings::parse("postgres://ada@h/shop", |_| None).unwrap();
        let mut facts = FACTS;
        tune(&mut facts);
        let row = answer.iter().map(|it| Some((*it).to_owned())).collect();
        let found = obstacle(&settings, facts, &vec![row]).unwrap_or_default();
        assert!(found.contains(expected) && found.is_empty() == expected.is_empty(), "{found}");
    }

    #[test]
    fn a_stream_without_a_name_is_no_standby() {
        let mut settings = Settings::parse("postgres://ada@h/shop", |_| None).unwrap();
        settings.application_name.clear();
        let answer = |standbys: &str| {
            vec![["logical", "true", "true", standbys].map(|it| Some(it.to_owned())).to_vec()]
        };
        assert_eq!(obstacle(&settings, FACTS, &answer("one")), None);
        assert!(obstacle(&settings, FACTS, &answer("*")).is_some());
    }

    #[test]
    fn each_obstacle_has_a_remedy() {
        let fine = ["logical", "true", "true", "one"];
        check(|_| {}, fine, "");
        check(|_| {}, ["replica", "true", "true", ""], "set `wal_level = logical`");
        check(|_| {}, ["logical", "false", "true", ""], "`ALTER ROLE \"ada\" REPLICATION`");
        check(|_| {}, ["logical", "true", "false", ""], "`GRANT CREATE ON DATABASE \"shop\" TO \"ada\"`");
        check(|_| {}, ["logical", "true", "true", "ANY 1 (*)"], "synchronous_standby_names");
        check(|_| {}, ["logical", "true", "true", "a, \"Weir\""], "synchronous_standby_names");
        check(|it| it.flavour = Flavour::Cockroach, fine, "CockroachDB");
        check(|it| it.version = 12_00_09, fine, "PostgreSQL 13");
        check(|it| it.in_recovery = true, fine, "standby");
    }
}
