//! Conditions keep their indexes under a role, or say that they lose them. On PostgreSQL: SQLite's patterns have no index.

use crate::role_kit::side::{Database, Side, ask, caller_with};
use serde_json::json;
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::engine::Request;
use weir_engine::source::Protocol;
use weir_metadata::document::table::TableEntry;
use weir_sql::model::{ModelOptions, Track};

const TABLES: &str = "
CREATE EXTENSION pg_trgm;
CREATE EXTENSION ltree;
CREATE TABLE note (id integer PRIMARY KEY, owner_id integer NOT NULL, body text, code text, path ltree);
INSERT INTO note SELECT g, g % 3, md5(g::text), md5(g::text), text2ltree('a.b' || g) FROM generate_series(1, 20000) AS g;
CREATE INDEX note_body ON note USING gin (body gin_trgm_ops);
CREATE INDEX note_code ON note (code text_pattern_ops);
CREATE INDEX note_path ON note USING gist (path);
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
    let sql: Vec<&str> = explained.pieces[0].1.lines().filter(|it| !it.starts_with("--")).collect();
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
        (r#"{body: {_like: "%abcde%"}}"#, ["1", "%abcde%", ""].as_slice(), Some("note_body")),
        (r#"{body: {_ilike: "%ABCDE%"}}"#, &["1", "%ABCDE%", ""], Some("note_body")),
        (r#"{code: {_like: "abcde%"}}"#, &["1", "abcde%", ""], Some("note_code")),
        (r#"{body: {_regex: "abc[0-9]ef"}}"#, &["1", "abc[0-9]ef", ""], Some("note_body")),
        (r#"{body: {_iregex: "ABC[0-9]EF"}}"#, &["1", "ABC[0-9]EF", ""], Some("note_body")),
        (r#"{code: {_regex: "^abcde"}}"#, &["1", "^abcde", ""], Some("note_code")),
        (r#"{code: {_similar: "abcde%"}}"#, &["1", "abcde%", "%"], Some("note_code")),
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
