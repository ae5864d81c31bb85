//! Counts of operations, fields and arguments, and the observer of the settings.

use crate::kit::{Log, block_on, blog, built, note, noted, run, run_with};
use std::sync::Arc;
use std::time::Duration;
use weir_runtime::{
    ObservedFetch, ObservedOperation, ObservedStage, Observer, Request, Settings, SpanContext, Stage,
};

#[test]
fn executions_are_counted_by_operation_field_and_argument() {
    let schema = built(blog(&Log::default()).count_usage());
    let query = "query Q($id: Int!) { user(id: $id) { posts { id } } }";
    run_with(&schema, query, r#"{"id": 1}"#);
    run_with(&schema, query, r#"{"id": 2}"#);
    run(&schema, "{ users { id } }");
    let usage = schema.usage().expect("it is counted");
    let coordinates: Vec<(&str, u64)> = usage.coordinates.iter().map(|it| (it.0.as_str(), *it.1)).collect();
    assert_eq!(
        coordinates,
        [
            ("Post.id", 2),
            ("Query.user", 2),
            ("Query.user(id:)", 2),
            ("Query.users", 1),
            ("User.id", 1),
            ("User.posts", 2),
        ]
    );
    let operations: Vec<(&str, u64)> =
        usage.operations.iter().map(|it| (&*it.operation.name, it.counts.count)).collect();
    assert_eq!(operations, [("Q", 2), ("", 1)]);
    assert_eq!(usage.operations[0].counts.planned, 1);
}

#[test]
fn nothing_is_counted_unless_it_is_asked_for() {
    assert!(built(blog(&Log::default())).usage().is_none());
}

#[test]
fn events_of_a_subscription_are_counted_one_by_one() {
    use futures_util::StreamExt;
    use weir_runtime::{Context, Schema, constant, stream};
    let schema = built(
        Schema::builder("type Query { a: Int } type Subscription { ticks: Int }")
            .resolve("Query.a", constant(1))
            .resolve(
                "Subscription.ticks",
                stream(|_: &(), _: &Context| futures_util::stream::iter([1, 2, 3])),
            )
            .count_usage(),
    );
    let events = block_on(async {
        let request = Request::new("subscription { ticks }");
        let events = schema.subscribe(request, Duration::from_secs(5)).await;
        events.expect("it opens").count().await
    });
    let usage = schema.usage().expect("it is counted");
    assert_eq!((events, usage.coordinates.get("Subscription.ticks")), (3, Some(&3)));
}

#[derive(Debug)]
struct Listener(Log);

impl Observer for Listener {
    fn operation(&self, operation: &ObservedOperation<'_>) -> u64 {
        note(&self.0, format!("operation {:?}", operation.name));
        0
    }
    fn source(&self, name: &str) -> u32 {
        note(&self.0, format!("source {name}"));
        7
    }
    fn stage(&self, stage: &ObservedStage<'_>) {
        if stage.stage == Stage::Execute {
            note(&self.0, "executed");
        }
    }
    fn fetch_begins(&self, source: u32, _: Option<SpanContext>) -> Option<SpanContext> {
        note(&self.0, format!("begins {source}"));
        None
    }
    fn fetch_ended(&self, fetch: &ObservedFetch<'_>) {
        note(&self.0, (fetch.calls)());
    }
}

#[test]
fn the_observer_of_the_settings_is_told_each_fetch_with_counts_and_without() {
    for counts in [false, true] {
        let log = Log::default();
        let settings =
            Settings { observer: Some(Arc::new(Listener(Arc::clone(&log)))), ..Settings::STANDARD };
        let builder = blog(&Log::default()).settings(settings);
        let schema = built(if counts { builder.count_usage() } else { builder });
        run(&schema, "query Q { users { posts { id } } }");
        assert_eq!(
            noted(&log),
            [
                "source library",
                "operation Some(\"Q\")",
                "begins 7",
                "resolver Query.users",
                "begins 7",
                "resolver User.posts",
                "executed",
            ]
        );
    }
}
