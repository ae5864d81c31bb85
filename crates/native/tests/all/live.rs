//! Subscriptions to native types in both databases: what wakes them, what does not, and what the rules leave of them.

use crate::answer_kit::whole;
use crate::auth::Both;
use crate::kit::{answer, answer_to};
use crate::postgres_kit::Database;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::time::timeout;
use weir_engine::caller::Identity;
use weir_engine::engine::{Engine, Request};
use weir_engine::live::{Cause, LiveQueries, LiveSettings, Subscription};

const TYPES: &str = "
type Boat @withSubscription {
  id: ID!
  name: String! @id @search
  tons: Int @search
  harbour: Harbour @hasInverse(field: boats)
}
type Harbour @generate(query: {aggregate: false}, subscription: true) {
  id: ID!
  name: String! @id
  boats: [Boat]
}
type Crate { id: ID! mark: String @id }
";

const FILL: &str = r#"mutation { addHarbour(input: [
  {name: "North", boats: [{name: "Ada", tons: 10}, {name: "Bel", tons: 20}]}, {name: "South"}]) { numUids } }"#;

/// Longest wait for a result that has to come; a busy machine needs a part of it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Nothing is read because time went by.
const STILL: LiveSettings = LiveSettings { poll: Duration::from_secs(3600), ..LiveSettings::STANDARD };

struct Live<'e> {
    engine: &'e Engine,
    queries: LiveQueries,
    runtime: Runtime,
}

impl<'e> Live<'e> {
    fn of(engine: &'e Engine, settings: LiveSettings) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("one starts");
        Self { engine, queries: LiveQueries::of(engine, settings), runtime }
    }

    fn subscribe(&self, query: &str, caller: &Identity) -> Subscription {
        let request = Request::new(query, Instant::now() + PATIENCE);
        let bound = self.runtime.block_on(self.engine.bind(request, &self.engine.caller(caller)));
        self.queries.subscribe(bound.unwrap_or_else(|it| panic!("{query}: {:?}", it.body))).expect("room")
    }

    /// The next result has this data.
    #[track_caller]
    fn hears(&self, subscription: &mut Subscription, data: &str) -> Cause {
        let next = self.runtime.block_on(async { timeout(PATIENCE, subscription.next()).await });
        let result = next.expect("a result comes").expect("the engine lives");
        assert_eq!(String::from_utf8_lossy(&result.body), format!(r#"{{"data":{{{data}}}}}"#));
        result.cause.clone()
    }

    #[track_caller]
    fn change(&self, mutation: &str) {
        let answer = self.runtime.block_on(answer(self.engine, mutation, ""));
        assert!(!answer.contains("errors"), "{mutation}: {answer}");
    }

    /// The text of the ID of a boat.
    fn id(&self, name: &str) -> String {
        let asked = format!("{{ getBoat(name: \"{name}\") {{ id }} }}");
        let answer = self.runtime.block_on(answer(self.engine, &asked, ""));
        answer.split('"').rev().nth(1).expect("an ID").to_owned()
    }

    fn reads(&self) -> u64 {
        self.queries.state().reads
    }
}

/// Runs `test` over both databases; its second argument is true for the one with a feed, which reads everything once more when it begins.
fn in_both(test: impl Fn(&Engine, bool)) {
    let both = Both::new(TYPES, &[FILL]);
    test(&both.sqlite.engine, true);
    test(&both.postgres.engine, false);
}

#[test]
fn a_mutation_wakes_what_shows_its_objects_and_nothing_else() {
    in_both(|engine, is_fed| {
        let live = Live::of(engine, STILL);
        let ada = live.id("Ada");
        let bel = live.id("Bel");
        let admin = Identity::admin();
        let by_id = |id: &str| format!("subscription {{ getBoat(id: \"{id}\") {{ name tons }} }}");
        let mut one = live.subscribe(&by_id(&ada), &admin);
        let mut two = live.subscribe(&by_id(&bel), &admin);
        let mut heavy = live.subscribe(
            "subscription { heavy: queryBoat(filter: {tons: {gt: 15}}, order: {asc: tons}) { name } }",
            &admin,
        );
        let mut sum = live.subscribe("subscription { aggregateBoat { count tonsSum } }", &admin);
        live.hears(&mut one, r#""getBoat":{"name":"Ada","tons":10}"#);
        live.hears(&mut two, r#""getBoat":{"name":"Bel","tons":20}"#);
        live.hears(&mut heavy, r#""heavy":[{"name":"Bel"}]"#);
        live.hears(&mut sum, r#""aggregateBoat":{"count":2,"tonsSum":30}"#);
        let before = live.reads();
        live.change(r#"mutation { addCrate(input: [{mark: "x"}]) { numUids } }"#);
        live.change(&format!(
            "mutation {{ updateBoat(input: {{filter: {{id: [\"{bel}\"]}}, set: {{tons: 21}}}}) {{ numUids }} }}"
        ));
        let cause = live.hears(&mut two, r#""getBoat":{"name":"Bel","tons":21}"#);
        assert!(matches!(cause, Cause::Change(_)), "{cause:?}");
        live.hears(&mut sum, r#""aggregateBoat":{"count":2,"tonsSum":31}"#);
        live.change(r#"mutation { addBoat(input: [{name: "Cyd", tons: 5}]) { numUids } }"#);
        live.hears(&mut sum, r#""aggregateBoat":{"count":3,"tonsSum":36}"#);
        let name = format!("mutation {{ deleteBoat(filter: {{id: [\"{ada}\"]}}) {{ numUids }} }}");
        live.change(&name);
        live.hears(&mut one, r#""getBoat":null"#);
        live.hears(&mut sum, r#""aggregateBoat":{"count":2,"tonsSum":26}"#);
        // Three changes of boats are read for the sum and at most as often for the list; the keyed ones are read for their objects. A change tells its
        // tables and keys one by one, and a read that begins between two of them is repeated.
        let reads = live.reads() - before;
        assert!(is_fed || (5..=16).contains(&reads), "{reads}");
        live.change(
            r#"mutation { updateBoat(input: {filter: {name: {eq: "Cyd"}}, set: {tons: 50}}) { numUids } }"#,
        );
        live.hears(&mut heavy, r#""heavy":[{"name":"Bel"},{"name":"Cyd"}]"#);
    });
}

#[test]
fn keyed_subscriptions_are_not_read_for_other_objects() {
    in_both(|engine, is_fed| {
        let live = Live::of(engine, STILL);
        let ada = live.id("Ada");
        let bel = live.id("Bel");
        let by_id = |id: &str| format!("subscription {{ getBoat(id: \"{id}\") {{ tons }} }}");
        let mut one = live.subscribe(&by_id(&ada), &Identity::admin());
        let mut two = live.subscribe(&by_id(&bel), &Identity::admin());
        live.hears(&mut one, r#""getBoat":{"tons":10}"#);
        live.hears(&mut two, r#""getBoat":{"tons":20}"#);
        let before = live.reads();
        for tons in 21..26 {
            live.change(r#"mutation { addBoat(input: [{name: "Dot", tons: 1}], upsert: true) { numUids } }"#);
            live.change(&format!(
                "mutation {{ updateBoat(input: {{filter: {{name: {{eq: \"Bel\"}}}}, set: {{tons: {tons}}}}}) {{ numUids }} }}"
            ));
            live.hears(&mut two, &format!(r#""getBoat":{{"tons":{tons}}}"#));
        }
        let reads = live.reads() - before;
        // A read that begins between the tables of one change is repeated; five changes of another object would be five more.
        assert!(is_fed || (5..10).contains(&reads), "no other object of the type was looked at: {reads}");
    });
}

#[test]
fn edges_wake_both_of_their_ends() {
    in_both(|engine, _| {
        let live = Live::of(engine, STILL);
        let mut harbours = live.subscribe(
            "subscription { queryHarbour(first: 5) { name boats(order: {asc: name}) { name } } }",
            &Identity::admin(),
        );
        let mut boat = live
            .subscribe("subscription { getBoat(name: \"Ada\") { harbour { name } } }", &Identity::admin());
        live.hears(
            &mut harbours,
            r#""queryHarbour":[{"name":"North","boats":[{"name":"Ada"},{"name":"Bel"}]},{"name":"South","boats":[]}]"#,
        );
        live.hears(&mut boat, r#""getBoat":{"harbour":{"name":"North"}}"#);
        live.change(
            r#"mutation { updateHarbour(input: {filter: {name: {eq: "South"}}, set: {boats: [{name: "Ada"}]}}) { numUids } }"#,
        );
        live.hears(
            &mut harbours,
            r#""queryHarbour":[{"name":"North","boats":[{"name":"Bel"}]},{"name":"South","boats":[{"name":"Ada"}]}]"#,
        );
        live.hears(&mut boat, r#""getBoat":{"harbour":{"name":"South"}}"#);
        live.change(r#"mutation { updateHarbour(input: {filter: {name: {eq: "South"}}, set: {name: "Quay"}}) { numUids } }"#);
        live.hears(&mut boat, r#""getBoat":{"harbour":{"name":"Quay"}}"#);
    });
}

#[test]
fn changes_behind_our_back_are_seen() {
    let both = Both::new(TYPES, &[FILL]);
    let query = "subscription { aggregateBoat { tonsMax } }";
    let change = r#"UPDATE "Boat" SET tons = 99 WHERE name = 'Ada'"#;
    let live = Live::of(&both.sqlite.engine, STILL);
    let mut of_file = live.subscribe(query, &Identity::admin());
    live.hears(&mut of_file, r#""aggregateBoat":{"tonsMax":20}"#);
    both.sqlite.beside.execute_batch(change).expect("it is changed");
    let cause = live.hears(&mut of_file, r#""aggregateBoat":{"tonsMax":99}"#);
    assert!(matches!(cause, Cause::Change(_)), "{cause:?}");
    let polled = LiveSettings { poll: Duration::from_millis(20), ..LiveSettings::STANDARD };
    let live = Live::of(&both.postgres.engine, polled);
    let mut of_server = live.subscribe(query, &Identity::admin());
    live.hears(&mut of_server, r#""aggregateBoat":{"tonsMax":20}"#);
    Database::run(&both.postgres.database, change);
    assert_eq!(live.hears(&mut of_server, r#""aggregateBoat":{"tonsMax":99}"#), Cause::Poll);
}

const NOTES: &str = r#"
type Note @withSubscription @auth(
  query: { rule: "query($USER: String!) { queryNote(filter: { owner: { eq: $USER } }) { text } }" }
) {
  id: ID!
  text: String! @id
  owner: String! @search(by: [hash])
}
"#;

#[test]
fn a_caller_whose_rule_stops_matching_sees_nothing_more() {
    let add =
        r#"mutation { addNote(input: [{text: "a", owner: "ann"}, {text: "b", owner: "bob"}]) { numUids } }"#;
    let both = Both::new(NOTES, &[add]);
    let ann = both.caller(r#"{"USER": "ann"}"#);
    let bob = both.caller(r#"{"USER": "bob"}"#);
    for engine in [&both.sqlite.engine, &both.postgres.engine] {
        let live = Live::of(engine, STILL);
        let all = "subscription { queryNote(order: {asc: text}) { text owner } }";
        let one = "subscription { getNote(text: \"a\") { text } }";
        let mut hers = live.subscribe(all, &ann);
        let mut his = live.subscribe(all, &bob);
        let mut note = live.subscribe(one, &ann);
        let mut nobody = live.subscribe(all, &both.caller(""));
        live.hears(&mut hers, r#""queryNote":[{"text":"a","owner":"ann"}]"#);
        live.hears(&mut his, r#""queryNote":[{"text":"b","owner":"bob"}]"#);
        live.hears(&mut note, r#""getNote":{"text":"a"}"#);
        live.hears(&mut nobody, r#""queryNote":[]"#);
        live.change(
            r#"mutation { updateNote(input: {filter: {text: {eq: "a"}}, set: {owner: "bob"}}) { numUids } }"#,
        );
        live.hears(&mut hers, r#""queryNote":[]"#);
        live.hears(&mut note, r#""getNote":null"#);
        live.hears(&mut his, r#""queryNote":[{"text":"a","owner":"bob"},{"text":"b","owner":"bob"}]"#);
        live.change(
            r#"mutation { updateNote(input: {filter: {text: {eq: "a"}}, set: {text: "hush"}}) { numUids } }"#,
        );
        live.hears(&mut his, r#""queryNote":[{"text":"b","owner":"bob"},{"text":"hush","owner":"bob"}]"#);
        live.change(
            r#"mutation { updateNote(input: {filter: {text: {eq: "b"}}, set: {owner: "ann"}}) { numUids } }"#,
        );
        // Nothing came between that was not hers.
        live.hears(&mut hers, r#""queryNote":[{"text":"b","owner":"ann"}]"#);
    }
}

#[test]
fn types_without_the_directive_have_no_subscriptions() {
    in_both(|engine, _| {
        let live = Live::of(engine, STILL);
        for (query, words) in [
            ("subscription { queryCrate { id } }", "queryCrate"),
            ("subscription { aggregateHarbour { count } }", "aggregateHarbour"),
            (
                "subscription { a: queryBoat { id } b: queryBoat { name } }",
                "must select only one top level field",
            ),
            ("subscription { addBoat(input: []) { numUids } }", "addBoat"),
        ] {
            let request = Request::new(query, Instant::now() + PATIENCE);
            let admin = engine.caller(&Identity::admin());
            let refused = live.runtime.block_on(engine.bind(request, &admin)).expect_err("it is refused");
            let refused = whole(refused.body);
            assert!(refused.contains(words), "{query}: {refused}");
        }
        let root = "{ __schema { subscriptionType { name fields { name } } } }";
        let answer = live.runtime.block_on(answer_to(engine, root, "", &Identity::admin()));
        assert_eq!(
            answer,
            r#"{"data":{"__schema":{"subscriptionType":{"name":"Subscription","fields":[{"name":"getBoat"},{"name":"queryBoat"},{"name":"aggregateBoat"},{"name":"getHarbour"},{"name":"queryHarbour"}]}}}}"#
        );
    });
}
