//! Live queries against a model: random changes through Weir and behind its back, subscribers that come and go, streams and servers that fail.
//!
//! The model is the list of the states of the database, one for each commit, with the answer to each watched query in it. A subscriber's
//! results must be answers in states that do not go back, from the state at its beginning on; none may come twice in a row, and the
//! last is the answer now. A stream of a journal, some of whose rows are committed late, has each row once and in order.

mod watchers;

use self::watchers::{Follower, Results, Subscriber};
use crate::answer_kit::whole;
use crate::cluster_kit::Cluster;
use crate::hasura_kit::engine_settings;
use crate::kit;
use crate::live::PATIENCE;
use crate::postgres_kit::release::{on_each_release, wait};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::compose::Graph;
use weir_engine::engine::{Engine, Request};
use weir_engine::live::{LiveQueries, LiveSettings};
use weir_engine::source::Source;
use weir_hasura::model::ModelOptions;
use weir_hasura::open::{PostgresOptions, open_postgres};
use weir_postgres::{Format, Parameters, Pool, Purpose, Session, Statement};

const TABLES: &str = "CREATE TABLE harbour (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE boat (id INTEGER PRIMARY KEY, harbour_id INTEGER NOT NULL CONSTRAINT boat_of REFERENCES harbour (id) ON DELETE CASCADE, name TEXT NOT NULL);
    CREATE TABLE journal (id INTEGER PRIMARY KEY, note TEXT NOT NULL);
    INSERT INTO harbour VALUES (1, 'Cove'), (2, 'Bay'), (9, 'Far');
    INSERT INTO boat VALUES (1, 1, 'n0'), (2, 1, 'n0'), (3, 2, 'n0')";

/// The stream of the journal.
const FOLLOWED: &str =
    "subscription { journal_stream(batch_size: 3, cursor: {initial_value: {id: 0}}) { id } }";

/// The queries that are watched: one row, a list, two tables, an aggregate.
const WATCHED: [&str; 4] = [
    "subscription { boat_by_pk(id: 1) { name harbour_id } }",
    "subscription { boat(where: {harbour_id: {_eq: 1}}, order_by: {id: asc}) { id name } }",
    "subscription { harbour(order_by: {id: asc}) { name harbour_boats(order_by: {id: asc}) { name } } }",
    "subscription { boat_aggregate { aggregate { count } } }",
];

/// The rows of the database.
#[derive(Clone, Debug)]
struct State {
    harbours: BTreeMap<u32, &'static str>,
    /// Harbour and name.
    boats: BTreeMap<u32, (u32, String)>,
}

impl State {
    fn first() -> Self {
        let boats = [(1, 1), (2, 1), (3, 2)].map(|(id, harbour)| (id, (harbour, "n0".to_owned())));
        Self { harbours: [(1, "Cove"), (2, "Bay"), (9, "Far")].into(), boats: boats.into() }
    }

    /// The answers to the watched queries.
    fn answers(&self) -> [String; 4] {
        let one = self.boats.get(&1).map_or("null".to_owned(), |(harbour, name)| {
            format!(r#"{{"name":"{name}","harbour_id":{harbour}}}"#)
        });
        let there = self.boats.iter().filter(|it| it.1.0 == 1);
        let list: Vec<String> = there.map(|(id, it)| format!(r#"{{"id":{id},"name":"{}"}}"#, it.1)).collect();
        let both: Vec<String> = self.harbours.iter().map(|it| self.harbour(it)).collect();
        let count = self.boats.len();
        [
            format!(r#"{{"data":{{"boat_by_pk":{one}}}}}"#),
            format!(r#"{{"data":{{"boat":[{}]}}}}"#, list.join(",")),
            format!(r#"{{"data":{{"harbour":[{}]}}}}"#, both.join(",")),
            format!(r#"{{"data":{{"boat_aggregate":{{"aggregate":{{"count":{count}}}}}}}}}"#),
        ]
    }
}

impl State {
    /// A harbour with the names of its boats.
    fn harbour(&self, (id, name): (&u32, &&str)) -> String {
        let there = self.boats.values().filter(|it| it.0 == *id);
        let names: Vec<String> = there.map(|it| format!(r#"{{"name":"{}"}}"#, it.1)).collect();
        format!(r#"{{"name":"{name}","harbour_boats":[{}]}}"#, names.join(","))
    }
}

/// Author of a change.
#[derive(Clone, Copy, Debug)]
enum By {
    Weir,
    Others,
}

/// One step.
#[derive(Clone, Debug)]
enum Act {
    Rename(By, u32, u8),
    RenameAll(By, u8),
    Move(By, u32),
    Add(By, u32),
    Remove(By, u32),
    RemoveHarbour(By, u32),
    AddHarbour(By, u32),
    Empty,
    /// A row of the journal, with the next number.
    Note(By),
    /// A stream of the journal begins.
    Follow,
    /// A transaction of others that ends later. It has taken its number of the journal.
    Begin(u32),
    End(bool),
    Subscribe(usize),
    Leave(usize),
    /// The stream of changes breaks.
    KillStream,
    LosePublication,
    Restart,
}

fn act() -> impl Strategy<Value = Act> {
    let by = || prop_oneof![Just(By::Weir), Just(By::Others)];
    prop_oneof![
        6 => (by(), 1..6_u32, any::<u8>()).prop_map(|(by, id, name)| Act::Rename(by, id, name)),
        1 => (by(), any::<u8>()).prop_map(|(by, name)| Act::RenameAll(by, name)),
        2 => (by(), 1..6_u32).prop_map(|(by, id)| Act::Move(by, id)),
        4 => (by(), 1..6_u32).prop_map(|(by, id)| Act::Add(by, id)),
        2 => (by(), 1..6_u32).prop_map(|(by, id)| Act::Remove(by, id)),
        1 => (by(), 1..3_u32).prop_map(|(by, id)| Act::RemoveHarbour(by, id)),
        2 => (by(), 1..3_u32).prop_map(|(by, id)| Act::AddHarbour(by, id)),
        1 => Just(Act::Empty),
        4 => by().prop_map(Act::Note),
        1 => Just(Act::Follow),
        2 => (20..30_u32).prop_map(Act::Begin),
        2 => any::<bool>().prop_map(Act::End),
        4 => (0..WATCHED.len()).prop_map(Act::Subscribe),
        2 => (0..8_usize).prop_map(Act::Leave),
        1 => Just(Act::KillStream),
        1 => Just(Act::LosePublication),
    ]
}

/// The database under test.
enum Store {
    Sqlite(Box<kit::Served>),
    Postgres { cluster: Cluster, database: String, engine: Box<Engine>, open: Option<Box<Session>> },
}

impl Store {
    fn engine(&self) -> &Engine {
        match self {
            Self::Sqlite(served) => &served.engine,
            Self::Postgres { engine, .. } => engine,
        }
    }

    /// Runs a statement behind Weir's back.
    fn beside(&self, sql: &str) {
        match self {
            Self::Sqlite(served) => {
                served.beside.execute_batch(&format!("PRAGMA foreign_keys = ON; {sql}")).unwrap()
            }
            Self::Postgres { cluster, database, .. } => drop(cluster.sql_in(database, sql)),
        }
    }

    /// Runs a mutation. A server that just came back may refuse it, and then nothing happened.
    async fn mutate(&self, mutation: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let request = Request::new(mutation, deadline);
            let engine = self.engine();
            let body = whole(engine.execute(request, &engine.caller(&Identity::admin())).await.body);
            if !body.contains("\"errors\"") {
                return;
            }
            assert!(body.contains("SOURCE_UNAVAILABLE") && Instant::now() < deadline, "{mutation}: {body}");
        }
    }

    async fn write(&self, by: By, mutation: &str, sql: &str) {
        match by {
            By::Weir => self.mutate(&format!("mutation {{ {mutation} }}")).await,
            By::Others => self.beside(sql),
        }
    }

    /// A fault of the stream, or of the server.
    fn fail(&mut self, act: &Act) {
        let Self::Postgres { cluster, database, open, .. } = self else { return };
        match act {
            Act::KillStream => drop(cluster.sql_in(
                database,
                "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active",
            )),
            Act::LosePublication => {
                let names = cluster.sql_in(database, "SELECT pubname FROM pg_publication");
                names.lines().for_each(|it| {
                    drop(cluster.sql_in(database, &format!("DROP PUBLICATION IF EXISTS {it}")))
                });
            }
            Act::Restart => {
                *open = None;
                cluster.stop();
                cluster.start();
            }
            _ => {}
        }
    }

    /// Begins a transaction that adds a boat and a row of the journal, and stays open. False if there is none.
    async fn begin(&mut self, id: u32, number: u32) -> bool {
        let Self::Postgres { cluster, database, open, .. } = self else { return false };
        if open.is_some() {
            return false;
        }
        let pool = Pool::new(cluster.settings("postgres", &format!("dbname={database}")));
        let mut session = pool.session(Purpose::Write, Instant::now() + PATIENCE).await.unwrap();
        run(&mut session, "BEGIN").await;
        run(&mut session, &format!("INSERT INTO boat VALUES ({id}, 9, 'late')")).await;
        run(&mut session, &format!("INSERT INTO journal VALUES ({number}, 'late')")).await;
        *open = Some(Box::new(session));
        true
    }

    async fn end(&mut self, commits: bool) {
        let Self::Postgres { open, .. } = self else { return };
        if let Some(mut session) = open.take() {
            run(&mut session, if commits { "COMMIT" } else { "ROLLBACK" }).await;
        }
    }
}

async fn run(session: &mut Session, sql: &str) {
    session.push(&Statement::new(sql, [], [Format::Text], [], None), &Parameters::new());
    session.flush(Instant::now() + PATIENCE).await.unwrap();
}

/// The states, and who watches them.
struct Model {
    states: Arc<Mutex<Vec<[String; 4]>>>,
    now: State,
    /// The boat and the number of the transaction that is open.
    open: Option<(u32, u32)>,
    /// The numbers in the journal, and the last that was taken.
    journal: Vec<u32>,
    number: u32,
    subscribers: Vec<Subscriber>,
    gone: Vec<Subscriber>,
    followers: Vec<Follower>,
}

impl Model {
    fn new() -> Self {
        let now = State::first();
        let states = Arc::new(Mutex::new(vec![now.answers()]));
        let subscribers = Vec::new();
        let gone = Vec::new();
        let followers = Vec::new();
        Self { states, now, open: None, journal: Vec::new(), number: 0, subscribers, gone, followers }
    }

    /// Makes a change: the state is noted before, as its result may be read at once.
    async fn write(
        &mut self,
        store: &Store,
        by: By,
        mutation: &str,
        sql: &str,
        change: impl FnOnce(&mut State),
    ) {
        change(&mut self.now);
        self.states.lock().unwrap().push(self.now.answers());
        store.write(by, mutation, sql).await;
    }

    async fn make(&mut self, store: &mut Store, live: &LiveQueries, act: &Act) {
        match *act {
            Act::Begin(id) => {
                if !self.now.boats.contains_key(&id) && store.begin(id, self.number + 1).await {
                    self.number += 1;
                    self.open = Some((id, self.number));
                }
            }
            Act::End(commits) => self.end(store, commits).await,
            Act::Note(by) => self.note(store, by).await,
            Act::Follow => self.follow(store, live).await,
            Act::Subscribe(query) => self.subscribe(store, live, query).await,
            Act::Leave(at) if at < self.subscribers.len() => {
                let subscriber = self.subscribers.swap_remove(at);
                subscriber.task.abort();
                self.gone.push(subscriber);
            }
            Act::KillStream | Act::LosePublication => store.fail(act),
            Act::Restart => {
                self.open = None;
                store.fail(act);
            }
            Act::Leave(_) => {}
            Act::Rename(..) | Act::RenameAll(..) | Act::Move(..) => self.update(store, act).await,
            Act::Add(by, id) => self.add(store, by, id).await,
            Act::Remove(..) | Act::RemoveHarbour(..) | Act::AddHarbour(..) | Act::Empty => {
                self.add_or_remove(store, act).await;
            }
        }
    }

    async fn update(&mut self, store: &Store, act: &Act) {
        match *act {
            Act::Rename(by, id, name) => {
                let mutation = format!(
                    r#"update_boat_by_pk(pk_columns: {{id: {id}}}, _set: {{name: "n{name}"}}) {{ id }}"#
                );
                let sql = format!("UPDATE boat SET name = 'n{name}' WHERE id = {id}");
                let change = |it: &mut State| {
                    it.boats.entry(id).and_modify(|it| it.1 = format!("n{name}"));
                };
                self.write(store, by, &mutation, &sql, change).await;
            }
            Act::RenameAll(by, name) => {
                let mutation = format!(
                    r#"update_boat(where: {{id: {{_lt: 20}}}}, _set: {{name: "n{name}"}}) {{ affected_rows }}"#
                );
                let sql = format!("UPDATE boat SET name = 'n{name}' WHERE id < 20");
                let change = |it: &mut State| {
                    it.boats.range_mut(..20).for_each(|it| it.1.1 = format!("n{name}"));
                };
                self.write(store, by, &mutation, &sql, change).await;
            }
            Act::Move(by, id) => {
                let mutation =
                    format!("update_boat_by_pk(pk_columns: {{id: {id}}}, _set: {{harbour_id: 9}}) {{ id }}");
                let sql = format!("UPDATE boat SET harbour_id = 9 WHERE id = {id}");
                let change = |it: &mut State| {
                    it.boats.entry(id).and_modify(|it| it.0 = 9);
                };
                self.write(store, by, &mutation, &sql, change).await;
            }
            _ => {}
        }
    }

    async fn add_or_remove(&mut self, store: &Store, act: &Act) {
        match *act {
            Act::Remove(by, id) => {
                let mutation = format!("delete_boat_by_pk(id: {id}) {{ id }}");
                let sql = format!("DELETE FROM boat WHERE id = {id}");
                self.write(store, by, &mutation, &sql, |it| drop(it.boats.remove(&id))).await;
            }
            Act::RemoveHarbour(by, id) => {
                let mutation = format!("delete_harbour_by_pk(id: {id}) {{ id }}");
                let sql = format!("DELETE FROM harbour WHERE id = {id}");
                let change = |it: &mut State| {
                    it.harbours.remove(&id);
                    it.boats.retain(|_, boat| boat.0 != id);
                };
                self.write(store, by, &mutation, &sql, change).await;
            }
            Act::AddHarbour(by, id) if !self.now.harbours.contains_key(&id) => {
                let name = if id == 1 { "Cove" } else { "Bay" };
                let mutation =
                    format!(r#"insert_harbour_one(object: {{id: {id}, name: "{name}"}}) {{ id }}"#);
                let sql = format!("INSERT INTO harbour VALUES ({id}, '{name}')");
                self.write(store, by, &mutation, &sql, |it| _ = it.harbours.insert(id, name)).await;
            }
            Act::Empty if self.open.is_none() => {
                let sql = match store {
                    Store::Sqlite(_) => "DELETE FROM boat",
                    Store::Postgres { .. } => "TRUNCATE boat",
                };
                self.write(store, By::Others, "", sql, |it| it.boats.clear()).await;
            }
            _ => {}
        }
    }

    async fn add(&mut self, store: &Store, by: By, id: u32) {
        let harbour = if id < 4 { 1 } else { 2 };
        if self.now.boats.contains_key(&id) || !self.now.harbours.contains_key(&harbour) {
            return;
        }
        let mutation =
            format!(r#"insert_boat_one(object: {{id: {id}, harbour_id: {harbour}, name: "n"}}) {{ id }}"#);
        let sql = format!("INSERT INTO boat VALUES ({id}, {harbour}, 'n')");
        self.write(store, by, &mutation, &sql, |it| drop(it.boats.insert(id, (harbour, "n".into())))).await;
    }

    async fn end(&mut self, store: &mut Store, commits: bool) {
        if let Some((id, number)) = self.open.take() {
            if commits {
                self.journal.push(number);
                self.now.boats.insert(id, (9, "late".into()));
                self.states.lock().unwrap().push(self.now.answers());
            }
            store.end(commits).await;
        }
    }

    async fn note(&mut self, store: &Store, by: By) {
        self.number += 1;
        self.journal.push(self.number);
        let number = self.number;
        let mutation = format!(r#"insert_journal_one(object: {{id: {number}, note: "n"}}) {{ id }}"#);
        store.write(by, &mutation, &format!("INSERT INTO journal VALUES ({number}, 'n')")).await;
    }

    async fn follow(&mut self, store: &Store, live: &LiveQueries) {
        let engine = store.engine();
        let caller = engine.caller(&Identity::admin());
        let bound = engine.bind(Request::new(FOLLOWED, Instant::now() + PATIENCE), &caller).await.unwrap();
        let told: Arc<Mutex<Vec<u32>>> = Arc::default();
        let noted = Arc::clone(&told);
        let mut subscription = live.subscribe(bound).unwrap();
        let task = tokio::spawn(async move {
            while let Some(result) = subscription.next().await {
                let body: serde_json::Value = serde_json::from_slice(&result.body).unwrap();
                let rows = body["data"]["journal_stream"].as_array().cloned().unwrap_or_default();
                noted.lock().unwrap().extend(rows.iter().map(|it| it["id"].as_u64().unwrap() as u32));
            }
        });
        self.followers.push(Follower { told, task });
    }

    /// Waits until each stream has told the whole journal, and checks that it told each row once and in order.
    async fn check_streams(&mut self) {
        self.journal.sort_unstable();
        let deadline = Instant::now() + PATIENCE;
        for it in &self.followers {
            while it.told.lock().unwrap().len() < self.journal.len() && Instant::now() < deadline {
                tokio::task::yield_now().await;
            }
            assert_eq!(*it.told.lock().unwrap(), self.journal);
            it.task.abort();
        }
    }

    async fn subscribe(&mut self, store: &Store, live: &LiveQueries, query: usize) {
        let engine = store.engine();
        let caller = engine.caller(&Identity::admin());
        let bound =
            engine.bind(Request::new(WATCHED[query], Instant::now() + PATIENCE), &caller).await.unwrap();
        let results = Results::default();
        let noted = Arc::clone(&results);
        let states = Arc::clone(&self.states);
        let from = states.lock().unwrap().len() - 1;
        let mut subscription = live.subscribe(bound).unwrap();
        let task = tokio::spawn(async move {
            while let Some(result) = subscription.next().await {
                let body = String::from_utf8(result.body.to_vec()).unwrap();
                let states = states.lock().unwrap().len();
                noted.lock().unwrap().push((body, states));
            }
        });
        self.subscribers.push(Subscriber { query, from, results, task });
    }

    /// Waits until each subscriber has the answer now, and checks all that they were given.
    async fn check(self) {
        let states = self.states.lock().unwrap().clone();
        let deadline = Instant::now() + PATIENCE;
        for it in &self.subscribers {
            let now = &states[states.len() - 1][it.query];
            loop {
                let last = it.results.lock().unwrap().last().cloned();
                if last.as_ref().is_some_and(|last| last.0 == *now) {
                    break;
                }
                assert!(Instant::now() < deadline, "{}: {last:?} is not {now}", WATCHED[it.query]);
                tokio::task::yield_now().await;
            }
        }
        for it in self.subscribers.iter().chain(&self.gone) {
            it.task.abort();
            it.check_order(&states);
        }
    }
}

async fn play(store: &mut Store, settings: LiveSettings, acts: &[Act]) {
    let live = LiveQueries::of(store.engine(), settings);
    let mut model = Model::new();
    for query in 0..WATCHED.len() {
        model.subscribe(store, &live, query).await;
    }
    model.follow(store, &live).await;
    for act in acts {
        model.make(store, &live, act).await;
    }
    model.end(store, true).await;
    model.check_streams().await;
    model.check().await;
}

fn played(mut store: Store, settings: LiveSettings, acts: &[Act]) -> Store {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(play(&mut store, settings, acts));
    store
}

const FAST: LiveSettings = LiveSettings { floor: Duration::from_millis(1), ..LiveSettings::STANDARD };

#[test]
fn results_over_sqlite_are_answers_in_order_and_the_last_is_the_answer_now() {
    let config = Config { cases: 24, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let acts = proptest::collection::vec(act(), 10..60);
    TestRunner::new(config)
        .run(&acts, |acts| {
            drop(played(Store::Sqlite(Box::new(kit::serve(TABLES))), FAST, &acts));
            Ok(())
        })
        .unwrap();
}

/// Serves a new database of the cluster.
fn postgres(cluster: Cluster, database: String) -> Store {
    cluster.sql(&format!("CREATE DATABASE {database}"));
    cluster.sql_in(&database, TABLES);
    let settings = cluster.settings("postgres", &format!("dbname={database}"));
    let options =
        PostgresOptions { model: ModelOptions::default(), schemas: &["public".to_owned()], stringify: false };
    let opened = wait(open_postgres("main", settings, options, PATIENCE)).unwrap().0;
    let graph = Graph::compose(vec![Arc::new(opened) as Arc<dyn Source>], &[]).unwrap();
    Store::Postgres {
        cluster,
        database,
        engine: Box::new(Engine::new(graph, engine_settings(256 << 10))),
        open: None,
    }
}

/// Plays random acts over a cluster with these settings; of one case, the server is restarted in the middle.
fn over_postgres(configuration: &str, settings: LiveSettings, restarts: bool) {
    let mut cluster = Cluster::new();
    let path = cluster.folder.join("data/postgresql.conf");
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    std::io::Write::write_all(&mut file, configuration.as_bytes()).unwrap();
    cluster.start();
    let cases = Mutex::new((Some(cluster), 0));
    let config = Config { cases: 8, failure_persistence: None, max_shrink_iters: 0, ..Config::default() };
    let acts = proptest::collection::vec(act(), 10..60);
    TestRunner::new(config)
        .run(&acts, |mut acts| {
            let mut cases = cases.lock().unwrap();
            cases.1 += 1;
            if restarts && cases.1 % 3 == 0 {
                acts.insert(acts.len() / 2, Act::Restart);
            }
            let store = postgres(cases.0.take().unwrap(), format!("case_{}", cases.1));
            let Store::Postgres { cluster, .. } = played(store, settings, &acts) else {
                panic!("it is PostgreSQL")
            };
            cases.0 = Some(cluster);
            Ok(())
        })
        .unwrap();
}

fn results_over_a_postgresql_that_tells_are_in_order() {
    let never = LiveSettings { poll: Duration::from_secs(3600), ..FAST };
    over_postgres("wal_level = logical\nmax_replication_slots = 30\nmax_wal_senders = 30\n", never, true);
}

fn results_over_a_postgresql_that_is_polled_are_in_order() {
    over_postgres("", LiveSettings { poll: Duration::from_millis(50), ..FAST }, false);
}

on_each_release! { results_over_a_postgresql_that_tells_are_in_order, results_over_a_postgresql_that_is_polled_are_in_order }
