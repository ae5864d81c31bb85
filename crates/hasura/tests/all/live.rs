//! Live queries over both databases: what wakes them, what does not, and that the last result is the answer now.

use crate::answer_kit::whole;
use crate::hasura_kit::serve as serve_postgres;
use crate::kit::{Served, serve};
use crate::postgres_kit::database;
use crate::postgres_kit::release::on_each_release;
use proptest::prelude::*;
use std::time::{Duration, Instant};
use tokio::time::timeout;
use weir_engine::caller::Identity;
use weir_engine::engine::{Engine, Request};
use weir_engine::live::{Cause, Changed, LiveQueries, LiveSettings, Subscription};
use weir_language::json::{Json, JsonRef};

pub(crate) const TABLES: &str = "CREATE TABLE harbour (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE boat (id INTEGER PRIMARY KEY, harbour_id INTEGER NOT NULL REFERENCES harbour (id) ON DELETE CASCADE, name TEXT NOT NULL);
    INSERT INTO harbour VALUES (1, 'Cove'), (2, 'Bay');
    INSERT INTO boat VALUES (1, 1, 'Ada'), (2, 1, 'Bel'), (3, 2, 'Cyd')";
pub(crate) const BY_KEY: &str = "subscription ($id: Int!) { boat_by_pk(id: $id) { name } }";

/// Longest wait for a result that has to come; a busy machine needs a part of it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) async fn subscribe(
    (engine, live): (&Engine, &LiveQueries),
    query: &str,
    variables: &str,
) -> Subscription {
    let json = (!variables.is_empty()).then(|| Json::parse(variables.as_bytes(), 100).unwrap());
    let variables = json.as_ref().map(|json| JsonRef { json, at: 0 });
    let request = Request { variables, ..Request::new(query, Instant::now() + PATIENCE) };
    let caller = engine.caller(&Identity::admin());
    let bound = engine.bind(request, &caller).await.unwrap_or_else(|it| panic!("{:?}", it.body));
    live.subscribe(bound).unwrap()
}

pub(crate) async fn change(engine: &Engine, mutation: &str) {
    let request = Request::new(mutation, Instant::now() + PATIENCE);
    let made = engine.execute(request, &engine.caller(&Identity::admin())).await;
    assert!(
        made.execution().operation.is_none() && !made.execution().has_errors,
        "{mutation}: {:?}",
        made.body
    );
}

/// The data of the next result, and its cause.
pub(crate) async fn next(subscription: &mut Subscription) -> (String, Cause) {
    let result =
        timeout(PATIENCE, subscription.next()).await.expect("a result comes").expect("the engine lives");
    (String::from_utf8(result.body.to_vec()).unwrap(), result.cause.clone())
}

/// Runs `test` on a runtime of its own.
fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

pub(crate) fn name(name: &str) -> String {
    format!(r#"{{"data":{{"boat_by_pk":{{"name":"{name}"}}}}}}"#)
}

pub(crate) fn rename(id: u32, name: &str) -> String {
    format!(
        r#"mutation {{ update_boat_by_pk(pk_columns: {{id: {id}}}, _set: {{name: "{name}"}}) {{ id }} }}"#
    )
}

#[test]
fn a_subscription_by_key_wakes_for_its_key_alone() {
    let served = serve(TABLES);
    run(async {
        let engine = &served.engine;
        let live = &LiveQueries::of(engine, LiveSettings::STANDARD);
        let mut one = subscribe((engine, live), BY_KEY, r#"{"id": 1}"#).await;
        let mut two = subscribe((engine, live), BY_KEY, r#"{"id": 2}"#).await;
        assert_eq!(next(&mut one).await, (name("Ada"), Cause::First));
        assert_eq!(next(&mut two).await, (name("Bel"), Cause::First));
        settled(live).await;
        let reads = live.state().reads;
        change(engine, &rename(2, "Bea")).await;
        let row = Changed::Row { tag: "main.boat".into(), key: vec!["2".into()] };
        assert_eq!(next(&mut two).await, (name("Bea"), row.into()));
        assert_eq!(live.state().reads, reads + 1, "the other was not read");
        change(engine, "mutation { delete_boat_by_pk(id: 1) { id } }").await;
        assert_eq!(next(&mut one).await.0, r#"{"data":{"boat_by_pk":null}}"#);
        assert_eq!(live.state().reads, reads + 2);
        // A cascade reaches rows that nobody named.
        change(engine, "mutation { delete_harbour(where: {}) { affected_rows } }").await;
        assert_eq!(next(&mut two).await.0, r#"{"data":{"boat_by_pk":null}}"#);
    });
}

/// Waits until the feed of the database tells of every change, which is one more read of each operation that was read before. A feed that was quicker
/// brings none, so the wait has an end.
async fn settled(live: &LiveQueries) {
    let operations = live.state().operations as u64;
    let begun = Instant::now();
    while live.state().reads < 2 * operations && begun.elapsed() < Duration::from_secs(5) {
        tokio::task::yield_now().await;
    }
}

#[test]
fn equal_subscriptions_are_one_read_and_each_gets_what_it_has_not() {
    let served = serve(TABLES);
    run(async {
        let engine = &served.engine;
        let live = &LiveQueries::of(engine, LiveSettings::STANDARD);
        let query = "subscription { boat(order_by: {id: asc}) { name } }";
        let mut one = subscribe((engine, live), query, "").await;
        let mut two = subscribe((engine, live), query, "").await;
        let first = next(&mut one).await.0;
        assert_eq!(next(&mut two).await.0, first);
        assert_eq!((live.state().subscriptions, live.state().operations), (2, 1));
        change(engine, &rename(1, "Eve")).await;
        let second = next(&mut one).await.0;
        assert!(second.contains("Eve"), "{second}");
        change(engine, &rename(1, "Ada")).await;
        // The slow one finds the newest; it equals the one it was given, so there is nothing to tell.
        assert_eq!(next(&mut one).await.0, first);
        change(engine, &rename(3, "Zoe")).await;
        assert!(next(&mut two).await.0.contains("Zoe"));
        drop((one, two));
        assert_eq!((live.state().subscriptions, live.state().operations), (0, 0));
    });
}

#[test]
fn a_program_beside_that_changes_the_file_is_seen() {
    let served = serve(TABLES);
    run(async {
        let live = LiveQueries::of(&served.engine, LiveSettings::STANDARD);
        let mut boats =
            subscribe((&served.engine, &live), "subscription { boat_aggregate { aggregate { count } } }", "")
                .await;
        let count =
            |count: u32| format!(r#"{{"data":{{"boat_aggregate":{{"aggregate":{{"count":{count}}}}}}}}}"#);
        assert_eq!(next(&mut boats).await.0, count(3));
        let beside = Cause::from(Changed::Source("main".into()));
        for more in 4..7 {
            served.beside.execute("INSERT INTO boat VALUES (?1, 1, 'x')", [more]).unwrap();
            assert_eq!(next(&mut boats).await, (count(more), beside.clone()));
        }
    });
}

#[test]
fn mutations_and_mistakes_are_no_subscriptions() {
    let served = serve(TABLES);
    run(async {
        let engine = &served.engine;
        let live = &LiveQueries::of(engine, LiveSettings::STANDARD);
        let caller = engine.caller(&Identity::admin());
        let bind = |query| engine.bind(Request::new(query, Instant::now() + PATIENCE), &caller);
        let bound = bind("mutation { delete_boat(where: {}) { affected_rows } }").await.unwrap();
        assert!(live.subscribe(bound).is_err());
        for (query, words) in [
            ("subscription { boat { id } harbour { id } }", "must select only one top level field"),
            ("subscription { boats { id } }", "boats"),
        ] {
            let refused = bind(query).await.unwrap_err();
            assert!(whole(refused.body).contains(words), "{query}");
        }
        // With one answer there is no room for the second result.
        let made =
            engine.execute(Request::new("subscription { boat { id } }", Instant::now() + PATIENCE), &caller);
        assert!(whole(made.await.body).contains("SUBSCRIPTIONS_UNSUPPORTED"));
        // A query may be live, and be run again.
        let bound = bind("{ harbour_by_pk(id: 1) { name } }").await.unwrap();
        let once = engine.run(&bound, Instant::now() + PATIENCE).await;
        assert_eq!(whole(once.body), r#"{"data":{"harbour_by_pk":{"name":"Cove"}}}"#);
        assert!(live.subscribe(bound).is_ok());
    });
}

async fn postgresql_is_read_at_intervals_and_at_our_own_changes() {
    let served = serve_postgres(database(TABLES)).await;
    let live = LiveQueries::of(&served.engine, LiveSettings::STANDARD);
    let mut boat = subscribe((&served.engine, &live), BY_KEY, r#"{"id": 3}"#).await;
    assert_eq!(next(&mut boat).await.0, name("Cyd"));
    change(&served.engine, &rename(3, "Dot")).await;
    assert_eq!(next(&mut boat).await.0, name("Dot"));
    served.database.run("UPDATE boat SET name = 'Eve' WHERE id = 3");
    assert_eq!(next(&mut boat).await, (name("Eve"), Cause::Poll));
}

/// One change of the random test.
#[derive(Clone, Debug)]
enum Act {
    Rename(u32, u8),
    Add(u32),
    Remove(u32),
    RemoveHarbour(u32),
    Beside(u32, u8),
    /// Leaves a subscription and makes one.
    Resubscribe(usize),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        (1..5u32, any::<u8>()).prop_map(|(id, name)| Act::Rename(id, name)),
        (4..6u32).prop_map(Act::Add),
        (1..6u32).prop_map(Act::Remove),
        (1..3u32).prop_map(Act::RemoveHarbour),
        (1..5u32, any::<u8>()).prop_map(|(id, name)| Act::Beside(id, name)),
        (0..4usize).prop_map(Act::Resubscribe),
    ]
}

const WATCHED: [&str; 4] = [
    "subscription { boat_by_pk(id: 1) { name harbour_id } }",
    "subscription { boat(where: {harbour_id: {_eq: 1}}, order_by: {id: asc}) { id name } }",
    "subscription { harbour(order_by: {id: asc}) { name harbour_boats(order_by: {id: asc}) { name } } }",
    "subscription { boat_aggregate { aggregate { count } } }",
];

/// Makes one change.
async fn make(served: &Served, act: &Act) {
    match act {
        Act::Rename(id, to) => change(&served.engine, &rename(*id, &to.to_string())).await,
        Act::Add(id) => {
            let mutation = format!(
                "mutation {{ insert_boat(objects: [{{id: {id}, harbour_id: 1, name: \"n\"}}], on_conflict: {{constraint: boat_pkey, \
                 update_columns: []}}) {{ affected_rows }} }}"
            );
            let harbours = served.plain("SELECT json(count(*)) FROM harbour WHERE id = 1");
            if harbours == 1 {
                change(&served.engine, &mutation).await;
            }
        }
        Act::Remove(id) => {
            change(&served.engine, &format!("mutation {{ delete_boat_by_pk(id: {id}) {{ id }} }}")).await;
        }
        Act::RemoveHarbour(id) => {
            change(&served.engine, &format!("mutation {{ delete_harbour_by_pk(id: {id}) {{ id }} }}")).await;
        }
        Act::Beside(id, to) => {
            served.beside.execute("UPDATE boat SET name = ?2 WHERE id = ?1", (id, to.to_string())).unwrap();
        }
        Act::Resubscribe(_) => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn the_last_result_is_the_answer_now(acts in proptest::collection::vec(act(), 1..12)) {
        let served = serve(&TABLES.replace("REFERENCES", "CONSTRAINT boat_of REFERENCES"));
        run(async {
            let queries = LiveQueries::of(&served.engine, LiveSettings::STANDARD);
            let asked = (&served.engine, &queries);
            let mut live = Vec::new();
            for query in WATCHED {
                live.push(subscribe(asked, query, "").await);
            }
            let mut last = vec![String::new(); WATCHED.len()];
            for act in &acts {
                if let Act::Resubscribe(at) = act {
                    live[*at] = subscribe(asked, WATCHED[*at], "").await;
                    last[*at].clear();
                }
                make(&served, act).await;
            }
            for (at, query) in WATCHED.iter().enumerate() {
                let now = served.engine.execute(Request::new(query.trim_start_matches("subscription"), Instant::now() + PATIENCE),
                    &served.engine.caller(&Identity::admin())).await;
                let now = whole(now.body);
                while last[at] != now {
                    let told = next(&mut live[at]).await.0;
                    assert_ne!(told, last[at], "no result twice in a row");
                    last[at] = told;
                }
            }
        });
    }
}

on_each_release! {
    async
    postgresql_is_read_at_intervals_and_at_our_own_changes,
}
