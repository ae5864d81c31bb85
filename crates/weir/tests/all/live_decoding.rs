//! A server whose PostgreSQL tells its changes: subscribers hear of other programs, and nothing is left when it ends.

use crate::live::{read_until, stream};
use crate::postgres_kit::release::on_each_release;
use crate::postgres_kit::{Cluster, Database, database};
use crate::support::{Folder, Weir, body, command, message, until};

const TABLES: &str =
    "CREATE TABLE pet (id int PRIMARY KEY, name text NOT NULL); INSERT INTO pet VALUES (1, 'Ada');
    CREATE TABLE keyless (n int)";
const LEFT: &str =
    "SELECT (SELECT count(*) FROM pg_replication_slots), (SELECT count(*) FROM pg_publication)";

/// A server of the database that never polls.
fn patient(database: &Database) -> Weir {
    let folder = Folder::new();
    let yaml = format!(
        "listen: 127.0.0.1:0\nlive: {{poll_ms: 3600000}}\nsources: [{{name: main, url: {}}}]\n",
        database.url()
    );
    let file = folder.write("weir.yaml", &yaml);
    Weir::by_file(&file, folder)
}

fn check_config(weir: &Weir) -> String {
    let checked = command().arg("check").arg(weir.folder().file("weir.yaml")).output().expect("it runs");
    String::from_utf8_lossy(&checked.stdout).into_owned()
}

fn a_change_by_others_is_told_and_the_server_leaves_nothing_behind() {
    let cluster: &'static Cluster = Box::leak(Box::new(Cluster::start(&["wal_level = logical"])));
    let database = cluster.create("template0");
    database.run(TABLES);
    let mut weir = patient(&database);
    let query = body("subscription { pet_by_pk(id: 1) { name } }");
    let headers = [("content-type", "application/json"), ("accept", "text/event-stream")];
    let (_, mut reader) = stream(&weir, &message("POST", "/graphql", &headers, Some(query.as_bytes())));
    read_until(&mut reader, "Ada");
    until("the database tells", || {
        weir.get("/metrics", &[]).text().contains("weir_live_feed_up{source=\"main\"} 1")
    });
    database.run("UPDATE pet SET name = 'Eve'");
    read_until(&mut reader, "Eve");
    until("it is counted", || {
        weir.get("/metrics", &[]).text().contains("weir_live_feed_transactions_total{source=\"main\"} 1")
    });
    assert_eq!(database.run(LEFT).trim(), "1|1");
    let words = check_config(&weir);
    let line = "live: source `main`: own changes at once; others: logical decoding tells each commit; read at intervals: \
                `public.keyless`: it has neither a primary key nor a replica identity\n";
    assert!(words.contains(line), "{words}");
    weir.signal("-TERM");
    weir.child.wait().expect("it ends");
    until("the slot is gone", || database.run(LEFT).trim() == "0|0");
}

fn a_server_that_keeps_less_in_its_log_is_polled_and_the_check_says_why() {
    let database = database(TABLES);
    let weir = patient(&database);
    let words = check_config(&weir);
    let line = "live: source `main`: own changes at once; changes of others: read every 3600000 ms; `wal_level` is `replica`: \
                set `wal_level = logical` and restart the server, and they are told at once\n";
    assert!(words.contains(line), "{words}");
    let query = body("subscription { pet_by_pk(id: 1) { name } }");
    let headers = [("content-type", "application/json"), ("accept", "text/event-stream")];
    let (_, mut reader) = stream(&weir, &message("POST", "/graphql", &headers, Some(query.as_bytes())));
    read_until(&mut reader, "Ada");
    until("the log says it", || weir.log().contains("set `wal_level = logical` and restart the server"));
    assert_eq!(weir.log().matches("changes are not told by the database").count(), 1);
}

on_each_release! {
    a_change_by_others_is_told_and_the_server_leaves_nothing_behind,
    a_server_that_keeps_less_in_its_log_is_polled_and_the_check_says_why,
}
