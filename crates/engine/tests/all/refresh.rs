//! `@cached(refresh: true)` makes an answer anew for all who ask the same without it.

use crate::kit::{Documents, run, settings, text};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};
use weir_engine::compose::Graph;
use weir_engine::engine::{Engine, Settings};
use weir_engine::source::Protocol;

const SDL: &str = "
    directive @cached(ttl: Int! = 60, refresh: Boolean! = false) on QUERY
    type Album { times: Int! id: Int! }
    type Query { album(id: Int!): Album }";

/// An operation and its variables.
type Asked<'q> = (&'q str, &'q str);

/// Asks for all in turn: after each, how often an album had been asked for when its answer was made.
#[track_caller]
fn check(all: &[(Asked<'_>, u32)]) {
    let times = AtomicU32::new(0);
    let resolve = move |_: &str, arguments: &Value| {
        Ok(json!({"id": arguments["id"], "times": times.fetch_add(1, Ordering::Relaxed) + 1}))
    };
    let graph = Graph::compose(vec![Documents::new("albums", SDL, resolve)], &[]);
    let graph = graph.unwrap_or_else(|errors| panic!("{errors:?}"));
    let engine = Engine::new(graph, Settings { responses_bytes_max: 1 << 20, ..settings() });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let found = all.iter().map(|&(asked, _)| {
        let answer = text(runtime.block_on(run(&engine, Protocol::GraphqlOverHttp, asked.0, asked.1)));
        let answer: Value = serde_json::from_str(&answer).expect("an answer is JSON");
        let times = answer["data"]["album"]["times"].as_u64();
        (asked, times.unwrap_or_else(|| panic!("{asked:?} answers {answer}")) as u32)
    });
    assert_eq!(found.collect::<Vec<_>>(), all);
}

const PLAIN: Asked<'_> = ("query @cached(ttl: 60) { album(id: 1) { times } }", "{}");

#[test]
fn what_a_refresh_keeps_is_given_to_those_who_ask_without() {
    let again = ("query @cached(ttl: 60, refresh: true) { album(id: 1) { times } }", "{}");
    check(&[(PLAIN, 1), (PLAIN, 1), (again, 2), (PLAIN, 2), (again, 3), (PLAIN, 3)]);
    let first = ("query @cached(refresh: true, ttl: 60) { album(id: 1) { times } }", "{}");
    let off = ("query @cached(ttl: 60, refresh: false) { album(id: 1) { times } }", "{}");
    check(&[(first, 1), (off, 1), (PLAIN, 1), (first, 2), (off, 2), (PLAIN, 2)]);
    let bare = ("query @cached { album(id: 1) { times } }", "{}");
    let again = ("query @cached(refresh: true) { album(id: 1) { times } }", "{}");
    check(&[(bare, 1), (again, 2), (bare, 2)]);
}

#[test]
fn a_variable_that_only_says_whether_to_refresh_tells_no_answers_apart() {
    const TEXT: &str = "query ($r: Boolean = false) @cached(ttl: 60, refresh: $r) { album(id: 1) { times } }";
    let none = (TEXT, "{}");
    let off = (TEXT, r#"{"r": false}"#);
    let on = (TEXT, r#"{"r": true}"#);
    check(&[(none, 1), (off, 1), (PLAIN, 1), (on, 2), (none, 2), (off, 2), (PLAIN, 2)]);
    for text in [
        "query ($id: Int!, $r: Boolean = false) @cached(refresh: $r) { album(id: $id) { times } }",
        "query ($r: Boolean = false, $id: Int!) @cached(refresh: $r) { album(id: $id) { times } }",
    ] {
        let first = (text, r#"{"id": 1}"#);
        let other = (text, r#"{"id": 2}"#);
        let again = (text, r#"{"r": true, "id": 1}"#);
        check(&[(first, 1), (other, 2), (again, 3), (first, 3), (other, 2)]);
    }
}

#[test]
fn operations_that_differ_in_more_have_answers_of_their_own() {
    let used = "query ($r: Boolean = false) @cached(refresh: $r) { album(id: 1) { times id @skip(if: $r) } }";
    check(&[((used, "{}"), 1), ((used, r#"{"r": true}"#), 2), ((used, "{}"), 1)]);
    check(&[
        (PLAIN, 1),
        (("query @cached(ttl: 60) { album(id: 2) { times } }", "{}"), 2),
        (("query @cached(ttl: 30) { album(id: 1) { times } }", "{}"), 3),
        (("query ($i: Int! = 1) @cached(ttl: 60) { album(id: $i) { times } }", "{}"), 4),
        (("query ($i: Int! = 2) @cached(ttl: 60) { album(id: $i) { times } }", r#"{"i": 1}"#), 5),
        (PLAIN, 1),
    ]);
}
