//! Reads and mutations while another process changes every kind of definition, one after the other.
//!
//! No read fails. A mutation fails only with a code that says that it did not happen, and goes through when it is sent again: each adds one to
//! a row of its asker's own, so that at the end the row has counted those that were answered. A subscription to these rows hears no
//! error, and its last result is what they are at the end.
//!
//! `make soak` does it for longer (`WEIR_SOAK_SECONDS`), with a pause between two changes.

mod changes;

use crate::answer_kit::ask_whole;
use crate::kit;
use crate::live::{PATIENCE, subscribe};
use crate::postgres_kit::Database;
use crate::postgres_kit::hand::soon;
use crate::postgres_kit::release::on_one_release;
use crate::{hasura_kit, postgres_kit};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::engine::Engine;
use weir_engine::live::{LiveQueries, LiveSettings, Subscription};
use weir_hasura::model::{ModelOptions, RelationshipNames};
use weir_postgres::error::Error;
use weir_postgres::statement::{Format, Parameters, Statement};
use weir_postgres::{Pool, Purpose, Settings};

/// Askers, each with a row of its own.
const ASKERS: u64 = 6;
/// Every asker asks so often between two changes, at least.
const BETWEEN_CHANGES: u64 = 3;
/// Times that a mutation is sent until it has to be through.
const SENT_MAX: usize = 5;
/// Pause between two changes of a run that is long enough for it.
const PACE: Duration = Duration::from_secs(2);

/// Codes that say that a mutation did not happen.
const NOTHING_HAPPENED: &[&str] = &["CONCURRENT_UPDATE", "SCHEMA_CHANGED", "SOURCE_BUSY", "TIMEOUT"];

/// The reads of the asker with number `n`, and their data.
const READS: &[(&str, &str)] = &[
    (
        "{ author_by_pk(id: $n) { id name motto mood } }",
        r#"{"author_by_pk":{"id":$n,"name":"a$n","motto":"m","mood":"good"}}"#,
    ),
    (
        "{ author(where: {id: {_eq: $n}}, limit: 9) { name books(order_by: {title: asc}) { title author { name } } } }",
        r#"{"author":[{"name":"a$n","books":[{"title":"b$n","author":{"name":"a$n"}},{"title":"c$n","author":{"name":"a$n"}}]}]}"#,
    ),
    (
        "{ book(where: {author: {id: {_eq: $n}}}, order_by: {title: desc}) { title } }",
        r#"{"book":[{"title":"c$n"},{"title":"b$n"}]}"#,
    ),
    (
        "{ book_aggregate(where: {author_id: {_eq: $n}}) { aggregate { count max { title } } } }",
        r#"{"book_aggregate":{"aggregate":{"count":2,"max":{"title":"c$n"}}}}"#,
    ),
    (
        "{ shelf(where: {author_id: {_eq: $n}}, order_by: {title: asc}) { title name } }",
        r#"{"shelf":[{"title":"B$n","name":"a$n"},{"title":"C$n","name":"a$n"}]}"#,
    ),
    (
        "{ event(where: {id: {_eq: $n}}, order_by: {day: asc}) { day note } author_by_pk(id: $n) { books_aggregate { aggregate { count } } } }",
        r#"{"event":[{"day":"2026-03-01","note":"n$n"},{"day":"2026-09-01","note":"n$n"}],"author_by_pk":{"books_aggregate":{"aggregate":{"count":2}}}}"#,
    ),
    (
        r#"query { author(where: {mood: {_eq: "good"}, name: {_like: "a$n"}, rating: {_gt: 0}}) { name } }"#,
        r#"{"author":[{"name":"a$n"}]}"#,
    ),
];

/// The mutations of the asker with number `n`: each adds one to its counter.
const MUTATIONS: &[&str] = &[
    "mutation { update_counter_by_pk(pk_columns: {id: $n}, _inc: {hits: 1}) { hits note } }",
    "mutation { update_counter(where: {id: {_eq: $n}}, _inc: {hits: 1}) { affected_rows } update_event(where: {id: {_eq: $n}}, _set: {note: \"n$n\"}) { returning { day note } } }",
    "mutation { insert_book_one(object: {author_id: $n, title: \"b$n\"}, on_conflict: {constraint: book_author_id_title_key, update_columns: [title]}) { title author { name } } update_counter_by_pk(pk_columns: {id: $n}, _inc: {hits: 1}) { hits } }",
    "mutation { insert_author_one(object: {id: $n, name: \"a$n\", books: {data: {title: \"c$n\"}, on_conflict: {constraint: book_author_id_title_key, update_columns: [title]}}}, on_conflict: {constraint: author_pkey, update_columns: [name]}) { name } update_counter(where: {id: {_eq: $n}}, _inc: {hits: 1}) { returning { hits } } }",
    "mutation { delete_book(where: {author_id: {_eq: $n}, title: {_eq: \"gone\"}}) { affected_rows } insert_event_one(object: {id: $n, day: \"2026-04-01\", note: \"brief\"}) { note } delete_event(where: {id: {_eq: $n}, note: {_eq: \"brief\"}}) { affected_rows } update_counter_by_pk(pk_columns: {id: $n}, _inc: {hits: 1}) { hits } }",
];

/// How long the changes go on, at least once through all of them.
fn duration() -> Duration {
    let seconds =
        std::env::var("WEIR_SOAK_SECONDS").map(|it| it.parse().expect("WEIR_SOAK_SECONDS is a number"));
    Duration::from_secs(seconds.unwrap_or(5))
}

/// The load of a run: its operations and its counters.
struct Soak {
    engine: Engine,
    is_over: AtomicBool,
    /// Rounds of each asker.
    rounds: [AtomicU64; ASKERS as usize],
    /// Mutations that were sent again.
    resent: AtomicU64,
}

impl Soak {
    fn new(engine: Engine) -> Arc<Self> {
        let rounds = [const { AtomicU64::new(0) }; ASKERS as usize];
        Arc::new(Self { engine, is_over: AtomicBool::new(false), rounds, resent: AtomicU64::new(0) })
    }

    async fn ask(&self, query: &str) -> String {
        ask_whole(&self.engine, &Identity::admin(), query).await
    }

    /// Asks until it is over; the number of mutations that were done.
    async fn run(&self, asker: u64) -> u64 {
        let mut done = 0;
        let of_asker = |text: &str| text.replace("$n", &asker.to_string());
        while !self.is_over.load(Ordering::Relaxed) {
            let round = self.rounds[asker as usize].load(Ordering::Relaxed) + asker;
            for (query, expected) in READS {
                let answer = self.ask(&of_asker(query)).await;
                let expected = format!(r#"{{"data":{}}}"#, of_asker(expected));
                assert_eq!(answer, expected, "{query}, after {}", changes::last());
            }
            self.mutate(&of_asker(MUTATIONS[round as usize % MUTATIONS.len()])).await;
            done += 1;
            self.rounds[asker as usize].fetch_add(1, Ordering::Relaxed);
        }
        done
    }

    async fn mutate(&self, mutation: &str) {
        for sent in 0.. {
            let answer = self.ask(mutation).await;
            let json: serde_json::Value = serde_json::from_str(&answer).unwrap();
            let Some(errors) = json.get("errors") else { return };
            let code = errors[0]["extensions"]["code"].as_str().unwrap_or_default();
            let is_told = NOTHING_HAPPENED.contains(&code) && sent < SENT_MAX;
            assert!(is_told, "{mutation}, sent {sent} times again, after {}: {answer}", changes::last());
            self.resent.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until every asker has asked all anew since now, or has failed.
    async fn next_rounds(&self, askers: &[tokio::task::JoinHandle<u64>]) {
        let before = self.rounds.each_ref().map(|it| it.load(Ordering::Relaxed));
        let is_behind = |(at, now): (usize, &AtomicU64)| {
            !askers[at].is_finished() && now.load(Ordering::Relaxed) < before[at] + BETWEEN_CHANGES
        };
        while self.rounds.iter().enumerate().any(is_behind) {
            tokio::task::yield_now().await;
        }
    }
}

/// A subscription to all counters, and its last result.
struct Listener {
    subscription: Subscription,
    last: String,
}

impl Listener {
    /// Takes the next result, which is no error.
    async fn hear(&mut self) {
        let result = self.subscription.next().await.expect("the engine lives");
        self.last = String::from_utf8(result.body.to_vec()).unwrap();
        assert!(!self.last.contains("errors"), "after {}: {}", changes::last(), self.last);
    }

    /// Takes results until `future` is done.
    async fn hear_until<T>(&mut self, future: impl Future<Output = T>) -> T {
        let mut future = std::pin::pin!(future);
        loop {
            tokio::select! {
                done = &mut future => return done,
                () = self.hear() => {}
            }
        }
    }

    /// Waits until the counters are `counts`.
    async fn await_counts(&mut self, counts: &[u64]) {
        let hits: Vec<String> = counts.iter().map(|it| format!(r#"{{"hits":{it}}}"#)).collect();
        let expected = format!(r#"{{"data":{{"counter":[{}]}}}}"#, hits.join(","));
        while self.last != expected {
            tokio::time::timeout(PATIENCE, self.hear()).await.expect("the last result comes");
        }
    }
}

/// Runs the askers while `change` makes one change after the other; each asker's mutations, in order.
async fn soak(soak: &Arc<Soak>, changes: &[&str], mut change: impl AsyncFnMut(&str)) -> Vec<u64> {
    let ask = |asker: u64| {
        let soak = Arc::clone(soak);
        tokio::spawn(async move { soak.run(asker).await })
    };
    let live = LiveQueries::of(&soak.engine, LiveSettings::STANDARD);
    let counters = "subscription { counter(order_by: {id: asc}) { hits } }";
    let subscription = subscribe((&soak.engine, &live), counters, "").await;
    let mut listener = Listener { subscription, last: String::new() };
    let askers: Vec<_> = (0..ASKERS).map(ask).collect();
    let begun = Instant::now();
    let wanted = duration();
    let is_paced = wanted >= PACE * 20;
    let mut made = 0;
    while (made < changes.len() || begun.elapsed() < wanted) && askers.iter().all(|it| !it.is_finished()) {
        let next = changes[made % changes.len()];
        changes::note(next);
        listener.hear_until(change(next)).await;
        made += 1;
        listener.hear_until(soak.next_rounds(&askers)).await;
        if is_paced {
            let pause = tokio::time::sleep_until((begun + PACE * made as u32).into());
            listener.hear_until(pause).await;
        }
    }
    soak.is_over.store(true, Ordering::Relaxed);
    let mut done = Vec::new();
    for asker in askers {
        done.push(asker.await.expect("no read and no mutation fails"));
    }
    listener.await_counts(&done).await;
    let mutations = done.iter().sum::<u64>();
    let resent = soak.resent.load(Ordering::Relaxed);
    println!("{made} changes, {mutations} mutations, {resent} sent again");
    done
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(3).enable_all().build().unwrap()
}

/// A change by a session of its own: again, where it waited for what waits for it.
async fn change_postgres(pool: &Pool, sql: &str) {
    loop {
        let mut session = pool.session(Purpose::Write, soon()).await.unwrap();
        session.push(&Statement::new(sql, [], [Format::Text; 0], [], None), &Parameters::new());
        match session.flush(soon()).await {
            Ok(_) => return,
            Err(Error::Database { error, .. }) if &error.sqlstate == b"40P01" => {}
            Err(error) => panic!("{sql}: {error}"),
        }
    }
}

fn hits(database: &Database) -> Vec<u64> {
    let hits = database.run("SELECT hits FROM counter ORDER BY id");
    hits.lines().map(|it| it.parse().unwrap()).collect()
}

fn soak_postgres(tune: impl FnOnce(&mut Settings)) {
    let runtime = runtime();
    let database = postgres_kit::database(&[changes::POSTGRES_TABLES, changes::ROWS].concat());
    let served = runtime.block_on(hasura_kit::serve_with(database, &["public"], tune));
    let mut settings = Settings::parse(&served.database.socket_url(), |_| None).unwrap();
    settings.limits.session_lock_timeout = Duration::ZERO;
    let pool = Pool::new(settings);
    let soaked = Soak::new(served.engine);
    let change = async |sql: &str| change_postgres(&pool, sql).await;
    let done = runtime.block_on(soak(&soaked, changes::OF_POSTGRES, change));
    assert_eq!(hits(&served.database), done);
}

#[test]
fn every_change_of_postgresql_under_load() {
    on_one_release("every_change_of_postgresql_under_load", || soak_postgres(|_| {}));
}

#[test]
fn every_change_of_postgresql_under_load_with_shared_commits() {
    on_one_release("every_change_of_postgresql_under_load_with_shared_commits", || {
        soak_postgres(|it| it.batch_mutations = true);
    });
}

#[test]
fn every_change_of_sqlite_under_load() {
    let runtime = runtime();
    let model = ModelOptions { relationship_names: RelationshipNames::Short, ..ModelOptions::default() };
    let served = kit::serve_as(&[changes::SQLITE_TABLES, changes::ROWS].concat(), model, &[]);
    let kit::Served { source, beside, .. } = &served;
    beside.busy_timeout(Duration::from_secs(60)).unwrap();
    let soaked = Soak::new(kit::engine(source, 256 << 10, &[]));
    let change = async |sql: &str| {
        tokio::task::block_in_place(|| beside.execute_batch(sql))
            .unwrap_or_else(|error| panic!("{sql}: {error}"));
    };
    let done = runtime.block_on(soak(&soaked, changes::OF_SQLITE, change));
    assert_eq!(
        served.plain("SELECT json_group_array(hits) FROM (SELECT hits FROM counter ORDER BY id)"),
        serde_json::json!(done)
    );
}
