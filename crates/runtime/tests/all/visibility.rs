//! Profiles: what a predicate hides does not exist for the caller.

use crate::kit::{block_on, built};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use weir_engine::engine::{self, Body};
use weir_runtime::{Context, Identity, Request, Schema, constant, root};

struct Mail {
    of: Option<String>,
    secret: Option<bool>,
}
weir_runtime::input!(Mail { of, secret });

fn schema(asked: &Arc<AtomicUsize>) -> Schema {
    let asked = Arc::clone(asked);
    let sdl =
        "type Query { a: Int mail(of: String, secret: Boolean): String kind(of: Kind): Kind audit: Audit }
        type Audit { lines: Int } enum Kind { PUBLIC INTERNAL }";
    built(
        Schema::builder(sdl)
            .profile_of(|identity| if *identity.role == *"staff" { "staff".into() } else { "public".into() })
            .visible_if("Query.mail(secret:)", move |profile| {
                asked.fetch_add(1, Ordering::Relaxed);
                profile == "staff"
            })
            .visible_if("Kind.INTERNAL", |profile| profile == "staff")
            .visible_if("Audit", |profile| profile == "staff")
            .resolve("Query.a", constant(1))
            .resolve(
                "Query.mail",
                root(|mail: &Mail, _: &Context| format!("{:?} {:?}", mail.of, mail.secret)),
            )
            .resolve("Query.kind", root(|_: &(), _: &Context| "INTERNAL"))
            .resolve("Query.audit", root(|_: &(), _: &Context| weir_runtime::Value::Null)),
    )
}

fn identity(role: &str) -> Identity {
    Identity { role: role.into(), ..Identity::admin() }
}

fn run_as(schema: &Schema, role: &str, query: &str) -> String {
    block_on(schema.execute(Request::new(query).identity(identity(role)))).text().to_owned()
}

#[test]
fn hidden_members_are_neither_valid_nor_introspected() {
    let schema = schema(&Arc::default());
    let fields = "{ __type(name: \"Query\") { fields { name args { name } } } }";
    let seen = run_as(&schema, "reader", fields);
    assert!(seen.contains("\"mail\"") && !seen.contains("secret") && !seen.contains("audit"), "{seen}");
    let seen = run_as(&schema, "staff", fields);
    assert!(seen.contains("secret") && seen.contains("audit"), "{seen}");
    let refused = run_as(&schema, "reader", "{ mail(secret: true) }");
    assert!(refused.contains("Unknown argument \\\"secret\\\" on field \\\"Query.mail\\\"."), "{refused}");
    assert!(run_as(&schema, "reader", "{ audit { lines } }").contains("Cannot query field"));
    assert!(
        run_as(&schema, "reader", "{ kind(of: INTERNAL) }").contains("does not exist in \\\"Kind\\\" enum")
    );
    assert_eq!(
        run_as(&schema, "staff", "{ mail(secret: true) audit { lines } }"),
        r#"{"data":{"mail":"None Some(true)","audit":null}}"#
    );
}

#[test]
fn a_plan_is_that_of_its_caller() {
    let schema = schema(&Arc::default());
    let audit = || Request::new("query ($secret: Boolean) { mail(secret: $secret) audit { lines } }");
    let staff = || audit().identity(Identity { role: "staff".into(), ..Identity::admin() });
    let steps =
        schema.steps(staff().variables(r#"{"secret": true}"#)).unwrap_or_else(|it| panic!("{}", it.text()));
    assert_eq!(steps, ["resolver Query.mail, resolver Query.audit"]);
    assert!(schema.explain(staff()).is_ok_and(|it| it.plan.contains("piece 0 of library")));
    let refused = schema.steps(audit()).expect_err("nobody sees the audit");
    assert!(refused.text().contains("Cannot query field"), "{}", refused.text());
    let unreadable = schema.steps(staff().variables("{")).expect_err("the variables are no JSON");
    assert!(unreadable.text().contains("the variables are not valid JSON"), "{}", unreadable.text());
}

#[test]
fn a_predicate_is_evaluated_once_per_profile() {
    let asked = Arc::default();
    let schema = schema(&asked);
    for role in ["reader", "writer", "staff", "reader", "staff"] {
        for _ in 0..3 {
            run_as(&schema, role, "{ a }");
        }
    }
    // The caller without an identity is of the profile `public` too, and was made with the schema.
    assert_eq!(asked.load(Ordering::Relaxed), 2);
}

#[test]
fn without_rules_everybody_sees_everything() {
    let schema = built(Schema::builder("type Query { a: Int }").resolve("Query.a", constant(1)));
    assert_eq!(run_as(&schema, "anybody", "{ a }"), r#"{"data":{"a":1}}"#);
}

#[test]
fn callers_of_profiles_beyond_the_bound_are_refused() {
    let schema = built(
        Schema::builder("type Query { a: Int secret: Int }")
            .visible_if("Query.secret", |_| true)
            .resolve("Query.a", constant(1))
            .resolve("Query.secret", constant(2)),
    );
    // The caller without an identity has the first profile.
    for number in 1..256 {
        assert_eq!(run_as(&schema, &format!("user {number}"), "{ secret }"), r#"{"data":{"secret":2}}"#);
    }
    for query in ["{ a }", "{ secret }", "{ __schema { queryType { name } } }"] {
        let refused = run_as(&schema, "user 256", query);
        assert!(refused.contains("let `profile_of` name profiles by role, not by user"), "{refused}");
        assert!(refused.contains("LIMIT_PROFILES") && !refused.contains("\"data\""), "{refused}");
    }
    let request = Request::new("{ a }").identity(identity("user 257"));
    let subscribed = block_on(schema.subscribe(request, Duration::from_secs(5)));
    assert!(subscribed.is_err_and(|it| it.text().contains("LIMIT_PROFILES")));
    assert_eq!(run_as(&schema, "user 7", "{ secret }"), r#"{"data":{"secret":2}}"#);
    assert_eq!(block_on(schema.execute(Request::new("{ a }"))).text(), r#"{"data":{"a":1}}"#);
    // A server that reads requests itself asks the engine.
    let engine_answers = |query: &str, expected: &str| {
        let request = engine::Request::new(query, Instant::now() + Duration::from_secs(5));
        let caller = schema.engine().caller(&identity("user 256"));
        let body = match block_on(schema.engine().execute(request, &caller)).body {
            Body::Whole(body) => String::from_utf8(body).expect("JSON is UTF-8"),
            Body::Shared(_) | Body::Stream { .. } | Body::Increments { .. } => String::new(),
        };
        assert!(body.contains(expected), "{body}");
    };
    engine_answers("{ a }", "LIMIT_PROFILES");
    engine_answers("{ secret }", "Cannot query field");
}
