//! Queries of a source that nobody tells about: their place under the graph's root of subscriptions, and what is planned for them.

use crate::kit::{Documents, answer, engine_of, text};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use weir_engine::caller::{Facts, Identity};
use weir_engine::compose::Graph;
use weir_engine::engine::{Engine, Request};
use weir_engine::lifetime::{Hint, HintAt};
use weir_engine::live::{Cause, Changed, LiveQueries, LiveSettings};
use weir_engine::source::{PlanError, PlanNode, PreparedFetch, Source};
use weir_engine::tag_versions::TagVersions;
use weir_language::schema::print::{Order, print};
use weir_language::schema::{FieldId, Schema, Visibility};

const MARKET: &str = "type Query { price(of: ID!, unit: Unit = KILO): Price  hidden: Int  once: Int }
    type Price { of: ID!  cents: Int }
    enum Unit { KILO POUND }";
const PEOPLE: &str = "schema { query: query_root subscription: subscription_root }
    type query_root { person: Int }
    type subscription_root { person: Int }";

/// A source whose queries may be subscribed to, but for `once`; guests do not see `hidden`.
struct Market {
    documents: Arc<Documents>,
    hints: Vec<HintAt>,
}

impl Source for Market {
    fn name(&self) -> &str {
        "market"
    }
    fn schema(&self) -> &Arc<Schema> {
        self.documents.schema()
    }
    fn is_live(&self, field: FieldId) -> bool {
        self.schema().field_name(field) != "once"
    }
    fn hints(&self) -> &[HintAt] {
        &self.hints
    }
    fn profile(&self, identity: &Identity, facts: &mut Facts) {
        facts.extend((&*identity.role == "guest").then_some(7));
    }
    fn visibility(&self, _: &[u64]) -> Option<Visibility> {
        let mut seen = Visibility::everything(self.schema());
        let hidden = self.schema().field_by_name(self.schema().query, "hidden").expect("it is there");
        seen.show_field(hidden, false);
        seen.close(self.schema());
        Some(seen)
    }
    fn prepare(&self, node: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        self.documents.prepare(node)
    }
}

fn market(hints: Vec<HintAt>) -> (Arc<dyn Source>, Arc<Documents>, Arc<AtomicI64>) {
    let cents = Arc::new(AtomicI64::new(100));
    let now = Arc::clone(&cents);
    let documents = Documents::new("market", MARKET, move |_, arguments: &Value| {
        Ok(json!({"of": arguments["of"], "cents": now.load(Ordering::Relaxed)}))
    });
    (Arc::new(Market { documents: Arc::clone(&documents), hints }), documents, cents)
}

fn sdl(sources: Vec<Arc<dyn Source>>) -> String {
    let graph = Graph::compose(sources, &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
    print(graph.schema(), Order::Defined)
}

#[test]
fn live_queries_stand_under_the_root_of_subscriptions() {
    let alone = sdl(vec![market(Vec::new()).0]);
    assert!(
        alone.contains("type Subscription {\n  price(of: ID!, unit: Unit = KILO): Price\n  hidden: Int\n}"),
        "{alone}"
    );
    let people: Arc<dyn Source> = Documents::new("people", PEOPLE, |_, _| Ok(json!(1)));
    let both = sdl(vec![people, market(Vec::new()).0]);
    assert!(both.contains("type subscription_root {\n  person: Int\n  price("), "{both}");
}

#[tokio::test]
async fn a_subscription_is_planned_as_the_query_is_and_hidden_with_it() {
    let (source, documents, _) = market(Vec::new());
    let engine = engine_of(vec![source], &[]);
    let asked = "subscription ($of: ID!) { price(of: $of, unit: POUND) { of cents } }";
    let variables = weir_language::json::Json::parse(br#"{"of": "figs"}"#, 9).unwrap();
    let request = Request {
        variables: Some(variables.root()),
        ..Request::new(asked, Instant::now() + Duration::from_secs(60))
    };
    let bound = engine
        .bind(request, &engine.caller(&Identity::admin()))
        .await
        .unwrap_or_else(|it| panic!("{:?}", it.body));
    let once = engine.run(&bound, Instant::now() + Duration::from_secs(60)).await;
    let expected = r#"{"data":{"price":{"of":"figs","cents":100}}}"#;
    assert_eq!(text(once), expected);
    let query = "query ($of: ID!) { price(of: $of, unit: POUND) { of cents } }";
    assert_eq!(answer(&engine, query, r#"{"of": "figs"}"#).await, expected);
    let log = documents.asked();
    assert_eq!(log[0], log[1], "both are one call: {log:?}");
    let guest = engine.caller(&Identity { role: "guest".into(), ..Identity::admin() });
    for (asked, who, is_seen) in [
        ("subscription { hidden }", &guest, false),
        ("subscription { once }", &guest, false),
        ("subscription { price(of: 1) { cents } }", &guest, true),
    ] {
        let bound = engine.bind(Request::new(asked, Instant::now() + Duration::from_secs(60)), who).await;
        assert_eq!(bound.is_ok(), is_seen, "{asked}");
    }
}

/// The causes of the first two results of a price that changes.
async fn causes(engine: &Engine, cents: &AtomicI64, poll: Duration) -> [Cause; 2] {
    let live = LiveQueries::of(engine, LiveSettings { poll, ..LiveSettings::STANDARD });
    let request =
        Request::new("subscription { price(of: 1) { cents } }", Instant::now() + Duration::from_secs(60));
    let bound = engine.bind(request, &engine.caller(&Identity::admin())).await.expect("it is planned");
    let mut price = live.subscribe(bound).expect("there is room");
    let first = price.next().await.expect("the engine lives").cause.clone();
    cents.fetch_add(1, Ordering::Relaxed);
    [first, price.next().await.expect("the engine lives").cause.clone()]
}

#[tokio::test]
async fn a_hint_of_the_query_is_the_lifetime_of_the_subscription() {
    let hint = Hint { max_age_s: Some(1), ..Hint::default() };
    let at =
        |field: &str| HintAt { on: "Query".into(), field: Some(field.into()), hint, written: String::new() };
    let hinted = ["price"].map(at).to_vec();
    let (source, _, cents) = market(hinted);
    let engine = engine_of(vec![source], &[]);
    assert_eq!(causes(&engine, &cents, Duration::from_secs(3600)).await, [Cause::First, Cause::Expiry]);
    let (source, _, cents) = market(Vec::new());
    let engine = engine_of(vec![source], &[]);
    assert_eq!(causes(&engine, &cents, Duration::from_millis(10)).await, [Cause::First, Cause::Poll]);
}

/// Subscriptions to one person, each read of whom begins with a word in the first channel and ends with one in the second.
fn watched_reads(person: Arc<AtomicI64>) -> (Arc<Documents>, Receiver<()>, Sender<()>) {
    let (begun, begins) = channel();
    let (ends, end) = channel();
    let begun = Mutex::new(begun);
    let end = Mutex::new(end);
    let people = Documents::new("people", PEOPLE, move |_, _| {
        // Both are gone once the test is over.
        let _ = begun.lock().expect("no test failed").send(());
        let _ = end.lock().expect("no test failed").recv();
        Ok(json!(person.load(Ordering::Relaxed)))
    });
    (people, begins, ends)
}

#[tokio::test]
async fn subscribers_that_come_without_a_pause_each_get_the_read_that_began_after_them() {
    let (people, begins, ends) = watched_reads(Arc::new(AtomicI64::new(1)));
    let engine = engine_of(vec![people], &[]);
    let live =
        LiveQueries::of(&engine, LiveSettings { poll: Duration::from_secs(3600), ..LiveSettings::STANDARD });
    let mut last = None;
    for reads in 0..4 {
        let request = Request::new("subscription { person }", Instant::now() + Duration::from_secs(60));
        let bound = engine.bind(request, &engine.caller(&Identity::admin())).await.expect("it is planned");
        let next = live.subscribe(bound).expect("there is room");
        if reads > 0 {
            ends.send(()).expect("the read waits");
        }
        // The read that the next subscriber comes during; nobody lets it end before the last one has its result.
        begins.recv().expect("a read begins");
        if let Some(mut waiting) = last.replace(next) {
            let given = waiting.next().await.expect("the engine lives");
            assert_eq!(&*given.body, br#"{"data":{"person":1}}"#);
        }
    }
    drop(ends);
}

#[tokio::test]
async fn a_change_that_is_named_during_a_read_is_the_cause_of_its_result() {
    let person = Arc::new(AtomicI64::new(1));
    let (people, begins, ends) = watched_reads(Arc::clone(&person));
    let changes = Arc::new(TagVersions::default());
    let engine = engine_of(vec![people.tagged("person")], &[]).with_tag_versions(Arc::clone(&changes));
    let live = LiveQueries::of(
        &engine,
        LiveSettings { poll: Duration::from_secs(3600), floor: Duration::ZERO, ..LiveSettings::STANDARD },
    );
    let request = Request::new("subscription { person }", Instant::now() + Duration::from_secs(60));
    let bound = engine.bind(request, &engine.caller(&Identity::admin())).await.expect("it is planned");
    let mut results = live.subscribe(bound).expect("there is room");
    begins.recv().expect("the first read begins");
    ends.send(()).expect("the read waits");
    assert_eq!(results.next().await.expect("the engine lives").cause, Cause::First);
    // Something unknown is told, as by the feed of a file, and the change has its name before that read ends.
    changes.on_unknown_invalidation();
    begins.recv().expect("the second read begins");
    person.store(2, Ordering::Relaxed);
    changes.invalidate_from_remote("person", []);
    ends.send(()).expect("the read waits");
    let second = results.next().await.expect("the engine lives");
    assert_eq!(&*second.body, br#"{"data":{"person":2}}"#);
    assert_eq!(second.cause, Cause::Change(Arc::new(Changed::Tag("person".into()))));
    drop(ends);
}
