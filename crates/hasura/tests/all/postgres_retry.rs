//! Transactions that lose races: what is repeated, how often, where from, and what is never sent twice.

use crate::hasura_kit::{Served, serve_with};
use crate::postgres_kit::hand::{Hand, soon};
use crate::postgres_kit::{Database, database};
use crate::relay_kit::{Relay, hang_up_at};
use weir_postgres::{Host, Settings};
use weir_relational::dialect::flavour::Flavour;

/// A table whose first inserts fail with `state`, so many of them, and sequences that remember attempts and transactions: they are
/// not rolled back.
fn racing(state: &str, failures: u32) -> Database {
    database(&format!(
        "CREATE TABLE item (id int PRIMARY KEY, n int);
         CREATE SEQUENCE tries; CREATE SEQUENCE first_transaction; CREATE SEQUENCE last_transaction;
         CREATE FUNCTION race() RETURNS trigger LANGUAGE plpgsql AS $$
         DECLARE try bigint := nextval('tries');
         BEGIN
             IF try = 1 THEN PERFORM setval('first_transaction', txid_current()); END IF;
             PERFORM setval('last_transaction', txid_current());
             IF try <= {failures} THEN RAISE EXCEPTION 'restart transaction' USING ERRCODE = '{state}'; END IF;
             RETURN NEW;
         END $$;
         CREATE TRIGGER race BEFORE INSERT ON item FOR EACH ROW EXECUTE FUNCTION race()"
    ))
}

const TWO: &str = "mutation { a: insert_item_one(object: {id: 1, n: 1}) { id } b: insert_item_one(object: {id: 2, n: 2}) { id } }";
const ONE: &str = "mutation { insert_item_one(object: {id: 1, n: 1}) { id } }";

/// Attempts, rows, and whether the first and the last attempt were of one transaction.
fn counts(database: &Database) -> String {
    let sql = "SELECT (SELECT last_value FROM tries), (SELECT count(*) FROM item), \
               (SELECT last_value FROM first_transaction) = (SELECT last_value FROM last_transaction)";
    database.run(sql).trim().to_owned()
}

async fn serving(database: Database, flavour: Flavour) -> Served {
    serve_with(database, &["public"], |it| it.flavour = Some(flavour)).await
}

/// The code of the answer, or `done`.
async fn code(served: &Served, mutation: &str) -> String {
    let answer = served.ask(mutation).await;
    let json: serde_json::Value = serde_json::from_str(&answer).unwrap();
    json["errors"][0]["extensions"]["code"].as_str().unwrap_or("done").to_owned()
}

#[tokio::test]
async fn a_transaction_that_loses_races_is_done_once_in_the_end() {
    for (flavour, mutation, expected) in [
        // Attempts fail at the first insert; the last one has as many as the mutation.
        (Flavour::Postgres, TWO, "5|2|f"),
        (Flavour::Yugabyte, TWO, "5|2|f"),
        (Flavour::Cockroach, TWO, "5|2|t"),
        (Flavour::Cockroach, ONE, "4|1|f"),
    ] {
        let served = serving(racing("40001", 3), flavour).await;
        assert_eq!(code(&served, mutation).await, "done");
        assert_eq!(counts(&served.database), expected, "{flavour:?} {mutation}");
    }
}

#[tokio::test]
async fn races_that_are_always_lost_are_given_up() {
    for (flavour, expected) in [(Flavour::Postgres, "4|0|f"), (Flavour::Cockroach, "10|0|t")] {
        let served = serving(racing("40001", 1000), flavour).await;
        assert_eq!(code(&served, TWO).await, "CONCURRENT_UPDATE");
        assert_eq!(counts(&served.database), expected, "{flavour:?}");
    }
}

#[tokio::test]
async fn a_commit_in_doubt_is_told_and_never_sent_again() {
    for flavour in [Flavour::Postgres, Flavour::Cockroach] {
        for (mutation, shares) in [(TWO, false), (ONE, false), (ONE, true)] {
            let tune = |it: &mut Settings| (it.flavour, it.batch_mutations) = (Some(flavour), shares);
            let served = serve_with(racing("40003", 1), &["public"], tune).await;
            assert_eq!(code(&served, mutation).await, "WRITE_UNCONFIRMED", "{flavour:?} {mutation} {shares}");
            assert_eq!(counts(&served.database), "1|0|t");
        }
    }
}

/// Serves `database` as CockroachDB through a relay on `port`.
async fn through(database: Database, port: u16) -> Served {
    let url = database.url();
    let mut settings = Settings::parse(&url, |_| None).unwrap();
    settings.hosts = vec![Host::Tcp { name: "127.0.0.1".into(), port }];
    settings.flavour = Some(Flavour::Cockroach);
    serve_with(database, &["public"], |it| *it = settings).await
}

/// The port of a database's server.
fn port(database: &Database) -> u16 {
    let url = Settings::parse(&database.url(), |_| None).unwrap();
    let Some(Host::Tcp { port, .. }) = url.hosts.first() else { panic!("it listens on loopback") };
    *port
}

#[tokio::test]
async fn the_savepoint_is_set_before_all_and_released_before_the_commit() {
    let database = racing("40001", 1);
    let relay = Relay::start(port(&database)).await;
    let served = through(database, relay.port).await;
    let before = relay.sent().len();
    assert_eq!(code(&served, TWO).await, "done");
    assert_eq!(counts(&served.database), "3|2|t");
    let sent = relay.sent().split_off(before);
    let at = |words: &str| sent.find(words).unwrap_or_else(|| panic!("{words} was not sent"));
    let steps = [
        "BEGIN ISOLATION",
        "SAVEPOINT cockroach_restart",
        "INSERT INTO",
        // The columns of statements that are new to a connection are looked at before their commit.
        "ROLLBACK TO SAVEPOINT cockroach_restart",
        "RELEASE SAVEPOINT cockroach_restart",
        "COMMIT\u{0}",
    ];
    assert!(steps.map(at).is_sorted(), "{:?}", steps.map(at));
}

#[tokio::test]
async fn a_connection_that_breaks_at_the_release_leaves_a_doubt_and_one_write() {
    let database = racing("40001", 0);
    let port = hang_up_at(b"RELEASE SAVEPOINT", port(&database)).await;
    let served = through(database, port).await;
    assert_eq!(code(&served, TWO).await, "WRITE_UNCONFIRMED");
    // The server got all of it before the connection broke.
    let mut hand = served.hand().await;
    hand.until("SELECT count(*)::text FROM item", "2").await;
    assert_eq!(counts(&served.database), "2|2|t");
}

#[tokio::test]
async fn a_mutation_that_cannot_be_serialized_is_done_once_after_the_other() {
    for flavour in [Flavour::Postgres, Flavour::Yugabyte, Flavour::Cockroach] {
        let database =
            database("CREATE TABLE item (id int PRIMARY KEY, n int); INSERT INTO item VALUES (1, 0)");
        let served = serve_with(database, &["public"], |it| {
            it.options = Some("-c default_transaction_isolation=serializable".into());
            it.flavour = Some(flavour);
        })
        .await;
        let mut other = Hand::new(&served.database).await;
        let mut beside = Hand::new(&served.database).await;
        other.run("BEGIN").await;
        other.run("UPDATE item SET n = n + 10").await;
        let increase = "mutation { update_item_by_pk(pk_columns: {id: 1}, _inc: {n: 1}) { n } }";
        let (answer, ()) = tokio::join!(served.ask(increase), async {
            beside.until_blocked(1).await;
            other.run("COMMIT").await;
        });
        assert_eq!(answer, r#"{"data":{"update_item_by_pk":{"n":11}}}"#, "{flavour:?}");
        let failed = "SELECT xact_rollback > 0 FROM pg_stat_database WHERE datname = current_database()";
        let mut hand = served.hand().await;
        hand.until(&format!("SELECT ({failed})::text"), "true").await;
    }
}

#[tokio::test]
async fn followers_are_asked_as_the_flavour_wants_it() {
    for (flavour, expected) in [
        (Flavour::Cockroach, ["default_transaction_read_only", "default_transaction_use_follower_reads"]),
        (Flavour::Yugabyte, ["yb_read_from_followers", "yb_follower_read_staleness_ms\u{0}10000"]),
    ] {
        let database = database("CREATE TABLE item (id int PRIMARY KEY); INSERT INTO item VALUES (7)");
        let relay = Relay::start(port(&database)).await;
        let url = database.url();
        let served = serve_with(database, &["public"], |it| {
            *it = Settings::parse(&url, |_| None).unwrap();
            it.hosts = vec![Host::Tcp { name: "127.0.0.1".into(), port: relay.port }];
            it.flavour = Some(flavour);
        })
        .await;
        let was_sent = || expected.iter().all(|it| relay.sent().contains(it));
        let seven = r#"{"data":{"item":[{"id":7}]}}"#;
        for query in ["{ item { id } }", "{ item(limit: 3) { id } }"] {
            assert_eq!(served.ask(query).await, seven);
            assert!(!was_sent(), "{flavour:?}");
        }
        // PostgreSQL refuses the settings: it answers without them.
        for query in ["{ item { id } }", "{ item(limit: 3) { id } }"] {
            assert_eq!(served.ask_eventually(query, soon()).await, seven);
            assert!(was_sent(), "{flavour:?}");
        }
    }
}
