//! Interceptors of requests, plan steps and calls.

use crate::kit::{Log, block_on, blog, built, json, note, noted};
use futures_util::{FutureExt, StreamExt};
use std::sync::Arc;
use std::time::Duration;
use weir_engine::memory::Memory;
use weir_runtime::{
    Context, FetchOutcome, HookCall, Identity, Outcome, PlannedCall, Request, RequestCall, RequestHook,
    ResolveError, Schema, SchemaBuilder, StepHook, async_root, constant, root, stream,
};

struct Tenant(&'static str);

/// Logs the runs of a step, and refuses those of other tenants.
struct Step {
    name: String,
    log: Log,
}

impl StepHook for Step {
    fn before(&self, call: &HookCall<'_>) -> Result<(), ResolveError> {
        note(&self.log, format!("{} for {}", self.name, call.parents()));
        match call.find::<Tenant>() {
            Some(Tenant("other")) => Err(ResolveError::new("not yours").code("NOT_YOURS")),
            Some(_) | None => Ok(()),
        }
    }
    fn after(&self, _: &HookCall<'_>, outcome: FetchOutcome, _: Duration) {
        note(&self.log, format!("{} {outcome:?}", self.name));
    }
}

#[test]
fn steps_are_bound_when_the_plan_is_made_and_seen_at_each_run() {
    let log = Log::default();
    let bound = Arc::clone(&log);
    let steps = Arc::clone(&log);
    let schema = built(blog(&Log::default()).intercept_steps(move |step| {
        let name: Vec<String> = step.coordinates().collect();
        note(&bound, format!("bound {} of {}", name.join(" "), step.source));
        let hook = Step { name: name.join(" "), log: Arc::clone(&steps) };
        (!step.is_root).then(|| Arc::new(hook) as Arc<dyn StepHook>)
    }));
    let query = "{ users { posts { id author { id } } } }";
    json(&schema, query);
    assert_eq!(
        noted(&log),
        [
            "bound Query.users of library",
            "bound User.posts of library",
            "bound Post.author of library",
            "User.posts for 3",
            "User.posts Answered",
            "Post.author for 6",
            "Post.author Answered",
        ]
    );
    json(&schema, query);
    assert_eq!(noted(&log).len(), 4);
}

#[test]
fn a_refused_step_calls_nothing_and_its_error_stands_for_its_fields() {
    let log = Log::default();
    let calls = Log::default();
    let steps = Arc::clone(&log);
    let schema = built(blog(&calls).intercept_steps(move |step| {
        let name: String = step.coordinates().collect();
        let log = Arc::clone(&steps);
        (name == "User.posts").then(|| Arc::new(Step { name, log }) as Arc<dyn StepHook>)
    }));
    let request = Request::new("{ me { posts { id } } }").data(Tenant("other"));
    let found = block_on(schema.execute(request)).text().to_owned();
    assert!(found.contains("not yours") && found.contains("NOT_YOURS"), "{found}");
    assert!(
        found.contains(r#""path":["me","posts"]"#) && found.ends_with(r#""data":{"me":null}}"#),
        "{found}"
    );
    assert_eq!(noted(&calls), Vec::<String>::new());
    // It did not agree, so it is not told the end.
    assert_eq!(noted(&log), ["User.posts for 1"]);
}

#[test]
fn calls_of_other_sources_are_steps_too() {
    let log = Log::default();
    let steps = Arc::clone(&log);
    let other = weir_language::schema::Schema::from_sdl("type Query { answer: Int }").expect("a sound SDL");
    let other = Memory::new("other", Arc::new(other)).field("answer", |_| 42);
    let schema = built(
        Schema::builder("type Query { a: Int }")
            .resolve("Query.a", constant(1))
            .source(Arc::new(other))
            .intercept_steps(move |step| {
                let name = step.source.to_owned();
                let log = Arc::clone(&steps);
                (name == "other").then(|| Arc::new(Step { name, log }) as Arc<dyn StepHook>)
            }),
    );
    let request = Request::new("{ a answer }").identity(Identity::admin());
    assert_eq!(block_on(schema.execute(request)).text(), r#"{"data":{"a":1,"answer":42}}"#);
    assert_eq!(noted(&log), ["other for 1", "other Answered"]);
}

/// `builder` with a hook of each call whose coordinate begins with `on`.
fn with_calls(builder: SchemaBuilder, on: &'static str, log: &Log) -> Schema {
    let log = Arc::clone(log);
    built(builder.intercept_calls(move |call| match call {
        PlannedCall::Resolver(name) => {
            note(&log, format!("bound {name}"));
            let step = Step { name: name.to_owned(), log: Arc::clone(&log) };
            name.starts_with(on).then(|| Arc::new(step) as Arc<dyn StepHook>)
        }
        PlannedCall::Loader(name) => panic!("there is no loader {name}"),
    }))
}

#[test]
fn calls_of_one_step_are_bound_when_the_plan_is_made_and_seen_one_by_one() {
    let log = Log::default();
    let schema = with_calls(blog(&Log::default()), "", &log);
    let query = "{ users { posts { id } } me { id } }";
    json(&schema, query);
    let seen = [
        "Query.users for 1",
        "Query.users Answered",
        "Query.me for 1",
        "Query.me Answered",
        "User.posts for 3",
        "User.posts Answered",
    ];
    let bound = ["bound Query.users", "bound Query.me", "bound User.posts"];
    assert_eq!(noted(&log), [&bound[..], &seen[..]].concat());
    json(&schema, query);
    assert_eq!(noted(&log), seen);
}

#[test]
fn a_refused_call_fails_its_field_alone_and_is_not_made() {
    let log = Log::default();
    let calls = Log::default();
    let schema = with_calls(blog(&calls), "Query.users", &log);
    noted(&log);
    let request = Request::new("{ me { id } user(id: 2) { id } }").data(Tenant("other"));
    let text = r#"{"data":{"me":{"id":1},"user":{"id":2}}}"#;
    assert_eq!(block_on(schema.execute(request)).text(), text);
    let schema = with_calls(blog(&calls), "Query.me", &log);
    let request = Request::new("{ users { id } me { id } }").data(Tenant("other"));
    let found = block_on(schema.execute(request));
    assert_eq!(found.at("data").as_deref(), Some(r#"{"users":[{"id":1},{"id":2},{"id":3}],"me":null}"#));
    assert_eq!(found.at("errors.0.extensions.code").as_deref(), Some("\"NOT_YOURS\""));
    assert_eq!(found.at("errors.0.path").as_deref(), Some("[\"me\"]"));
    assert_eq!(noted(&calls), ["users"]);
    assert_eq!(noted(&log).last().map(String::as_str), Some("Query.me for 1"));
}

#[test]
fn the_end_of_a_call_tells_failures_and_calls_that_are_given_up() {
    let log = Log::default();
    let failing = Schema::builder("type Query { fails: Int never: Int }")
        .resolve("Query.fails", root(|_: &(), _: &Context| Err::<i32, _>(ResolveError::new("no").code("NO"))))
        .resolve("Query.never", async_root(|_: &(), _: &Context| std::future::pending::<i32>()));
    let schema = with_calls(failing, "", &log);
    json(&schema, "{ fails }");
    // A value that failed is an answer: the call gave a value for each parent.
    assert_eq!(noted(&log), ["bound Query.fails", "Query.fails for 1", "Query.fails Answered"]);
    let given_up = block_on(async { schema.execute(Request::new("{ never }")).now_or_never() });
    assert!(given_up.is_none());
    assert_eq!(noted(&log), ["bound Query.never", "Query.never for 1", "Query.never Abandoned"]);
}

#[test]
fn opening_a_stream_is_a_call() {
    let log = Log::default();
    let ticks = Schema::builder("type Query { a: Int } type Subscription { ticks: Int }")
        .resolve("Query.a", constant(1))
        .resolve("Subscription.ticks", stream(|_: &(), _: &Context| futures_util::stream::iter([1, 2])));
    let schema = with_calls(ticks, "Subscription.ticks", &log);
    let subscribe = |tenant| {
        let request = Request::new("subscription { ticks }").data(Tenant(tenant));
        block_on(async {
            match schema.subscribe(request, Duration::from_secs(5)).await {
                Ok(events) => Ok(events.count().await),
                Err(refused) => Err(refused.text().to_owned()),
            }
        })
    };
    assert_eq!(subscribe("own"), Ok(2));
    let seen = ["Subscription.ticks for 1", "Subscription.ticks Answered"];
    assert_eq!(noted(&log), [&["bound Subscription.ticks"][..], &seen].concat());
    let refused = subscribe("other").expect_err("the hook refuses");
    assert!(refused.contains("NOT_YOURS"), "{refused}");
}

struct Requests(Log);

impl RequestHook for Requests {
    fn before(&self, call: &RequestCall<'_>) -> Result<(), ResolveError> {
        note(&self.0, format!("{} {:?}", call.query, call.operation_name));
        match call.data.get::<Tenant>() {
            Some(Tenant("other")) => Err(ResolveError::new("not yours")),
            Some(_) | None => Ok(()),
        }
    }
    fn after(&self, _: &RequestCall<'_>, outcome: Outcome, _: Duration) {
        note(&self.0, format!("{outcome:?}"));
    }
}

#[test]
fn requests_are_seen_and_can_be_refused() {
    let log = Log::default();
    let schema = built(blog(&Log::default()).intercept_requests(Requests(Arc::clone(&log))));
    block_on(schema.execute(Request::new("query A { me { id } }").operation("A")));
    assert_eq!(noted(&log), ["query A { me { id } } Some(\"A\")", "Executed"]);
    block_on(schema.execute(Request::new("{ nothing }")));
    assert_eq!(noted(&log), ["{ nothing } None", "Refused"]);
    let refused = block_on(schema.execute(Request::new("{ me { id } }").data(Tenant("other"))));
    assert_eq!(
        refused.text(),
        r#"{"errors":[{"message":"not yours","extensions":{"code":"RESOLVER_FAILED"}}]}"#
    );
    assert_eq!(noted(&log), ["{ me { id } } None"]);
}
