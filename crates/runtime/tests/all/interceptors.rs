//! Interceptors of requests and plan steps.

use crate::kit::{Log, block_on, blog, built, json, note, noted};
use std::sync::Arc;
use std::time::Duration;
use weir_engine::memory::Memory;
use weir_runtime::{
    FetchOutcome, HookCall, Identity, Outcome, Request, RequestCall, RequestHook, ResolveError, Schema,
    StepHook, constant,
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
    let (bound, steps) = (Arc::clone(&log), Arc::clone(&log));
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
    let (log, calls) = (Log::default(), Log::default());
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
                let (name, log) = (step.source.to_owned(), Arc::clone(&steps));
                (name == "other").then(|| Arc::new(Step { name, log }) as Arc<dyn StepHook>)
            }),
    );
    let request = Request::new("{ a answer }").identity(Identity::admin());
    assert_eq!(block_on(schema.execute(request)).text(), r#"{"data":{"a":1,"answer":42}}"#);
    assert_eq!(noted(&log), ["other for 1", "other Answered"]);
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
