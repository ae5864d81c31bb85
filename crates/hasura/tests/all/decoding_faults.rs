//! Live queries over a PostgreSQL that tells its changes, while its tables, its logins and its transactions do not keep still.

use crate::decoding::{COUNT, Cause, NEVER, await_result, count, database, next, settled, settled_on, until};
use crate::hasura_kit::{Served, serve, serve_with};
use crate::live::{PATIENCE, TABLES, subscribe};
use crate::postgres_kit::Database;
use crate::postgres_kit::hand::Hand;
use crate::postgres_kit::release::on_each_release;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::live::LiveQueries;
use weir_engine::source::{OthersChanges, Source};
use weir_postgres::Settings;

/// A change that nobody tells is found after half a minute at the latest; one that is looked for sooner, within this time.
const SOON: Duration = Duration::from_secs(20);
const SLOT: &str = "SELECT string_agg(slot_name, ',') FROM pg_replication_slots WHERE active";

/// The slot of the stream, once it runs.
fn slot(database: &Database) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let found = database.run(SLOT);
        if !found.trim().is_empty() {
            return found;
        }
        assert!(Instant::now() < deadline, "no stream");
    }
}

fn counted(table: &str) -> String {
    format!("subscription {{ {table}_aggregate {{ aggregate {{ count }} }} }}")
}

fn counted_result(table: &str, rows: u32) -> String {
    count(rows).replace("boat", table)
}

/// Has the log grow until the stream has looked at its publication once more.
fn glance(database: &Database) {
    let now = database.run("SELECT clock_timestamp()");
    let glanced = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'weir' AND query LIKE '%pg_publication_rel%' AND query_start > '{}'",
        now.trim()
    );
    let deadline = Instant::now() + PATIENCE;
    while database.run(&glanced).trim() == "0" {
        assert!(Instant::now() < deadline, "it does not look");
        database.run("CREATE TABLE filler AS SELECT 1; DROP TABLE filler");
    }
}

async fn heirs_outside_the_served_schemas_are_told_and_the_stream_goes_on() {
    let heirs = "CREATE SCHEMA apart; CREATE TABLE apart.yacht (PRIMARY KEY (id)) INHERITS (boat)";
    let (served, _live, mut boats) = settled_on(&format!("{TABLES}; {heirs}"), COUNT).await;
    let database = &served.database;
    let begun = slot(database);
    glance(database);
    glance(database);
    assert_eq!(database.run(SLOT), begun, "the stream began anew");
    database.run("INSERT INTO apart.yacht VALUES (7, 1, 'Yam')");
    assert_eq!(next(&mut boats).await, (count(4), Cause::Change));
}

async fn changes_of_a_new_heir_are_told_within_seconds() {
    let (served, _live, mut boats) = settled_on(TABLES, COUNT).await;
    let begun = Instant::now();
    served.database.run(
        "CREATE SCHEMA apart; CREATE TABLE apart.yacht (PRIMARY KEY (id)) INHERITS (boat);
         INSERT INTO apart.yacht VALUES (7, 1, 'Yam')",
    );
    await_result(&mut boats, &count(4)).await;
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    let begun = Instant::now();
    served.database.run("DROP TABLE apart.yacht");
    await_result(&mut boats, &count(3)).await;
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

async fn rows_that_a_partition_brings_are_told_within_seconds() {
    let log = "CREATE TABLE log (id int, day int, PRIMARY KEY (id, day)) PARTITION BY LIST (day);
        CREATE TABLE log_1 PARTITION OF log FOR VALUES IN (1);
        CREATE TABLE beside (LIKE log INCLUDING ALL); INSERT INTO beside VALUES (1, 2), (2, 2)";
    let (served, _live, mut logs) = settled_on(&format!("{TABLES}; {log}"), &counted("log")).await;
    let begun = Instant::now();
    served.database.run("ALTER TABLE log ATTACH PARTITION beside FOR VALUES IN (2)");
    await_result(&mut logs, &counted_result("log", 2)).await;
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    let begun = Instant::now();
    served.database.run("ALTER TABLE log DETACH PARTITION beside");
    await_result(&mut logs, &counted_result("log", 0)).await;
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

async fn a_temporary_heir_does_not_end_the_stream_of_other_tables() {
    let (served, _live, mut harbours) = settled_on(TABLES, &counted("harbour")).await;
    let begun = slot(&served.database);
    let mut hand = served.hand().await;
    hand.run("CREATE TEMP TABLE draft (PRIMARY KEY (id)) INHERITS (boat)").await;
    let told = "SELECT string_agg(tablename, ',') FROM pg_publication_tables p JOIN pg_replication_slots s ON s.slot_name = p.pubname WHERE s.active";
    until(&served.database, told, "harbour");
    assert_ne!(slot(&served.database), begun);
    served.database.run("INSERT INTO harbour VALUES (3, 'Sound')");
    await_result(&mut harbours, &counted_result("harbour", 3)).await;
}

async fn users_may_change_new_partitions_and_tables_that_lose_their_key() {
    let bare = "CREATE TABLE bare (id int) PARTITION BY LIST (id)";
    let (served, live, _boats) = settled_on(&format!("{TABLES}; {bare}"), COUNT).await;
    let OthersChanges::Reported(how) = served.source.others_changes() else { panic!("it tells") };
    assert!(how.contains("`public.bare`: it is partitioned and has no primary key"), "{how}");
    let mut bare = subscribe((&served.engine, &live), &counted("bare"), "").await;
    assert_eq!(next(&mut bare).await.0, counted_result("bare", 0));
    let write = |sql: &str| served.database.run(sql);
    write("CREATE TABLE bare_1 PARTITION OF bare FOR VALUES IN (1, 2); INSERT INTO bare VALUES (1)");
    write("UPDATE bare SET id = 2; DELETE FROM bare");
    let begun = Instant::now();
    write("ALTER TABLE boat DROP CONSTRAINT boat_pkey");
    until(&served.database, "SELECT count(*) FROM pg_publication_tables WHERE tablename = 'boat'", "0");
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    write("UPDATE boat SET name = 'x'; DELETE FROM boat");
}

/// The obstacle of a table, by a server that is as strict as PostgreSQL 18.
fn obstacle_of_18(database: &Database, table: &str) -> String {
    let relations = include_str!("../../../postgres/src/replication/tables.sql").replace("180000", "1");
    let rows = database.rows(&relations);
    let row = rows.iter().find(|it| it[2].as_deref() == Some(table.as_bytes())).unwrap();
    String::from_utf8(row[4].clone().unwrap_or_default()).unwrap()
}

fn a_generated_column_in_a_replica_identity_is_an_obstacle_from_18_on() {
    let twice = "twice int GENERATED ALWAYS AS (n * 2) STORED NOT NULL";
    let database = database(
        &[],
        &format!(
            "CREATE TABLE beside (n int PRIMARY KEY, {twice});
            CREATE TABLE whole (n int PRIMARY KEY, {twice}); ALTER TABLE whole REPLICA IDENTITY FULL;
            CREATE TABLE plain (n int, m int); ALTER TABLE plain REPLICA IDENTITY FULL;
            CREATE TABLE keyed (n int, {twice} PRIMARY KEY);
            CREATE TABLE named (n int PRIMARY KEY, {twice} UNIQUE);
            ALTER TABLE named REPLICA IDENTITY USING INDEX named_twice_key"
        ),
    );
    for (table, has_obstacle) in
        [("beside", false), ("whole", true), ("plain", false), ("keyed", true), ("named", true)]
    {
        let found = obstacle_of_18(&database, table);
        assert_eq!(found.contains("generated"), has_obstacle, "{table}: {found}");
        assert!(has_obstacle || found.is_empty(), "{table}: {found}");
    }
}

/// Statements that change what is read of a table without a change of its rows, and the boats' numbers afterwards.
const REWRITTEN: [(&str, &str); 3] = [
    ("ALTER TYPE grade RENAME VALUE 'low' TO 'least'", r#"{"n":1,"grade":"least","twice":2}"#),
    ("ALTER TABLE kept ALTER COLUMN n TYPE int USING n + 4", r#"{"n":5,"grade":"least","twice":2}"#),
    (
        "ALTER TABLE kept ALTER COLUMN twice SET EXPRESSION AS (base * 3)",
        r#"{"n":5,"grade":"least","twice":3}"#,
    ),
];

async fn values_that_a_definition_changes_are_told_within_seconds() {
    let tables = "CREATE TYPE grade AS ENUM ('low', 'high');
        CREATE TABLE kept (id int PRIMARY KEY, n int, grade grade, base int, twice int GENERATED ALWAYS AS (base * 2) STORED);
        INSERT INTO kept VALUES (1, 1, 'low', 1)";
    let query = "subscription { kept { n grade twice } }";
    let (served, _live, mut kept) = settled_on(tables, query).await;
    for (statement, row) in REWRITTEN {
        // Expressions can be set from 17 on; before, the column is made anew.
        let statement = if statement.contains("SET EXPRESSION") && served.database.version() < 17 {
            "ALTER TABLE kept DROP COLUMN twice, ADD COLUMN twice int GENERATED ALWAYS AS (base * 3) STORED"
        } else {
            statement
        };
        served.database.run(statement);
        await_result(&mut kept, &format!(r#"{{"data":{{"kept":[{row}]}}}}"#)).await;
    }
}

async fn a_reload_with_another_password_reaches_the_stream() {
    let role = "CREATE ROLE turner LOGIN REPLICATION PASSWORD 'one';
        ALTER TABLE boat OWNER TO turner; ALTER TABLE harbour OWNER TO turner;
        DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO turner', current_database()); END $$";
    let database = database(&[], &format!("{TABLES}; {role}"));
    let address = database.url();
    let (_, host) = address.split_once('@').unwrap();
    let settings =
        |password: &str| Settings::parse(&format!("postgres://turner:{password}@{host}"), |_| None).unwrap();
    let first = serve_with(database, &["public"], |it| *it = settings("one")).await;
    let live = LiveQueries::of(&first.engine, NEVER);
    let mut boats = subscribe((&first.engine, &live), COUNT, "").await;
    next(&mut boats).await;
    settled(&live).await;
    let Served { engine, source, database } = first;
    database.run("ALTER ROLE turner PASSWORD 'two'");
    let second = serve_with(database, &["public"], |it| *it = settings("two")).await;
    let lives = LiveQueries::of(&second.engine, NEVER);
    let mut others = subscribe((&second.engine, &lives), COUNT, "").await;
    next(&mut others).await;
    settled(&lives).await;
    drop((boats, live, engine, source));
    second.database.run("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots");
    second.database.run("INSERT INTO boat VALUES (4, 1, 'Dot')");
    await_result(&mut others, &count(4)).await;
}

async fn the_publication_waits_for_locks_as_long_as_an_automatic_vacuum_holds_them() {
    let served = serve(database(&[], TABLES)).await;
    let live = LiveQueries::of(&served.engine, NEVER);
    let mut hand = served.hand().await;
    hand.run("BEGIN").await;
    // The lock of `VACUUM`.
    hand.run("LOCK TABLE boat IN SHARE UPDATE EXCLUSIVE MODE").await;
    let mut boats = subscribe((&served.engine, &live), COUNT, "").await;
    next(&mut boats).await;
    let waiting = "SELECT count(*)::text FROM pg_stat_activity WHERE query LIKE '%CREATE PUBLICATION %' AND wait_event_type = 'Lock'
        AND pid <> pg_backend_pid() AND clock_timestamp() - query_start > interval '1200 ms'";
    served.hand().await.until(waiting, "1").await;
    hand.run("COMMIT").await;
    settled(&live).await;
    served.database.run("INSERT INTO boat VALUES (4, 1, 'Dot')");
    assert_eq!(next(&mut boats).await, (count(4), Cause::Change));
}

/// Begins a transaction that has a number.
async fn begin(hand: &mut Hand) -> String {
    hand.run("BEGIN").await;
    hand.run("SELECT pg_current_xact_id()::text").await
}

async fn a_commit_from_before_the_slot_is_told_while_others_run_on() {
    let served = Arc::new(serve(database(&[], TABLES)).await);
    let database = &served.database;
    let live = LiveQueries::of(&served.engine, NEVER);
    let mut first = served.hand().await;
    let mut second = served.hand().await;
    let mut other = served.hand().await;
    let mut beside = served.hand().await;
    let waiting = |xid: &str| {
        format!(
            "SELECT count(*)::text FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted AND transactionid = '{xid}'"
        )
    };
    let xid = begin(&mut first).await;
    let mut boats = subscribe((&served.engine, &live), COUNT, "").await;
    next(&mut boats).await;
    // The slot waits for the transactions that run, and then for those that began meanwhile.
    beside.until(&waiting(&xid), "1").await;
    let xid = begin(&mut second).await;
    first.run("ROLLBACK").await;
    beside.until(&waiting(&xid), "1").await;
    database.run("ALTER SYSTEM SET synchronous_standby_names = 'slow'; SELECT pg_reload_conf()");
    until(database, "SHOW synchronous_standby_names", "slow");
    // It waits for a standby that is not there: the log has it before the slot, and nobody sees it.
    let writer = Arc::clone(&served);
    let writing = std::thread::spawn(move || writer.database.run("INSERT INTO boat VALUES (4, 1, 'Dot')"));
    until(database, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'", "1");
    begin(&mut other).await;
    second.run("ROLLBACK").await;
    settled(&live).await;
    database.run("ALTER SYSTEM RESET synchronous_standby_names; SELECT pg_reload_conf()");
    assert_eq!(next(&mut boats).await, (count(4), Cause::Change));
    writing.join().unwrap();
    other.run("ROLLBACK").await;
}

on_each_release! {
    a_generated_column_in_a_replica_identity_is_an_obstacle_from_18_on,
}

on_each_release! {
    async
    heirs_outside_the_served_schemas_are_told_and_the_stream_goes_on,
    changes_of_a_new_heir_are_told_within_seconds,
    values_that_a_definition_changes_are_told_within_seconds,
    rows_that_a_partition_brings_are_told_within_seconds,
    a_temporary_heir_does_not_end_the_stream_of_other_tables,
    users_may_change_new_partitions_and_tables_that_lose_their_key,
    a_reload_with_another_password_reaches_the_stream,
    the_publication_waits_for_locks_as_long_as_an_automatic_vacuum_holds_them,
    a_commit_from_before_the_slot_is_told_while_others_run_on,
}
