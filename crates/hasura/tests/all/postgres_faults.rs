//! The wire when servers end connections, go, come back, fall silent or lag, and behind a pooler.

use crate::cluster_kit;
use crate::cluster_kit::client::{ask, by_pk, one_lane, pool, show, shown, soon, text, values};
use crate::cluster_kit::{Cluster, shared};
use crate::hasura_kit::engine_settings;
use crate::relay_kit::hang_up_at;
use futures_util::future::join_all;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use weir_engine::caller::Identity;
use weir_engine::compose::Graph;
use weir_engine::engine::{Body, Engine, Request};
use weir_engine::source::Source;
use weir_hasura::model::ModelOptions;
use weir_hasura::open::{PostgresOptions, open_postgres};
use weir_postgres::{Error, Host, Isolation, Parameters, Pool, Purpose, ReadPreference, Transaction};

#[tokio::test]
async fn a_server_that_ends_the_connection_did_not_commit() {
    let pool = pool();
    let mut session = pool.session(Purpose::Write, soon()).await.unwrap();
    session.push(&text("SELECT pg_terminate_backend(pg_backend_pid())::text", &[]), &Parameters::new());
    let failed = session.flush(soon()).await;
    assert!(matches!(failed, Err(Error::Unavailable(_))), "{failed:?}");
    drop(session);
    assert!(pool.session(Purpose::Write, soon()).await.is_ok());
}

/// Lets clients in without proof that it knows their password: asks for SCRAM, and ends it where it has to prove itself.
async fn pretend(messages: &'static [&'static [u8]]) -> u16 {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut client, _) = listener.accept().await.unwrap();
        let mut read = vec![0; 65536];
        for message in messages {
            assert!(client.read(&mut read).await.unwrap() > 0);
            client.write_all(message).await.unwrap();
        }
    });
    own
}

#[tokio::test]
async fn a_server_that_does_not_prove_itself_is_not_asked() {
    const SCRAM: &[u8] = b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0";
    const READY: &[u8] = b"Z\0\0\0\x05I";
    const LET_IN: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
    for (messages, words) in [
        (&[READY] as &[&[u8]], "the server begins before the authentication is over"),
        (&[SCRAM, READY], "the server begins before the authentication is over"),
        (&[SCRAM, LET_IN], "the server does not prove that it knows the password"),
    ] {
        let port = pretend(messages).await;
        let settings = shared().settings("scram:secret", &format!("port={port}&sslmode=disable"));
        let answer = ask(&Pool::new(one_lane(settings)), "SELECT 1").await;
        assert_eq!(answer, format!("PostgreSQL cannot be used: {words}"));
    }
}

#[tokio::test]
async fn a_connection_that_breaks_at_the_commit_leaves_a_doubt() {
    let port = hang_up_at(b"COMMIT", shared().port).await;
    let pool = Pool::new(shared().settings("postgres", &format!("port={port}&sslmode=disable")));
    let mut session = pool.session(Purpose::Write, soon()).await.unwrap();
    session.begin(Transaction::ReadWrite(Isolation::ReadCommitted));
    session.push(&text("SELECT 1", &[]), &Parameters::new());
    session.commit();
    let failed = session.flush(soon()).await;
    assert!(matches!(failed, Err(Error::Unconfirmed(_))), "{failed:?}");
}

/// A pooler between a client and the server on `port`, in which a transaction is open whenever nothing was begun. Unless it `is_open`, the
/// pooler only says so.
async fn leave_open(port: u16, is_open: bool) -> u16 {
    const BEGIN: &[u8] = b"Q\0\0\0\x0aBEGIN\0";
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (client, _) = listener.accept().await.unwrap();
            let server = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            let (mut from_client, mut to_client) = client.into_split();
            let (mut from_server, to_server) = server.into_split();
            let to_server = Arc::new(tokio::sync::Mutex::new(to_server));
            let forward = Arc::clone(&to_server);
            tokio::spawn(async move {
                let mut bytes = [0; 4096];
                while let Ok(len @ 1..) = from_client.read(&mut bytes).await {
                    forward.lock().await.write_all(&bytes[..len]).await.unwrap();
                }
                forward.lock().await.shutdown().await
            });
            tokio::spawn(async move {
                let mut is_own_answer = false;
                let mut head = [0; 5];
                while from_server.read_exact(&mut head).await.is_ok() {
                    let len = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize - 4;
                    let mut body = vec![0; len];
                    from_server.read_exact(&mut body).await.unwrap();
                    let is_ready = head[0] == b'Z';
                    if is_own_answer {
                        is_own_answer = !is_ready;
                        continue;
                    }
                    if is_ready && body == b"I" && is_open {
                        is_own_answer = true;
                        to_server.lock().await.write_all(BEGIN).await.unwrap();
                    } else if is_ready && body == b"I" {
                        body = b"T".to_vec();
                    }
                    if to_client.write_all(&[&head[..], &body].concat()).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    own
}

/// As behind Pgpool-II in raw mode.
#[tokio::test]
async fn what_is_done_in_a_transaction_that_a_pooler_leaves_open_is_committed() {
    let other = pool();
    let count = async || ask(&other, "SELECT count(*)::text FROM left_open").await;
    ask(&other, "CREATE TABLE left_open (id int4 PRIMARY KEY)").await;
    let insert = |id: u32| text(&format!("INSERT INTO left_open VALUES ({id}) RETURNING id::text"), &[]);
    for (is_open, ids) in [(true, [1, 2]), (false, [3, 4])] {
        let port = leave_open(shared().port, is_open).await;
        let pool = Pool::new(shared().settings("postgres", &format!("port={port}&sslmode=disable")));
        for id in ids {
            let rows = pool.change_alone(&insert(id), &Parameters::new(), None, None, soon()).await;
            assert_eq!(shown(rows), id.to_string());
            assert_eq!(count().await, id.to_string(), "it is committed");
        }
        let refused = pool.change_alone(&insert(1), &Parameters::new(), None, None, soon()).await;
        assert!(matches!(refused, Err(Error::Database { .. })), "{refused:?}");
    }
    // The connection breaks before the pooler has said that it is committed.
    let port = hang_up_at(b"COMMIT", leave_open(shared().port, true).await).await;
    let pool = Pool::new(shared().settings("postgres", &format!("port={port}&sslmode=disable")));
    let failed = pool.change_alone(&insert(5), &Parameters::new(), None, None, soon()).await;
    assert!(matches!(failed, Err(Error::Unconfirmed(_))), "{failed:?}");
}

/// Passes connections on to `port`, but for the first request to cancel, which is lost.
async fn lose_the_first_cancel_request(port: u16) -> u16 {
    const CANCEL: [u8; 4] = 80_877_102_u32.to_be_bytes();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let mut is_lost = false;
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            let mut head = [0; 8];
            while client.peek(&mut head).await.unwrap() < head.len() {}
            if head.ends_with(&CANCEL) && !std::mem::replace(&mut is_lost, true) {
                client.read_exact(&mut [0; 16]).await.unwrap();
                continue;
            }
            let mut server = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            tokio::spawn(
                async move { tokio::io::copy_bidirectional(&mut client, &mut server).await.map(drop) },
            );
        }
    });
    own
}

/// A request to cancel does nothing where the server has not begun the statement yet.
#[tokio::test]
async fn a_statement_is_stopped_also_if_the_first_request_is_lost() {
    let sleep = text("SELECT 'too early' FROM pg_sleep(600)", &[]);
    let process = text("SELECT pg_backend_pid()", &[]);
    for is_dropped in [true, false] {
        let port = lose_the_first_cancel_request(shared().port).await;
        let mut settings = shared().settings("postgres", &format!("port={port}&sslmode=disable"));
        settings.limits.sessions_max = 1;
        let pool = Pool::new(settings);
        let mut session = pool.session(Purpose::Read, soon()).await.unwrap();
        session.push(&process, &Parameters::new());
        let before = show(&session.flush(soon()).await.unwrap()[0]);
        session.push(&sleep, &Parameters::new());
        if is_dropped {
            let works = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%too ea_ly%' AND state = 'active' AND pid <> pg_backend_pid()";
            let other = self::pool();
            let begun = async { while ask(&other, works).await == "0" {} };
            tokio::select! {
                done = session.flush(soon()) => panic!("{done:?}"),
                () = begun => {}
            }
            drop(session);
            session = pool.session(Purpose::Read, soon()).await.unwrap();
        } else {
            let stopped = session.flush(Instant::now() + Duration::from_millis(100)).await;
            assert!(matches!(stopped, Err(Error::Timeout)), "{stopped:?}");
        }
        session.push(&process, &Parameters::new());
        assert_eq!(show(&session.flush(soon()).await.unwrap()[0]), before);
    }
}

#[tokio::test]
async fn a_server_that_comes_and_goes_is_found_again() {
    let mut cluster = Cluster::new();
    let pool = Pool::new(one_lane(cluster.settings("postgres", "")));
    let down = pool.ready(soon()).await;
    assert!(matches!(down, Err(Error::Unavailable(_))), "{down:?}");
    cluster.start();
    pool.ready(soon()).await.unwrap();
    drop(pool.session(Purpose::Read, soon()).await.unwrap());
    cluster.stop();
    cluster.start();
    pool.ready(soon()).await.unwrap();
    let mut session = pool.session(Purpose::Read, soon()).await.unwrap();
    session.push(&text("SELECT 'again'", &[]), &Parameters::new());
    assert_eq!(show(&session.flush(soon()).await.unwrap()[0]), "again");
    cluster.stop();
    assert!(matches!(pool.ready(soon()).await, Err(Error::Unavailable(_))));
}

/// Pool mode of PgBouncer.
#[derive(Clone, Copy)]
pub(crate) struct Pooling {
    pub(crate) mode: &'static str,
    /// Connections to a database at a time.
    pub(crate) places: usize,
}

/// Between two transactions of a client, another one may get its connection.
pub(crate) const TRANSACTIONS: Pooling = Pooling { mode: "transaction", places: 2 };

/// Runs PgBouncer before the shared cluster while `test` has the port.
async fn behind_a_pooler(test: impl AsyncFnOnce(u16)) {
    behind_a_pooler_of(shared(), TRANSACTIONS, test).await;
}

/// Runs `test` behind a PgBouncer before `cluster`.
pub(crate) async fn behind_a_pooler_of(cluster: &Cluster, pooling: Pooling, test: impl AsyncFnOnce(u16)) {
    let Pooling { mode, places } = pooling;
    let folder = cluster_kit::folder("pooler");
    let port = crate::port_kit::free_port();
    let settings = format!(
        "[databases]\n* = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
         auth_type = any\npool_mode = {mode}\ndefault_pool_size = {places}\nunix_socket_dir =\n",
        cluster.port
    );
    let settings = settings.replace("host=127.0.0.1", "user=postgres host=127.0.0.1");
    std::fs::write(folder.join("pooler.ini"), settings).unwrap();
    let mut pooler = cluster_kit::guarded("pgbouncer".as_ref(), &["pooler.ini"], &folder);
    cluster_kit::await_port(port);
    test(port).await;
    drop(pooler.stdin.take());
    pooler.wait().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn behind_a_pooler_statements_have_no_names() {
    behind_a_pooler(ask_behind).await;
}

async fn ask_behind(port: u16) {
    let cluster = shared();
    let mut settings = cluster.settings("postgres", &format!("port={port}"));
    settings.limits.lanes = Some(1);
    let pool = Pool::new(settings);
    let statement = by_pk();
    for _ in 0..3 {
        let answers = join_all(["1", "2"].map(|it| pool.read(&statement, values(&[it]), soon()))).await;
        let answers: Vec<String> = answers.into_iter().map(shown).collect();
        assert_eq!(answers, ["thing 1", "thing 2"]);
        let mut session = pool.session(Purpose::Write, soon()).await.unwrap();
        session.begin(Transaction::ReadWrite(Isolation::ReadCommitted));
        session.push(&statement, &values(&["3"]));
        session.commit();
        assert_eq!(show(&session.flush(soon()).await.unwrap()[0]), "thing 3");
    }
    assert!(pool.facts().is_some_and(|it| it.is_pooled));
}

/// A pooler takes no settings of a session, so the database's own hold.
#[tokio::test]
async fn behind_a_pooler_a_composite_is_returned_as_it_is_read() {
    shared().sql("CREATE DATABASE forms");
    let set = ["bytea_output = escape", "IntervalStyle = iso_8601", "extra_float_digits = -5"];
    set.iter().for_each(|it| drop(shared().sql(&format!("ALTER DATABASE forms SET {it}"))));
    shared().sql_in(
        "forms",
        "CREATE TYPE form AS (ba bytea, i interval, f float8);
         CREATE TABLE formed (id int4 PRIMARY KEY, v form, vs form[])",
    );
    behind_a_pooler(async |port| {
        let settings = shared().settings("postgres", &format!("dbname=forms&port={port}"));
        let options =
            PostgresOptions { model: ModelOptions::default(), schemas: &["public".into()], stringify: false };
        let opened = open_postgres("main", settings, options, Duration::from_secs(60)).await;
        let graph = Graph::compose(vec![Arc::new(opened.unwrap().0) as Arc<dyn Source>], &[]).unwrap();
        let engine = Engine::new(graph, engine_settings(256 << 10));
        let ask = async |asked: &str| {
            let caller = engine.caller(&Identity::admin());
            let body = engine.execute(Request::new(asked, soon()), &caller).await.body;
            let Body::Whole(bytes) = body else { panic!("the answer is short") };
            String::from_utf8(bytes).unwrap()
        };
        let value = r#"{ba: "\\x00ff", i: "1 day 02:00:00", f: 0.30000000000000004}"#;
        let shown = r#"{"ba":"\\x00ff","i":"1 day 02:00:00","f":0.30000000000000004}"#;
        let row = format!(r#"{{"v":{shown},"vs":[{shown},null]}}"#);
        let insert = format!(
            "mutation {{ insert_formed_one(object: {{id: 1, v: {value}, vs: [{value}, null]}}) {{ v vs }} }}"
        );
        assert_eq!(ask(&insert).await, format!(r#"{{"data":{{"insert_formed_one":{row}}}}}"#));
        assert_eq!(ask("{ formed { v vs } }").await, format!(r#"{{"data":{{"formed":[{row}]}}}}"#));
    })
    .await;
}

/// Asks where reads go until it is as expected.
async fn reads_go_to(pool: &Pool, expected: &str) {
    while ask(pool, "SELECT CASE WHEN pg_is_in_recovery() THEN 'replica' ELSE 'primary' END").await
        != expected
    {
        assert!(pool.facts().is_none_or(|it| !it.in_recovery), "the primary's facts are a replica's");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn reads_go_to_a_replica_as_long_as_it_follows() {
    let mut cluster = Cluster::new();
    cluster.start();
    let mut replica = cluster.replica();
    let mut settings = one_lane(cluster.settings("postgres", ""));
    settings.replicas = vec![Host::Tcp { name: "127.0.0.1".into(), port: replica.port }];
    settings.replica_lag_max = Duration::from_millis(500);
    let pool = Pool::new(settings);
    reads_go_to(&pool, "replica").await;
    replica.sql("SELECT pg_wal_replay_pause()");
    cluster.sql("CREATE TABLE unseen (id int4)");
    reads_go_to(&pool, "primary").await;
    replica.sql("SELECT pg_wal_replay_resume()");
    reads_go_to(&pool, "replica").await;
    assert_eq!(ask(&pool, "SELECT count(*) FROM unseen").await, "0");
    let place = text("SELECT pg_is_in_recovery()", &[]);
    let long =
        pool.reads(ReadPreference::Recent).read_alone(&place, Parameters::new(), soon()).await.unwrap();
    let mut parts =
        pool.reads(ReadPreference::Recent).stream(&place, &Parameters::new(), soon()).await.unwrap();
    let first = parts.part().await.unwrap().unwrap();
    assert_eq!((show(&long), show(&first)), ("t".into(), "t".into()), "long reads go there too");
    drop(parts);
    replica.stop();
    assert!(
        pool.reads(ReadPreference::Recent).read_alone(&place, Parameters::new(), soon()).await.is_ok(),
        "the primary answers"
    );
    assert_eq!(ask(&pool, "SELECT 'answered'").await, "answered");
    reads_go_to(&pool, "primary").await;
}

#[tokio::test]
async fn reads_of_followers_have_settings_of_their_own() {
    let mut settings = one_lane(shared().settings("postgres", ""));
    settings.follower_reads = &[("default_transaction_read_only", "on"), ("test.behind", "{ms}")];
    settings.stale_reads_max = Duration::from_millis(1234);
    let pool = Pool::new(settings);
    let sql = "SELECT current_setting('transaction_read_only') || coalesce(current_setting('test.behind', true), '')";
    let statement = text(sql, &[]);
    for (preference, expected) in [
        (ReadPreference::Recent, "off"),
        (ReadPreference::Primary, "off"),
        (ReadPreference::Since(7), "off"),
        (ReadPreference::Stale, "on1234"),
    ] {
        let reads = pool.reads(preference);
        assert_eq!(shown(reads.read(&statement, Parameters::new(), soon()).await), expected);
        assert_eq!(shown(reads.read_alone(&statement, Parameters::new(), soon()).await), expected);
        let mut parts = reads.stream(&statement, &Parameters::new(), soon()).await.unwrap();
        assert_eq!(show(&parts.part().await.unwrap().unwrap()), expected);
    }
    // A read that followers refuse is sent to the primary.
    let writes = text("CREATE TABLE written_by_a_read (id int4)", &[]);
    pool.reads(ReadPreference::Stale).read(&writes, Parameters::new(), soon()).await.unwrap();
}

/// Passes bytes on to `port` until told to swallow them.
async fn fall_silent(port: u16, silence: Arc<tokio::sync::Notify>) -> u16 {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let mut held = Vec::new();
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            let mut server = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            tokio::select! {
                _ = tokio::io::copy_bidirectional(&mut client, &mut server) => {}
                () = silence.notified() => {}
            }
            // Open, but nobody reads.
            held.push((client, server));
        }
    });
    own
}

#[tokio::test]
async fn a_server_that_falls_silent_holds_nobody_for_ever() {
    let silence = Arc::new(tokio::sync::Notify::new());
    let port = fall_silent(shared().port, Arc::clone(&silence)).await;
    let mut settings = one_lane(shared().settings("postgres", &format!("port={port}&sslmode=disable")));
    settings.limits.statement_timeout = Duration::from_millis(100);
    let pool = Pool::new(settings);
    pool.ready(soon()).await.unwrap();
    silence.notify_one();
    tokio::task::yield_now().await;
    let expiring = pool.ready(Instant::now() + Duration::from_millis(100));
    let (expired, behind) = tokio::join!(expiring, ask(&pool, "SELECT 'by another connection'"));
    assert!(matches!(expired, Err(Error::Timeout)), "{expired:?}");
    assert_eq!(behind, "by another connection");
    silence.notify_one();
    tokio::task::yield_now().await;
    assert_eq!(
        ask(&pool, "SELECT 'lost'").await,
        "PostgreSQL is unavailable: the server has stopped answering"
    );
    pool.ready(soon()).await.unwrap();
}
