//! Poolers before a PostgreSQL and servers that stand for one: a pooler that passes no replication on, and a server that lets one connection in.

use crate::cluster_kit::client::soon;
use crate::cluster_kit::{Cluster, shared};
use crate::hasura_kit::{Served, serve_with};
use crate::postgres_faults::{Pooling, TRANSACTIONS, behind_a_pooler_of};
use crate::postgres_kit::database;
use futures_util::future::join_all;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use weir_engine::source::{OthersChanges, Source};
use weir_hasura::model::ModelOptions;
use weir_hasura::open::{PostgresOptions, open_postgres};
use weir_postgres::{Host, Settings, pooler};

/// How subscriptions find out what others changed, for operators.
async fn tell_changes(settings: Settings) -> String {
    let options =
        PostgresOptions { model: ModelOptions::default(), schemas: &["public".into()], stringify: false };
    let opened = open_postgres("main", settings, options, Duration::from_secs(60)).await;
    match opened.unwrap().0.others_changes() {
        OthersChanges::Reported(words) => format!("told: {words}"),
        OthersChanges::Polled(words) => format!("polled: {words}"),
        other @ (OthersChanges::Lifetimes | OthersChanges::PassedThrough | OthersChanges::Constant) => {
            panic!("{other:?} is no way of a database")
        }
    }
}

#[tokio::test]
async fn a_pooler_that_passes_no_replication_on_is_named() {
    let mut cluster = Cluster::new();
    cluster.start();
    cluster.sql("ALTER SYSTEM SET wal_level = logical");
    cluster.stop();
    cluster.start();
    assert_eq!(
        tell_changes(cluster.settings("postgres", "")).await,
        "told: logical decoding tells each commit"
    );
    behind_a_pooler_of(&cluster, TRANSACTIONS, async |port| {
        let words = tell_changes(cluster.settings("postgres", &format!("port={port}"))).await;
        let expected = "polled: PgBouncer stands before the server and refuses connections for replication (PostgreSQL refuses the connection: \
                        FATAL 08P01: unsupported startup parameter: replication): name the server itself, and they are told at once";
        assert_eq!(words, expected);
    })
    .await;
}

/// Lets one connection at a time through to the server at `port`: a second one is hung up, and so are `late` more after the first has
/// ended.
async fn let_one_in(port: u16, late: u32) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = listener.local_addr().unwrap().port();
    let is_taken = Arc::new(AtomicBool::new(false));
    tokio::spawn(async move {
        // The first connection finds a server that nobody has left.
        let mut left = 0;
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            if left > 0 && !is_taken.load(Ordering::SeqCst) {
                left -= 1;
                continue;
            }
            if is_taken.swap(true, Ordering::SeqCst) {
                continue;
            }
            left = late;
            let is_taken = Arc::clone(&is_taken);
            tokio::spawn(async move {
                let mut server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                // How it ends is the matter of those at its ends.
                let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
                is_taken.store(false, Ordering::SeqCst);
            });
        }
    });
    own
}

/// A server that says that it is PGlite, behind what lets one connection in and learns `late` that it has ended.
async fn single(late: u32) -> Served {
    let database = database(
        "CREATE FUNCTION public.version() RETURNS text LANGUAGE sql AS $$ SELECT 'PostgreSQL 18.6 (PGlite 0.5.14)' $$;
         CREATE TABLE thing (id int4 PRIMARY KEY, hits int4 NOT NULL, other_id int4 REFERENCES thing);
         INSERT INTO thing SELECT i, 0, NULL FROM generate_series(1, 4000) AS i;
         DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database()); END $$;",
    );
    let url = database.url();
    let direct = Settings::parse(&url, |_| None).unwrap();
    let Some(Host::Tcp { port, .. }) = direct.hosts.first() else { panic!("it listens on loopback") };
    let port = let_one_in(*port, late).await;
    let hosts = vec![Host::Tcp { name: "127.0.0.1".into(), port }];
    serve_with(database, &["public"], |it| {
        *it = Settings { hosts, ..direct };
        // A request may wait for the only connection as long as the machine likes.
        it.limits.wait_max = Duration::from_secs(50);
    })
    .await
}

#[tokio::test]
async fn a_server_that_lets_one_connection_in_is_read_and_written() {
    let served = single(0).await;
    let OthersChanges::Polled(words) = served.source.others_changes() else { panic!("it is polled") };
    assert_eq!(words, "PGlite has no changes to tell");
    let short = "{ thing_by_pk(id: 1) { id thing { id } } thing(limit: 2, order_by: {id: desc}) { id } }";
    let shown = r#"{"data":{"thing_by_pk":{"id":1,"thing":null},"thing":[{"id":4000},{"id":3999}]}}"#;
    let one = "mutation { update_thing_by_pk(pk_columns: {id: 2}, _inc: {hits: 1}) { id } }";
    let two = "mutation { a: update_thing(where: {id: {_eq: 2}}, _inc: {hits: 1}) { returning { thing { id } } } b: delete_thing(where: {id: {_lt: 0}}) { affected_rows } }";
    let long = "{ thing(order_by: {id: asc}) { id things { id } } }";
    let asked: Vec<&str> = [short, one, two, long, short, one].into_iter().cycle().take(36).collect();
    let answers = join_all(asked.iter().map(|it| served.ask(it))).await;
    for (query, answer) in asked.iter().zip(answers) {
        let is_right = match *query {
            query if query == short => answer == shown,
            query if query == long => answer.ends_with(r#"{"id":4000,"things":[]}]}}"#),
            _ => answer.starts_with(r#"{"data""#) && !answer.contains("errors"),
        };
        assert!(is_right, "{query}: {}", &answer[..answer.len().min(300)]);
    }
    assert_eq!(served.database.run("SELECT hits FROM thing WHERE id = 2"), "18\n");
}

#[tokio::test]
async fn a_server_that_notices_late_that_a_connection_has_ended_is_asked_again() {
    let served = single(12).await;
    let update = "mutation { update_thing_by_pk(pk_columns: {id: 2}, _inc: {hits: 1}) { hits } }";
    assert_eq!(served.ask(update).await, r#"{"data":{"update_thing_by_pk":{"hits":1}}}"#);
    let read = "{ thing_by_pk(id: 2) { hits } }";
    assert_eq!(served.ask(read).await, r#"{"data":{"thing_by_pk":{"hits":1}}}"#);
}

#[tokio::test]
async fn what_a_pooler_does_is_found_out_by_trying() {
    let cluster = shared();
    let takes = "it takes no `statement_timeout` and `lock_timeout` from Weir: `ALTER ROLE \"postgres\" SET statement_timeout = '20s'`";
    let check = async |pooling: Pooling, expected: &[&str]| {
        behind_a_pooler_of(cluster, pooling, async |port| {
            let settings = cluster.settings("postgres", &format!("port={port}"));
            assert_eq!(pooler::find(&settings, soon()).await.unwrap(), expected);
            // It leaves nothing that the next one stumbles on.
            assert_eq!(pooler::find(&settings, soon()).await.unwrap(), expected);
        })
        .await;
    };
    check(
        TRANSACTIONS,
        &[
            "PgBouncer stands before the server; each transaction may be at another server process",
            "statements lose their names between two transactions, so they have none and are parsed each time",
            takes,
        ],
    )
    .await;
    check(
        Pooling { mode: "session", places: 4 },
        &[
            "PgBouncer stands before the server; each connection has a server process of its own",
            "statements have no names and are parsed each time, though it keeps names: `statement_names: always` saves that",
            takes,
            "it serves 4 connections at a time and Weir opens up to 42, so requests wait for each other: make room there, or for 6 with \
             `lanes: 1` and `sessions_max: 1`",
        ],
    )
    .await;
    assert!(pooler::find(&cluster.settings("postgres", ""), soon()).await.unwrap().is_empty());
}
