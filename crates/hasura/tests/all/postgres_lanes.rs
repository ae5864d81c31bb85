//! Lanes that follow the load: at a server that takes its time for each statement.

use crate::cluster_kit::client::{one_lane, show, shown, soon, text, values};
use crate::cluster_kit::{Cluster, shared};
use crate::slow_kit::SlowServer;
use futures_util::future::join_all;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_postgres::{Parameters, Pool, Purpose, Settings, Statement};

/// Duration of a statement: long enough that another connection helps, short enough that no batch of them passes for a slow statement.
const DELAY: Duration = Duration::from_millis(1);

/// Settings of one thread at a slow server, with so many sessions at most.
fn settings(cluster: &Cluster, server: &SlowServer, user: &str, sessions_max: usize) -> Settings {
    let mut settings = cluster.settings(user, &format!("port={}&sslmode=disable", server.port));
    (settings.limits.threads, settings.limits.sessions_max) = (1, sessions_max);
    settings
}

/// A statement that is never merged.
fn twice() -> Arc<Statement> {
    text("SELECT $1::int4 * 2", &[23])
}

/// Asks once by so many callers; each gets its own answer.
async fn ask_all(pool: &Pool, statement: &Arc<Statement>, callers: usize) {
    let ask = |it: usize| pool.read(statement, values(&[&it.to_string()]), soon());
    let answers: Vec<String> = join_all((0..callers).map(ask)).await.into_iter().map(shown).collect();
    let expected: Vec<String> = (0..callers).map(|it| (2 * it).to_string()).collect();
    assert_eq!(answers, expected);
}

/// Asks by many until so many lanes are open; never are there more.
async fn load_until_lanes(pool: &Pool, lanes: usize) {
    let statement = twice();
    let until = soon();
    while pool.counts().lanes < lanes {
        assert!(Instant::now() < until, "{} lanes", pool.counts().lanes);
        ask_all(pool, &statement, 12).await;
    }
    for _ in 0..20 {
        ask_all(pool, &statement, 12).await;
        assert!(pool.counts().lanes <= lanes, "{} lanes", pool.counts().lanes);
    }
}

async fn wait_until(is_so: impl Fn() -> bool) {
    let until = soon();
    while !is_so() {
        assert!(Instant::now() < until, "it never is so");
        tokio::task::yield_now().await;
    }
}

/// All of these sessions can be had, and answer.
async fn use_sessions(pool: &Pool, count: usize) {
    for session in join_all((0..count).map(|_| pool.session(Purpose::Write, soon()))).await {
        let mut session = session.expect("a session");
        session.push(&text("SELECT 'alive'", &[]), &Parameters::new());
        assert_eq!(show(&session.flush(soon()).await.unwrap()[0]), "alive");
    }
}

#[tokio::test]
async fn lanes_grow_up_to_their_bound_and_leave_when_they_rest() {
    let server = SlowServer::start(shared().port, DELAY).await;
    let mut settings = settings(shared(), &server, "postgres", 8);
    settings.limits.idle_max = Some(Duration::from_millis(200));
    let pool = Pool::new(settings);
    // The first, and three quarters of the sessions.
    load_until_lanes(&pool, 7).await;
    // The first stays, without its connection.
    wait_until(|| server.connections_open() == 0 && pool.counts().lanes == 1).await;
    ask_all(&pool, &twice(), 1).await;
    assert!(
        server.connections_most() <= pool.connection_bound().primary(),
        "{} connections",
        server.connections_most()
    );
}

#[tokio::test]
async fn one_at_a_time_needs_one_lane() {
    let server = SlowServer::start(shared().port, DELAY).await;
    let pool = Pool::new(settings(shared(), &server, "postgres", 8));
    let statement = twice();
    for _ in 0..20 {
        ask_all(&pool, &statement, 1).await;
    }
    assert_eq!(pool.counts().lanes, 1);
}

#[tokio::test]
async fn a_number_of_lanes_that_is_set_stays() {
    for (lanes, threads) in [(4, 1), (4, 2), (2, 2), (1, 1), (1, 2)] {
        let server = SlowServer::start(shared().port, DELAY).await;
        let mut settings = settings(shared(), &server, "postgres", 8);
        (settings.limits.lanes, settings.limits.threads) = (Some(lanes), threads);
        load_until_lanes(&Pool::new(settings), (lanes / threads).max(1)).await;
    }
}

#[tokio::test]
async fn lanes_that_come_and_go_lose_nothing() {
    let server = SlowServer::start(shared().port, DELAY).await;
    let mut settings = settings(shared(), &server, "postgres", 8);
    // Shorter than a statement takes: a lane that rests for a moment leaves.
    settings.limits.idle_max = Some(Duration::from_micros(500));
    let pool = Pool::new(settings);
    let statement = twice();
    for round in 0..200 {
        ask_all(&pool, &statement, 1 + round * 7 % 13).await;
    }
    assert!(server.connections_most() > 1, "no lane came");
}

#[tokio::test]
async fn callers_who_need_sessions_get_the_connections_of_lanes() {
    let server = SlowServer::start(shared().port, DELAY).await;
    let pool = Pool::new(settings(shared(), &server, "postgres", 4));
    load_until_lanes(&pool, 4).await;
    let statement = twice();
    tokio::join!(use_sessions(&pool, 4), ask_all(&pool, &statement, 12));
    assert!(
        server.connections_most() <= pool.connection_bound().primary(),
        "{} connections",
        server.connections_most()
    );
}

#[tokio::test]
async fn where_the_server_refuses_more_connections_lanes_step_back() {
    // The limit is one for all who are no superuser.
    shared().sql("CREATE DATABASE few CONNECTION LIMIT 3");
    let server = SlowServer::start(shared().port, DELAY).await;
    let mut settings = settings(shared(), &server, "bare", 8);
    settings.database = "few".into();
    let pool = Pool::new(settings);
    let statement = twice();
    let until = soon();
    // A fourth is tried, and not let in.
    while server.connections_most() <= 3 {
        assert!(Instant::now() < until, "{} connections", server.connections_most());
        ask_all(&pool, &statement, 12).await;
    }
    // Lanes have all the connections: one that a caller needs takes the place of one of them.
    tokio::join!(use_sessions(&pool, 1), ask_all(&pool, &statement, 12));
    ask_all(&pool, &statement, 12).await;
}

#[tokio::test]
async fn lanes_leave_a_quarter_of_the_servers_connections_to_others() {
    let mut cluster = Cluster::new();
    let file = cluster.file("data/postgresql.conf");
    std::fs::OpenOptions::new()
        .append(true)
        .open(file)
        .unwrap()
        .write_all(b"max_connections = 16\n")
        .unwrap();
    cluster.start();
    let others = Pool::new(one_lane(cluster.settings("postgres", "")));
    let _sessions = join_all((0..10).map(|_| others.session(Purpose::Write, soon()))).await;
    let server = SlowServer::start(cluster.port, DELAY).await;
    let pool = Pool::new(settings(&cluster, &server, "postgres", 8));
    // The thirteenth connection sees that it is one too many.
    let statement = &twice();
    let until = soon();
    while server.connections_most() < 3 {
        assert!(Instant::now() < until, "{} connections", server.connections_most());
        ask_all(&pool, statement, 12).await;
    }
    wait_until(|| pool.counts().lanes == 2 && server.connections_open() == 2).await;
    ask_all(&pool, &twice(), 12).await;
}
