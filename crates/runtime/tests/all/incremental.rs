//! Answers in parts: late fragments and late items, whose resolvers are called after the first part.

use crate::kit::{Log, block_on, blog, built, noted, run};
use futures_util::StreamExt;
use serde_json::{Value as Json, json as value};
use weir_runtime::{IncrementForm, Request, Schema};

const QUERY: &str = "{ me { name ... @defer { posts { id } } } users @stream(initialCount: 1) { id shout } }";

/// The first part, and all later ones.
fn parts(schema: &Schema, query: &str) -> (Json, Vec<Json>) {
    let read = |bytes: &[u8]| -> Json { serde_json::from_slice(bytes).expect("a part is JSON") };
    block_on(async {
        let answer = schema.execute_incremental(Request::new(query), IncrementForm::Paths).await;
        let first = read(&answer.first.body);
        let rest = answer.rest.collect::<Vec<_>>().await;
        assert_eq!(answer.has_next, !rest.is_empty());
        (first, rest.iter().map(|it| read(it)).collect())
    })
}

#[test]
fn late_fragments_and_items_come_after_the_first_part() {
    let log = Log::default();
    let schema = built(blog(&log));
    let (first, rest) = parts(&schema, QUERY);
    let users = value!([{"id": 1, "shout": "ADA"}]);
    assert_eq!(first, value!({"data": {"me": {"name": "Ada"}, "users": users}, "hasNext": true}));
    let mut late: Vec<Json> =
        rest.iter().flat_map(|part| part["incremental"].as_array().cloned().unwrap_or_default()).collect();
    late.sort_by_key(|it| it["path"].to_string());
    let posts = value!({"path": ["me"], "data": {"posts": [{"id": 11}, {"id": 12}]}});
    let items = value!([{"id": 2, "shout": "BOB"}, {"id": 3, "shout": "CY"}]);
    assert_eq!(late, [posts, value!({"path": ["users", 1], "items": items})]);
    assert_eq!(rest.last().expect("there are later parts")["hasNext"], false);
    let mut calls = noted(&log);
    calls.sort();
    assert_eq!(calls, ["posts of [1]", "shout of 1", "shout of 2", "shout of 3", "users"]);
}

#[test]
fn fields_that_come_with_their_object_stay_in_the_first_part() {
    let schema = built(blog(&Log::default()));
    let (first, rest) = parts(&schema, "{ me { id ... @defer { name } } }");
    assert_eq!(first, value!({"data": {"me": {"id": 1, "name": "Ada"}}}));
    assert!(rest.is_empty());
}

#[test]
fn a_request_that_is_answered_whole_ignores_the_directives() {
    let schema = built(blog(&Log::default()));
    let whole = run(&schema, QUERY);
    let users = r#"[{"id":1,"shout":"ADA"},{"id":2,"shout":"BOB"},{"id":3,"shout":"CY"}]"#;
    let me = r#"{"name":"Ada","posts":[{"id":11},{"id":12}]}"#;
    assert_eq!(whole, format!(r#"{{"data":{{"me":{me},"users":{users}}}}}"#));
}
