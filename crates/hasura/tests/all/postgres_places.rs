//! Servers that serve fewer connections than Weir opens: no request fails, whatever it needs a connection for.

use crate::answer_kit;
use crate::cluster_kit::shared;
use crate::hasura_kit::engine_settings;
use crate::live::{change, next, subscribe};
use crate::postgres_faults::{Pooling, behind_a_pooler_of};
use futures_util::future::join_all;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Barrier, Semaphore};
use weir_engine::caller::Identity;
use weir_engine::compose::Graph;
use weir_engine::engine::Engine;
use weir_engine::live::{LiveQueries, LiveSettings};
use weir_engine::source::Source;
use weir_hasura::model::{ModelOptions, RelationshipNames};
use weir_hasura::open::{PostgresOptions, open_postgres};
use weir_postgres::Settings;

const CLIENTS: u32 = 30;
/// Bytes above which an answer is streamed: the list of all rows is.
const STREAMED_BYTES: usize = 16 << 10;

/// Lets `places` connections at a time through to the server at `port`, as PgBouncer in session mode does: the others wait until one of those is closed.
async fn let_in(places: usize, port: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = listener.local_addr().unwrap().port();
    let places = Arc::new(Semaphore::new(places));
    tokio::spawn(async move {
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            let places = Arc::clone(&places);
            tokio::spawn(async move {
                let _place = places.acquire().await.unwrap();
                let mut server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                // How it ends is the matter of those at its ends.
                let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    own
}

/// A new database of things that have hits, with a limit of connections for all but the superuser.
fn database(limit: i32) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("places_{}", NEXT.fetch_add(1, Ordering::Relaxed));
    shared().sql(&format!("CREATE DATABASE {name} OWNER bare CONNECTION LIMIT {limit}"));
    shared().sql_in(
        &name,
        "SET ROLE bare;
         CREATE TABLE hit (id int4 PRIMARY KEY, count int4 NOT NULL, other_id int4 REFERENCES hit);
         INSERT INTO hit SELECT i, 0, NULL FROM generate_series(0, 999) AS i",
    );
    name
}

/// Settings of a machine that takes its time.
fn settings(user: &str, database: &str, port: u16) -> Settings {
    let url = format!("postgres://{user}@127.0.0.1:{port}/{database}?sslmode=disable");
    let mut settings = Settings::parse(&url, |_| None).unwrap();
    (settings.limits.threads, settings.limits.wait_max) = (3, Duration::from_secs(50));
    settings
}

async fn ask(engine: &Engine, query: &str) -> String {
    answer_kit::ask(engine, &Identity::admin(), query).await
}

/// One client: reads that share a lane, reads and writes of its own row on sessions, a long list, and several writes in one.
async fn be_client(engine: &Engine, number: u32) {
    let read = format!("{{ hit_by_pk(id: {number}) {{ count }} }}");
    let add =
        format!("mutation {{ update_hit_by_pk(pk_columns: {{id: {number}}}, _inc: {{count: 1}}) {{ id }} }}");
    let two = format!(
        "mutation {{ a: update_hit_by_pk(pk_columns: {{id: {number}}}, _inc: {{count: 1}}) {{ count hit {{ id }} }}
                     b: delete_hit(where: {{id: {{_lt: 0}}}}) {{ affected_rows }} }}"
    );
    let list = "{ hit(order_by: {id: asc}) { id hits { id } } }";
    for round in 0..2 {
        let count = 2 * round;
        assert_eq!(ask(engine, &read).await, format!(r#"{{"data":{{"hit_by_pk":{{"count":{count}}}}}}}"#));
        let added = format!(r#"{{"data":{{"update_hit_by_pk":{{"id":{number}}}}}}}"#);
        assert_eq!(ask(engine, &add).await, added);
        let listed = ask(engine, list).await;
        assert!(listed.ends_with(r#"{"id":999,"hits":[]}]}}"#), "{:.300}", listed);
        let count = count + 2;
        let both = format!(r#"{{"data":{{"a":{{"count":{count},"hit":null}},"b":{{"affected_rows":0}}}}}}"#);
        assert_eq!(ask(engine, &two).await, both);
    }
}

async fn open_engine(settings: Settings) -> Engine {
    let model = ModelOptions { relationship_names: RelationshipNames::Short, ..ModelOptions::default() };
    let options = PostgresOptions { model, schemas: &["public".into()], stringify: false };
    let opened = open_postgres("main", settings, options, Duration::from_secs(60)).await;
    let graph = Graph::compose(vec![Arc::new(opened.unwrap().0) as Arc<dyn Source>], &[]).unwrap();
    Engine::new(graph, engine_settings(STREAMED_BYTES))
}

/// Clients in several threads, each with an event loop and lanes of its own, beside a live query.
async fn serve_clients(settings: Settings) {
    let database = settings.database.clone();
    let engine = &open_engine(settings).await;
    let live = &LiveQueries::of(engine, LiveSettings::STANDARD);
    let watched = "subscription { hit_by_pk(id: 500) { count } }";
    let watch = async {
        let mut subscription = subscribe((engine, live), watched, "").await;
        for count in 0..4 {
            assert_eq!(
                next(&mut subscription).await.0,
                format!(r#"{{"data":{{"hit_by_pk":{{"count":{count}}}}}}}"#)
            );
            change(engine, "mutation { update_hit_by_pk(pk_columns: {id: 500}, _inc: {count: 1}) { id } }")
                .await;
        }
    };
    // The connections that a thread made end with it, also where others use them by now.
    let end = &Barrier::new(3);
    let be_clients = &async |thread: u32| {
        join_all((0..CLIENTS).filter(|it| it % 3 == thread).map(|it| be_client(engine, it))).await;
    };
    std::thread::scope(|scope| {
        for thread in 0..2 {
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                let done = catch_unwind(AssertUnwindSafe(|| runtime.block_on(be_clients(thread))));
                runtime.block_on(end.wait());
                done.unwrap_or_else(|panic| resume_unwind(panic));
            });
        }
        let runtime = tokio::runtime::Handle::current();
        let all =
            || tokio::task::block_in_place(|| runtime.block_on(async { tokio::join!(be_clients(2), watch) }));
        let done = catch_unwind(AssertUnwindSafe(all));
        tokio::task::block_in_place(|| runtime.block_on(end.wait()));
        done.unwrap_or_else(|panic| resume_unwind(panic));
    });
    assert_eq!(shared().sql_in(&database, "SELECT sum(count) FROM hit"), (4 * CLIENTS + 4).to_string());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_fails_where_a_pooler_lets_others_wait() {
    for places in [1, 2, 4, 8] {
        let port = let_in(places, shared().port).await;
        serve_clients(settings("postgres", &database(-1), port)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_fails_behind_pgbouncer_in_session_mode() {
    let pooling = Pooling { mode: "session", places: 4 };
    behind_a_pooler_of(shared(), pooling, async |port| {
        serve_clients(settings("postgres", &database(-1), port)).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_fails_where_the_server_refuses_more_connections() {
    for places in [1, 2, 4] {
        serve_clients(settings("bare", &database(places), shared().port)).await;
    }
}

/// The first has all places when the second comes: once it rests, and once it has as much to do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_fails_where_another_process_has_the_places() {
    for places in [1, 2, 4] {
        let port = let_in(places, shared().port).await;
        let first = Arc::new(open_engine(settings("postgres", &database(-1), port)).await);
        join_all((0..CLIENTS).map(|it| be_client(&first, it))).await;
        serve_clients(settings("postgres", &database(-1), port)).await;
        let is_over = Arc::new(AtomicBool::new(false));
        let busy = (CLIENTS..CLIENTS + 8).map(|number| {
            let first = Arc::clone(&first);
            let is_over = Arc::clone(&is_over);
            tokio::spawn(async move {
                let add = format!(
                    "mutation {{ update_hit_by_pk(pk_columns: {{id: {number}}}, _inc: {{count: 1}}) {{ count }} }}"
                );
                let mut count = 0;
                while !is_over.load(Ordering::Relaxed) {
                    count += 1;
                    let added = format!(r#"{{"data":{{"update_hit_by_pk":{{"count":{count}}}}}}}"#);
                    assert_eq!(ask(&first, &add).await, added);
                    let read = format!("{{ hit_by_pk(id: {number}) {{ count }} }}");
                    assert_eq!(
                        ask(&first, &read).await,
                        format!(r#"{{"data":{{"hit_by_pk":{{"count":{count}}}}}}}"#)
                    );
                }
            })
        });
        let busy: Vec<_> = busy.collect();
        serve_clients(settings("postgres", &database(-1), port)).await;
        is_over.store(true, Ordering::Relaxed);
        join_all(busy).await.into_iter().for_each(|it| it.unwrap());
    }
}
