//! Live queries over a PostgreSQL that tells its changes: who is woken, who is not, and what is left in the server afterwards.
//!
//! The interval of polling is an hour where a result has to come by the stream.

use crate::cluster_kit;
use crate::hasura_kit::{Served, engine_settings, open, serve, serve_as, serve_with};
use crate::live::{self, BY_KEY, PATIENCE, TABLES, change, name, rename, subscribe};
use crate::postgres_kit::release::on_each_release;
use crate::postgres_kit::{Cluster, Database};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::compose::Graph;
use weir_engine::engine::Engine;
use weir_engine::live::{Cause as TaggedCause, LiveQueries, LiveSettings, Subscription};
use weir_engine::source::{OthersChanges, Source};
use weir_hasura::model::ModelOptions;
use weir_hasura::open::{PostgresOptions, open_postgres};
use weir_metadata::document::function::FunctionEntry;

pub(crate) const COUNT: &str = "subscription { boat_aggregate { aggregate { count } } }";
pub(crate) const NEVER: LiveSettings =
    LiveSettings { poll: Duration::from_secs(3600), ..LiveSettings::STANDARD };
const LOGICAL: [&str; 3] = ["wal_level = logical", "autovacuum = off", "max_replication_slots = 30"];

/// A cause without what was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Change,
    Poll,
    Other,
}

/// The data of the next result, and its cause.
pub(crate) async fn next(subscription: &mut Subscription) -> (String, Cause) {
    let (data, cause) = live::next(subscription).await;
    let cause = match cause {
        TaggedCause::Change(_) => Cause::Change,
        TaggedCause::Poll => Cause::Poll,
        TaggedCause::First | TaggedCause::Expiry | TaggedCause::Batch | TaggedCause::Event => Cause::Other,
    };
    (data, cause)
}

/// A database of a cluster of its own: a slot waits for the transactions of all databases of a server.
pub(crate) fn database(more: &[&str], sql: &str) -> Database {
    let cluster: &'static Cluster = Box::leak(Box::new(Cluster::start(&[&LOGICAL[..], more].concat())));
    let database = cluster.create("template0");
    database.run(sql);
    database
}

pub(crate) fn count(boats: u32) -> String {
    format!(r#"{{"data":{{"boat_aggregate":{{"aggregate":{{"count":{boats}}}}}}}}}"#)
}

/// Waits until a query of the operator gives `expected`.
pub(crate) fn until(database: &Database, sql: &str, expected: &str) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let found = database.run(sql);
        if found.trim() == expected {
            return;
        }
        assert!(Instant::now() < deadline, "{sql}: {found}");
        std::thread::yield_now();
    }
}

/// Waits until the stream tells, which is one more read of each operation that was read before.
pub(crate) async fn settled(live: &LiveQueries) {
    let operations = live.state().operations as u64;
    let deadline = Instant::now() + PATIENCE;
    while live.state().reads < 2 * operations {
        assert!(Instant::now() < deadline, "nothing is told: {:?}", live.state());
        tokio::task::yield_now().await;
    }
}

pub(crate) async fn settled_on(sql: &str, query: &str) -> (Served, LiveQueries, Subscription) {
    let served = serve(database(&[], sql)).await;
    let live = LiveQueries::of(&served.engine, NEVER);
    let mut subscription = subscribe((&served.engine, &live), query, "").await;
    next(&mut subscription).await;
    settled(&live).await;
    (served, live, subscription)
}

async fn what_others_write_comes_without_polling() {
    let (served, _live, mut boats) = settled_on(TABLES, COUNT).await;
    let write = |sql| served.database.run(sql);
    write("INSERT INTO boat VALUES (4, 1, 'Dot')");
    assert_eq!(next(&mut boats).await, (count(4), Cause::Change));
    write("DELETE FROM boat WHERE id = 4");
    assert_eq!(next(&mut boats).await, (count(3), Cause::Change));
    write("DELETE FROM harbour WHERE id = 1");
    assert_eq!(next(&mut boats).await, (count(1), Cause::Change));
    write("TRUNCATE boat");
    assert_eq!(next(&mut boats).await, (count(0), Cause::Change));
    write("INSERT INTO boat SELECT n, 2, 'x' FROM generate_series(1, 20000) n");
    assert_eq!(next(&mut boats).await, (count(20_000), Cause::Change));
    // The schema may change under the stream.
    write("ALTER TABLE boat ADD COLUMN length int, DROP COLUMN name; INSERT INTO boat VALUES (0, 2, 7)");
    assert_eq!(next(&mut boats).await, (count(20_001), Cause::Change));
    // A table that is made anew is another one.
    write("BEGIN; DROP TABLE boat; CREATE TABLE boat (id int PRIMARY KEY); COMMIT");
    await_result(&mut boats, &count(0)).await;
    write("INSERT INTO boat VALUES (1)");
    await_result(&mut boats, &count(1)).await;
}

async fn a_change_by_others_wakes_its_key_alone() {
    let keys =
        "CREATE TABLE thing (name text, number bigint, id uuid, value int, PRIMARY KEY (name, number, id));
        INSERT INTO thing VALUES ('a', 1, '00000000-0000-4000-8000-00000000000a', 1);";
    let served = serve(database(&[], &format!("{TABLES}; {keys}"))).await;
    let engine = &served.engine;
    let live = &LiveQueries::of(&served.engine, NEVER);
    let by_id = |id| (BY_KEY, format!(r#"{{"id": {id}}}"#));
    let mut boats = Vec::new();
    for (query, variables) in [by_id(1), by_id(2), by_id(9)] {
        boats.push(subscribe((engine, live), query, &variables).await);
    }
    let thing = "subscription { thing_by_pk(name: \"a\", number: 1, id: \"00000000-0000-4000-8000-00000000000a\") { value } }";
    let mut thing = subscribe((engine, live), thing, "").await;
    for it in boats.iter_mut().chain([&mut thing]) {
        next(it).await;
    }
    settled(live).await;
    let reads = live.state().reads;
    let write = |sql| served.database.run(sql);
    write("UPDATE boat SET name = 'Bea' WHERE id = 2");
    assert_eq!(next(&mut boats[1]).await, (name("Bea"), Cause::Change));
    write("INSERT INTO boat VALUES (9, 1, 'Zoe')");
    assert_eq!(next(&mut boats[2]).await, (name("Zoe"), Cause::Change));
    // A key that is changed concerns the old and the new one.
    write("UPDATE boat SET id = 10 WHERE id = 9");
    assert_eq!(next(&mut boats[2]).await.0, r#"{"data":{"boat_by_pk":null}}"#);
    write("UPDATE boat SET id = 9 WHERE id = 10");
    assert_eq!(next(&mut boats[2]).await.0, name("Zoe"));
    write("UPDATE thing SET value = 2");
    assert_eq!(next(&mut thing).await.0, r#"{"data":{"thing_by_pk":{"value":2}}}"#);
    assert_eq!(live.state().reads, reads + 5, "each change was one read");
}

async fn what_is_not_committed_and_what_is_undone_tells_nothing() {
    let (served, live, mut boats) = settled_on(TABLES, COUNT).await;
    let mut hand = served.hand().await;
    let reads = live.state().reads;
    hand.run("BEGIN").await;
    hand.run("INSERT INTO boat VALUES (4, 1, 'Dot')").await;
    served.database.run("BEGIN; INSERT INTO boat VALUES (5, 1, 'Eve'); ROLLBACK");
    served.database.run("BEGIN; SAVEPOINT s; INSERT INTO boat VALUES (6, 1, 'Fay'); ROLLBACK TO s; COMMIT");
    // Changes come in the order of their commits: what was told before this one would have been read.
    served.database.run("DELETE FROM boat WHERE id = 1");
    assert_eq!(next(&mut boats).await, (count(2), Cause::Change));
    assert_eq!(live.state().reads, reads + 1);
    hand.run("COMMIT").await;
    assert_eq!(next(&mut boats).await, (count(3), Cause::Change));
}

async fn an_idle_subscription_asks_the_database_nothing_and_our_own_change_is_pushed_once() {
    let served = serve(database(&[], TABLES)).await;
    let settings = LiveSettings { poll: Duration::from_millis(20), ..LiveSettings::STANDARD };
    let live = LiveQueries::of(&served.engine, settings);
    let mut boat = subscribe((&served.engine, &live), BY_KEY, r#"{"id": 3}"#).await;
    next(&mut boat).await;
    until(&served.database, "SELECT count(*) FROM pg_replication_slots WHERE active", "1");
    settled(&live).await;
    let last = "SELECT max(query_start) FROM pg_stat_activity WHERE application_name = 'weir'";
    // The reads that the beginning of the stream causes may still be under way.
    let mut before = (live.state().reads, served.database.run(last));
    let deadline = Instant::now() + PATIENCE;
    loop {
        (0..20).for_each(|_| drop(served.database.run("SELECT 1")));
        let now = (live.state().reads, served.database.run(last));
        if now == before {
            break;
        }
        assert!(Instant::now() < deadline, "statements go on: {now:?}");
        before = now;
    }
    let results = live.state().results;
    change(&served.engine, &rename(3, "Dot")).await;
    assert_eq!(next(&mut boat).await, (name("Dot"), Cause::Change));
    // The stream tells it again, before this one.
    served.database.run("UPDATE boat SET name = 'Eve' WHERE id = 3");
    assert_eq!(next(&mut boat).await, (name("Eve"), Cause::Change));
    assert_eq!(live.state().results, results + 2);
}

async fn a_commit_that_reads_do_not_see_yet_is_told_when_they_do() {
    let (served, live, mut boats) = settled_on(TABLES, COUNT).await;
    let reads = live.state().reads;
    let database = &served.database;
    database.run("ALTER SYSTEM SET synchronous_standby_names = 'slow'");
    database.run("SELECT pg_reload_conf()");
    until(database, "SHOW synchronous_standby_names", "slow");
    std::thread::scope(|scope| {
        // It waits for a standby that is not there: the log has it, and nobody sees it.
        scope.spawn(|| database.run("INSERT INTO boat VALUES (4, 1, 'Dot')"));
        until(database, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'", "1");
        until(database, "SELECT bool_and(sent_lsn >= pg_current_wal_lsn()) FROM pg_stat_replication", "t");
        assert_eq!(live.state().reads, reads, "nobody would see it");
        database.run("ALTER SYSTEM RESET synchronous_standby_names");
        database.run("SELECT pg_reload_conf()");
    });
    assert_eq!(next(&mut boats).await, (count(4), Cause::Change));
}

async fn nothing_is_left_in_the_server_when_nobody_subscribes() {
    let (served, live, boats) = settled_on(
        &format!("{TABLES}; CREATE PUBLICATION weir_live_0123456789abcdef FOR TABLE boat; CREATE PUBLICATION theirs FOR TABLE boat"),
        COUNT,
    )
    .await;
    let left = "SELECT (SELECT count(*) FROM pg_replication_slots), (SELECT count(*) FROM pg_publication)";
    // That of a process that is gone was dropped; that of somebody else was not.
    until(&served.database, left, "1|2");
    drop((boats, live));
    until(&served.database, left, "0|1");
}

async fn a_login_that_may_not_replicate_polls_and_says_what_it_lacks() {
    let rights = "CREATE ROLE plain LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO plain";
    let database = database(&[], &format!("{TABLES}; {rights}"));
    let served = serve_with(database, &["public"], |it| it.user = "plain".into()).await;
    let live = LiveQueries::of(&served.engine, LiveSettings::STANDARD);
    let mut boats = subscribe((&served.engine, &live), COUNT, "").await;
    next(&mut boats).await;
    served.database.run("DELETE FROM boat WHERE id = 1");
    assert_eq!(next(&mut boats).await, (count(2), Cause::Poll));
    let OthersChanges::Polled(more) = served.source.others_changes() else { panic!("nothing is told") };
    assert!(more.contains("`ALTER ROLE \"plain\" REPLICATION`"), "{more}");
}

async fn what_cannot_be_told_is_polled_and_still_written() {
    let more = "CREATE TABLE keyless (n int); CREATE UNLOGGED TABLE fleeting (id int PRIMARY KEY);
        CREATE VIEW boats AS SELECT * FROM boat;
        CREATE TABLE log (id int, day int, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
        CREATE TABLE log_1 PARTITION OF log FOR VALUES FROM (1) TO (2)";
    let served = serve(database(&[], &format!("{TABLES}; {more}"))).await;
    let OthersChanges::Reported(how) = served.source.others_changes() else { panic!("it tells") };
    for words in
        ["`public.keyless`: it has neither a primary key", "`public.fleeting`: its changes are not logged"]
    {
        assert!(how.contains(words), "{how}");
    }
    let live = &LiveQueries::of(&served.engine, LiveSettings::STANDARD);
    let write = |sql: &str| served.database.run(sql);
    let counted = |table: &str| format!("subscription {{ {table}_aggregate {{ aggregate {{ count }} }} }}");
    let mut cases = Vec::new();
    for (table, insert, cause) in [
        ("keyless", "INSERT INTO keyless VALUES (1); UPDATE keyless SET n = 2", Cause::Poll),
        ("fleeting", "INSERT INTO fleeting VALUES (1)", Cause::Poll),
        ("boats", "INSERT INTO boat VALUES (8, 2, 'x')", Cause::Poll),
        ("log", "INSERT INTO log VALUES (1, 1)", Cause::Change),
    ] {
        let mut subscription = subscribe((&served.engine, live), &counted(table), "").await;
        next(&mut subscription).await;
        cases.push((subscription, insert, cause));
    }
    let until_told = "SELECT count(*) FROM pg_replication_slots WHERE active";
    until(&served.database, until_told, "1");
    settled(live).await;
    for (subscription, insert, cause) in &mut cases {
        write(insert);
        let found = next(subscription).await.1;
        // A view is told of by any table that it may show, and polled for those that nobody knows.
        assert!(found == *cause || insert.contains("boat"), "{insert}: {found:?}");
    }
    // A partition that comes later.
    let log = &mut cases[3].0;
    write("CREATE TABLE log_2 PARTITION OF log FOR VALUES FROM (2) TO (3); INSERT INTO log VALUES (1, 2)");
    assert_eq!(next(log).await.1, Cause::Change);
    write("TRUNCATE log_1");
    assert_eq!(next(log).await.1, Cause::Change);
}

async fn a_slot_that_the_server_takes_away_is_replaced_and_polling_stands_in() {
    let served = serve(database(&["max_slot_wal_keep_size = 1MB", "min_wal_size = 32MB"], TABLES)).await;
    let live = LiveQueries::of(&served.engine, LiveSettings::STANDARD);
    let mut boats = subscribe((&served.engine, &live), COUNT, "").await;
    next(&mut boats).await;
    settled(&live).await;
    let slots = "SELECT count(*) FROM pg_replication_slots WHERE active";
    until(&served.database, slots, "1");
    // A transaction that runs on keeps the log from its beginning in the slot, more than the server allows.
    let mut hand = served.hand().await;
    hand.run("BEGIN").await;
    hand.run("INSERT INTO harbour VALUES (3, 'Sound')").await;
    for _ in 0..4 {
        served.database.run("CREATE TABLE filler AS SELECT 1; DROP TABLE filler; SELECT pg_switch_wal()");
    }
    served.database.run("CHECKPOINT");
    until(&served.database, slots, "0");
    assert_eq!(await_cause(&mut boats, &served, Cause::Poll).await, Cause::Poll);
    hand.run("COMMIT").await;
    until(&served.database, slots, "1");
    assert_eq!(await_cause(&mut boats, &served, Cause::Change).await, Cause::Change);
}

/// Changes rows beside until a result has that cause: the stream and polling may take turns.
async fn await_cause(boats: &mut Subscription, served: &Served, wanted: Cause) -> Cause {
    let deadline = Instant::now() + PATIENCE;
    loop {
        served.database.run("INSERT INTO boat SELECT max(id) + 1, 2, 'x' FROM boat");
        let (_, cause) = next(boats).await;
        if cause == wanted {
            return cause;
        }
        assert!(Instant::now() < deadline, "{wanted:?}");
    }
}

async fn a_slot_that_holds_back_too_much_log_is_given_up() {
    let database = database(&[], TABLES);
    let served = serve_with(database, &["public"], |it| it.decoding.log_bytes_max = 4 << 20).await;
    let live = LiveQueries::of(&served.engine, LiveSettings::STANDARD);
    let mut boats = subscribe((&served.engine, &live), COUNT, "").await;
    next(&mut boats).await;
    settled(&live).await;
    let slots = "SELECT count(*) FROM pg_replication_slots WHERE active";
    until(&served.database, slots, "1");
    let mut hand = served.hand().await;
    hand.run("BEGIN").await;
    hand.run("INSERT INTO harbour VALUES (3, 'Sound')").await;
    served
        .database
        .run("CREATE TABLE filler AS SELECT n, repeat('x', 100) FROM generate_series(1, 100000) n");
    until(&served.database, slots, "0");
    assert_eq!(await_cause(&mut boats, &served, Cause::Poll).await, Cause::Poll);
    hand.run("ROLLBACK").await;
    until(&served.database, slots, "1");
}

async fn a_server_that_comes_back_tells_again_and_what_was_missed_is_read() {
    let mut cluster = cluster_kit::Cluster::new();
    let configuration = cluster.folder.join("data/postgresql.conf");
    let mut file = std::fs::OpenOptions::new().append(true).open(configuration).unwrap();
    std::io::Write::write_all(&mut file, b"wal_level = logical\n").unwrap();
    cluster.start();
    let settings = cluster.settings("postgres", "");
    let options =
        PostgresOptions { model: ModelOptions::default(), schemas: &["public".to_owned()], stringify: false };
    let opened = open_postgres("main", settings, options, PATIENCE).await.unwrap().0;
    let graph = Graph::compose(vec![Arc::new(opened) as Arc<dyn Source>], &[]).unwrap();
    let engine = Engine::new(graph, engine_settings(256 << 10));
    let live = LiveQueries::of(&engine, NEVER);
    let thing = |name: &str| format!(r#"{{"data":{{"thing_by_pk":{{"name":"{name}"}}}}}}"#);
    let mut subscription =
        subscribe((&engine, &live), "subscription { thing_by_pk(id: 1) { name } }", "").await;
    assert_eq!(next(&mut subscription).await.0, thing("thing 1"));
    settled(&live).await;
    for round in 0..2 {
        cluster.stop();
        // A server that takes no clients is changed, and then comes back.
        let data = cluster.folder.join("data");
        let sql = format!("UPDATE thing SET name = 'alone {round}' WHERE id = 1\n");
        single_user(&data, &sql);
        cluster.start();
        await_result(&mut subscription, &thing(&format!("alone {round}"))).await;
        cluster.sql(&format!("UPDATE thing SET name = 'told {round}' WHERE id = 1"));
        await_result(&mut subscription, &thing(&format!("told {round}"))).await;
    }
}

/// Runs a statement in a database whose server is down.
fn single_user(data: &Path, sql: &str) {
    let mut server = cluster_kit::command(cluster_kit::bin("postgres"));
    server.arg("--single").arg("-D").arg(data).arg("postgres").stdin(Stdio::piped()).stdout(Stdio::null());
    let mut server = server.stderr(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut server.stdin.take().unwrap(), sql.as_bytes()).unwrap();
    let output = server.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Takes results until one is `expected`: a server that is away makes some with errors.
pub(crate) async fn await_result(subscription: &mut Subscription, expected: &str) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let found = next(subscription).await.0;
        if found == expected {
            return;
        }
        assert!(!found.contains("\"data\":null") || found.contains("SOURCE_UNAVAILABLE"), "{found}");
        assert!(Instant::now() < deadline, "{expected}: {found}");
    }
}

async fn tables_of_two_sources_share_a_stream_and_a_function_is_polled() {
    let more = "CREATE SCHEMA other; CREATE TABLE other.crew (id int PRIMARY KEY);
        CREATE TABLE other.hidden (id int PRIMARY KEY);
        CREATE FUNCTION harbours() RETURNS SETOF harbour LANGUAGE sql STABLE
            AS 'SELECT * FROM harbour WHERE EXISTS (SELECT FROM other.hidden)'";
    let functions: Vec<FunctionEntry> =
        serde_json::from_str(r#"[{"function": {"schema": "public", "name": "harbours"}}]"#).unwrap();
    let model = ModelOptions { functions: &functions, ..ModelOptions::default() };
    let first = serve_as(database(&[], &format!("{TABLES}; {more}")), model).await;
    let live = LiveQueries::of(&first.engine, LiveSettings::STANDARD);
    let mut boats = subscribe((&first.engine, &live), COUNT, "").await;
    next(&mut boats).await;
    settled(&live).await;
    let source = Arc::new(open(&first.database, &["other"], |_| {}).await);
    let graph = Graph::compose(vec![Arc::clone(&source) as Arc<dyn Source>], &[]).unwrap();
    let engine = Engine::new(graph, engine_settings(256 << 10));
    let others = LiveQueries::of(&engine, NEVER);
    let counted = "subscription { other_crew_aggregate { aggregate { count } } }";
    let mut crew = subscribe((&engine, &others), counted, "").await;
    next(&mut crew).await;
    settled(&others).await;
    first.database.run("INSERT INTO other.crew VALUES (1)");
    assert_eq!(next(&mut crew).await.1, Cause::Change);
    first.database.run("INSERT INTO boat VALUES (4, 1, 'Dot')");
    assert_eq!(next(&mut boats).await, (count(4), Cause::Change));
    let streams = "SELECT count(*) FROM pg_replication_slots WHERE active";
    assert_eq!(first.database.run(streams).trim(), "1");
    let mut harbours = subscribe((&first.engine, &live), "subscription { harbours { name } }", "").await;
    assert_eq!(next(&mut harbours).await.0, r#"{"data":{"harbours":[]}}"#);
    first.database.run("INSERT INTO other.hidden VALUES (1)");
    let (body, cause) = next(&mut harbours).await;
    assert!(body.contains("Cove") && cause == Cause::Poll, "{body} {cause:?}");
}

on_each_release! {
    async
    what_others_write_comes_without_polling,
    a_change_by_others_wakes_its_key_alone,
    what_is_not_committed_and_what_is_undone_tells_nothing,
    an_idle_subscription_asks_the_database_nothing_and_our_own_change_is_pushed_once,
    a_commit_that_reads_do_not_see_yet_is_told_when_they_do,
    nothing_is_left_in_the_server_when_nobody_subscribes,
    a_login_that_may_not_replicate_polls_and_says_what_it_lacks,
    what_cannot_be_told_is_polled_and_still_written,
    a_slot_that_the_server_takes_away_is_replaced_and_polling_stands_in,
    a_slot_that_holds_back_too_much_log_is_given_up,
    a_server_that_comes_back_tells_again_and_what_was_missed_is_read,
    tables_of_two_sources_share_a_stream_and_a_function_is_polled,
}
