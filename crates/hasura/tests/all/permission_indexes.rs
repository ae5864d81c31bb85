//! Conditions keep their indexes under a role, or say that they lose them. On PostgreSQL: SQLite's patterns have no index.

use crate::role_kit::side::{Database, Side, ask, caller_with};
use serde_json::json;
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::engine::Request;
use weir_engine::source::Protocol;
use weir_hasura::model::{ModelOptions, Track};
use weir_metadata::document::table::TableEntry;

const TABLES: &str = "
CREATE EXTENSION pg_trgm;
CREATE EXTENSION ltree;
CREATE TABLE note (id integer PRIMARY KEY, owner_id integer NOT NULL, body text, code text, path ltree,
  doc jsonb, tags text[]);
INSERT INTO note SELECT g, g % 3, md5(g::text), md5(g::text), text2ltree('a.b' || g),
  jsonb_build_object('k' || g, g), ARRAY['t' || g] FROM generate_series(1, 20000) AS g;
CREATE INDEX note_body ON note USING gin (body gin_trgm_ops);
CREATE INDEX note_code ON note (code text_pattern_ops);
CREATE INDEX note_path ON note USING gist (path);
CREATE INDEX note_doc ON note USING gin (doc);
CREATE INDEX note_tags ON note USING gin (tags);
ANALYZE note;
";

const SESSION: &[(&str, &str)] = &[("x-hasura-user-id", "1")];

fn side() -> Side {
    let permission = json!({"columns": "*", "filter": {"owner_id": {"_eq": "X-Hasura-User-Id"}}});
    let tables =
        json!([{"table": "note", "select_permissions": [{"role": "user", "permission": permission}]}]);
    let tables: Vec<TableEntry> = serde_json::from_value(tables).unwrap();
    let model = ModelOptions { track: Track::Listed, tables: &tables, ..ModelOptions::default() };
    Side::serve(Database::Postgres, TABLES, model, &[])
}

/// The statement of a query by the role, and the text of its plan.
fn explained(side: &Side, condition: &str) -> (String, String) {
    let query = format!("{{ note(where: {condition}) {{ id }} }}");
    let caller = side.engine.caller(&caller_with("user", false, SESSION));
    let explained =
        side.engine.explain(Request::new(&query, Instant::now() + Duration::from_secs(60)), &caller);
    let explained = explained.unwrap_or_else(|it| panic!("{condition}: {}", String::from_utf8_lossy(&it)));
    let sql: Vec<&str> = explained.steps[0].1.lines().filter(|it| !it.starts_with("--")).collect();
    (sql.join(" "), explained.plan)
}

/// PostgreSQL's plan of the statement with these values.
fn plan(side: &mut Side, sql: &str, values: &[&str]) -> String {
    let values: Vec<String> = values.iter().map(|it| format!("'{}'", it.replace('\'', "''"))).collect();
    (side.beside)(&format!("PREPARE asked AS {sql}"));
    let plan = (side.beside)(&format!("EXPLAIN (FORMAT JSON) EXECUTE asked({})", values.join(", ")));
    (side.beside)("DEALLOCATE asked");
    plan
}

#[test]
fn patterns_keep_their_indexes_under_a_role() {
    let mut side = side();
    for (condition, values, index) in [
        (r#"{body: {_like: "%abcde%"}}"#, ["1", "%abcde%", "%abcde%"].as_slice(), Some("note_body")),
        (r#"{body: {_ilike: "%ABCDE%"}}"#, &["1", "%ABCDE%", "%ABCDE%"], Some("note_body")),
        (r#"{code: {_like: "abcde%"}}"#, &["1", "abcde%", "abcde%"], Some("note_code")),
        (r#"{body: {_regex: "abc[0-9]ef"}}"#, &["1", "abc[0-9]ef", ""], Some("note_body")),
        (r#"{body: {_iregex: "ABC[0-9]EF"}}"#, &["1", "ABC[0-9]EF", ""], Some("note_body")),
        (r#"{code: {_regex: "^abcde"}}"#, &["1", "^abcde", ""], Some("note_code")),
        (r#"{code: {_similar: "abcde%"}}"#, &["1", "abcde%", "%"], Some("note_code")),
        (r#"{doc: {_contains: {k7: 7}}}"#, &["1", r#"{"k7": 7}"#, r#"{"k7": 7}"#], Some("note_doc")),
        (r#"{doc: {_has_keys_any: ["k7"]}}"#, &["1", "{k7}", "{k7}"], Some("note_doc")),
        (r#"{doc: {_has_keys_all: ["k7"]}}"#, &["1", "{k7}", "{k7}"], Some("note_doc")),
        (r#"{tags: {_contains: ["t7"]}}"#, &["1", "{t7}", "{t7}"], Some("note_tags")),
        (r#"{body: {_regex: "(?=abcde)"}}"#, &["1", "", "(?=abcde)"], None),
    ] {
        let (sql, words) = explained(&side, condition);
        let count = if sql.contains("$3") { 3 } else { 2 };
        let plan = plan(&mut side, &sql, &values[..count]);
        match index {
            Some(index) => assert!(plan.contains(&format!("\"Index Name\": \"{index}\"")), "{sql}\n{plan}"),
            None => assert!(plan.contains("Seq Scan"), "{sql}\n{plan}"),
        }
        assert_eq!(words.contains("(behind the policy)"), count == 3, "{words}");
    }
}

/// Large arguments ask the index for a part, and find what the whole says; so do conditions beyond those that stand before the policy.
#[test]
fn large_arguments_find_what_they_say() {
    let mut side = side();
    let caller = caller_with("user", false, SESSION);
    let long = "a".repeat(300);
    (side.beside)(&format!(
        "UPDATE note SET body = '{long}b', tags = (SELECT array_agg('t' || g) FROM generate_series(1, 99) AS g), \
         doc = (SELECT jsonb_agg(g) FROM generate_series(1, 99) AS g) WHERE id = 1"
    ));
    let texts = |to: u32| -> String { (1..=to).map(|it| format!("\"t{it}\", ")).collect() };
    let numbers = |to: u32| -> String { (1..=to).map(|it| format!("{it}, ")).collect() };
    let all: Vec<String> =
        (0..20).map(|it| format!("{{body: {{_like: \"a%{}b\"}}}}", "a".repeat(it))).collect();
    for (condition, is_found) in [
        (format!("{{body: {{_like: \"{long}_\"}}}}"), true),
        (format!("{{body: {{_like: \"{long}c\"}}}}"), false),
        (format!("{{tags: {{_contains: [{}]}}}}", texts(99)), true),
        (format!("{{tags: {{_contains: [{}]}}}}", texts(100)), false),
        (format!("{{doc: {{_contains: [{}]}}}}", numbers(99)), true),
        (format!("{{doc: {{_contains: [{}]}}}}", numbers(100)), false),
        (format!("{{doc: {{_has_keys_any: [{}]}}}}", texts(99)), false),
        (format!("{{_and: [{}]}}", all.join(", ")), true),
        (format!("{{_and: [{}, {{body: {{_like: \"b%\"}}}}]}}", all.join(", ")), false),
    ] {
        let query = format!("{{ note(where: {{_and: [{{id: {{_lt: 5}}}}, {condition}]}}) {{ id }} }}");
        let answer = ask(&side.engine, &caller, &query, Protocol::GraphqlOverHttp);
        let expected = if is_found { r#"{"data":{"note":[{"id":1}]}}"# } else { r#"{"data":{"note":[]}}"# };
        assert_eq!(answer, expected, "{condition:.200}");
        let negated =
            format!("{{ note(where: {{_and: [{{id: {{_eq: 1}}}}, {{_not: {condition}}}]}}) {{ id }} }}");
        let answer = ask(&side.engine, &caller, &negated, Protocol::GraphqlOverHttp);
        let expected = if is_found { r#"{"data":{"note":[]}}"# } else { r#"{"data":{"note":[{"id":1}]}}"# };
        assert_eq!(answer, expected, "not {condition:.200}");
    }
    let words = explained(&side, &format!("{{_and: [{}]}}", all.join(", "))).1;
    assert_eq!(words.matches("(behind the policy)").count(), 16, "{words}");
    assert_eq!(words.matches("(behind the policy, without an index)").count(), 4, "{words}");
}

#[test]
fn a_condition_that_loses_its_index_says_so() {
    let side = side();
    let (sql, words) = explained(&side, r#"{path: {_matches: "*.b7"}}"#);
    assert!(sql.contains("CASE WHEN"), "{sql}");
    assert!(words.contains("(behind the policy, without an index)"), "{words}");
    let caller = caller_with("user", false, SESSION);
    let query = r#"{ note(where: {path: {_matches: "*.b7"}}) { id } }"#;
    for count in 1..=2 {
        let answer = ask(&side.engine, &caller, query, Protocol::GraphqlOverHttp);
        assert_eq!(answer, r#"{"data":{"note":[{"id":7}]}}"#);
        assert_eq!(side.source.unindexed_conditions(), count);
    }
    ask(&side.engine, &Identity::admin(), query, Protocol::GraphqlOverHttp);
    assert_eq!(side.source.unindexed_conditions(), 2, "the admin has no policy");
}
