//! Subscriptions from streams: a response per event, with everything below it.

use crate::kit::{Log, block_on, built, note, noted};
use futures_util::StreamExt;
use std::sync::Arc;
use std::time::Duration;
use weir_runtime::{Context, Request, ResolveError, Schema, constant, each, record, stream};

struct Tick(i32);
record!(Tick {});

struct From {
    from: i32,
}
weir_runtime::input!(From { from });

const PATIENCE: Duration = Duration::from_secs(5);

fn schema(log: &Log) -> Schema {
    let log = Arc::clone(log);
    let sdl = "type Query { a: Int } type Subscription { ticks(from: Int!): Tick } type Tick { n: Int! double: Int! }";
    built(
        Schema::builder(sdl)
            .resolve("Query.a", constant(1))
            .resolve(
                "Subscription.ticks",
                stream(|from: &From, _: &Context| {
                    let from = from.from;
                    futures_util::stream::iter(from..from + 3).map(|n| match n {
                        13 => Err(ResolveError::new("thirteen")),
                        n => Ok(Tick(n)),
                    })
                }),
            )
            .resolve("Tick.n", each(|tick: &Tick, _: &(), _: &Context| tick.0))
            .resolve(
                "Tick.double",
                each(move |tick: &Tick, _: &(), context: &Context| {
                    note(&log, format!("{} {:?}", tick.0, context.find::<&str>()));
                    tick.0 * 2
                }),
            ),
    )
}

fn texts(schema: &Schema, query: &str, variables: &str) -> Result<Vec<String>, String> {
    block_on(async {
        let request = Request::new(query).variables(variables).data("request");
        match schema.subscribe(request, PATIENCE).await {
            Ok(events) => Ok(events.map(|it| it.text().to_owned()).collect().await),
            Err(response) => Err(response.text().to_owned()),
        }
    })
}

#[test]
fn each_event_is_a_response() {
    let log = Log::default();
    let schema = schema(&log);
    let query = "subscription ($from: Int!) { t: ticks(from: $from) { double n } }";
    assert_eq!(
        texts(&schema, query, r#"{"from": 3}"#).unwrap(),
        [
            r#"{"data":{"t":{"double":6,"n":3}}}"#,
            r#"{"data":{"t":{"double":8,"n":4}}}"#,
            r#"{"data":{"t":{"double":10,"n":5}}}"#
        ]
    );
    assert_eq!(noted(&log), ["3 Some(\"request\")", "4 Some(\"request\")", "5 Some(\"request\")"]);
}

#[test]
fn an_event_that_is_an_error_fails_its_response_alone() {
    let schema = schema(&Log::default());
    let found = texts(&schema, "subscription { ticks(from: 12) { n } }", "{}").unwrap();
    assert_eq!(found[0], r#"{"data":{"ticks":{"n":12}}}"#);
    assert!(found[1].contains("thirteen") && found[1].contains("\"data\":{\"ticks\":null}"), "{}", found[1]);
    assert_eq!(found[2], r#"{"data":{"ticks":{"n":14}}}"#);
}

#[test]
fn refused_subscriptions_do_not_open() {
    let schema = schema(&Log::default());
    assert!(texts(&schema, "subscription { nothing }", "{}").unwrap_err().contains("Cannot query field"));
    assert!(
        texts(&schema, "subscription ($f: Int!) { ticks(from: $f) { n } }", "{}")
            .unwrap_err()
            .contains("BAD_USER_INPUT")
    );
    let executed = block_on(schema.execute(Request::new("subscription { ticks(from: 1) { n } }")));
    assert_eq!(executed.status(), 400);
}
