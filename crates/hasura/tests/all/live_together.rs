//! Members of live queries that differ in their values alone: PostgreSQL is asked for them at once, and each gets its own rows.

use crate::hasura_kit::{Served, serve, serve_as, serve_with};
use crate::live::{PATIENCE, TABLES, change, next, subscribe};
use crate::postgres_kit::release::on_each_release;
use crate::postgres_kit::{chinook, database};
use crate::postgres_random::{CHINOOK, run_tapes};
use crate::random_kit::{Style, write};
use crate::role_kit::side::caller_with;
use proptest::test_runner::TestCaseError;
use serde_json::Value;
use std::time::{Duration, Instant};
use weir_engine::engine::Request;
use weir_engine::live::{LiveQueries, LiveSettings};
use weir_hasura::model::ModelOptions;
use weir_metadata::document::table::TableEntry;

/// The data of a result.
fn boats(result: &str) -> Value {
    serde_json::from_str::<Value>(result).unwrap()["data"]["boat"].take()
}

/// Harbours 1 to 40, each with as many boats.
async fn harbours() -> Served {
    let served = serve(database(TABLES)).await;
    served.database.run(
        "TRUNCATE harbour CASCADE; INSERT INTO harbour SELECT i, 'h' || i FROM generate_series(1, 40) AS i;
         INSERT INTO boat SELECT 100 * h + i, h, 'b' || i FROM generate_series(1, 40) AS h, generate_series(1, h) AS i",
    );
    served
}

async fn lists_of_members_are_one_statement_and_each_gets_its_rows_in_order() {
    let served = harbours().await;
    let live = LiveQueries::of(&served.engine, LiveSettings::STANDARD);
    let query = "subscription ($h: Int!) { boat(where: {harbour_id: {_eq: $h}}, order_by: {id: desc}, limit: 30) \
                 { id harbour { name } } }";
    let mut members = Vec::new();
    for harbour in 1..=40 {
        members.push(subscribe((&served.engine, &live), query, &format!(r#"{{"h": {harbour}}}"#)).await);
    }
    for member in &mut members {
        next(member).await;
    }
    let before = served.source.counts().statements;
    change(&served.engine, r#"mutation { update_boat(where: {}, _set: {name: "x"}) { affected_rows } }"#)
        .await;
    change(&served.engine, "mutation { delete_boat(where: {id: {_lt: 4100}, name: {_eq: \"x\"}, harbour_id: {_neq: 7}}) { affected_rows } }").await;
    for (at, member) in members.iter_mut().enumerate().filter(|it| it.0 != 6) {
        assert_eq!(next(member).await.0, r#"{"data":{"boat":[]}}"#, "harbour {}", at + 1);
    }
    let reads = served.source.counts().statements - before;
    // At most a few rounds of reads: each change is one, and what a feed tells.
    assert!(reads < 20, "{reads} statements for 40 members");
    change(&served.engine, "mutation { delete_boat(where: {id: {_eq: 706}}) { affected_rows } }").await;
    let left = boats(&next(&mut members[6]).await.0);
    let ids: Vec<i64> = left.as_array().unwrap().iter().map(|it| it["id"].as_i64().unwrap()).collect();
    assert_eq!(ids, [707, 705, 704, 703, 702, 701]);
    assert_eq!(left[0]["harbour"]["name"], "h7");
}

/// Waits for so many reads since the start.
async fn until_read(live: &LiveQueries, reads: u64) {
    while live.state().reads < reads {
        tokio::task::yield_now().await;
    }
}

async fn a_thousand_lists_that_are_polled_are_one_statement_for_a_hundred() {
    let served = serve_with(database(TABLES), &["public"], |it| it.decoding.is_wanted = false).await;
    let poll = Duration::from_millis(400);
    let live = LiveQueries::of(&served.engine, LiveSettings { poll, ..LiveSettings::STANDARD });
    let query =
        "subscription ($id: Int!) { boat(where: {id: {_gt: $id}}, order_by: {id: asc}, limit: 9) { id } }";
    let mut members = Vec::new();
    for id in 0..1000 {
        members.push(subscribe((&served.engine, &live), query, &format!(r#"{{"id": {id}}}"#)).await);
    }
    for member in &mut members {
        next(member).await;
    }
    // The first polls come at moments that those of the beginning still set.
    until_read(&live, live.state().reads + 1000).await;
    let reads = live.state().reads;
    let statements = served.source.counts().statements;
    until_read(&live, reads + 3000).await;
    let reads = live.state().reads - reads;
    let statements = served.source.counts().statements - statements;
    assert!(statements * 100 <= reads, "{statements} statements for {reads} reads");
}

async fn what_one_member_asks_in_vain_costs_the_others_nothing() {
    let served = serve(database(TABLES)).await;
    let live = LiveQueries::of(&served.engine, LiveSettings::STANDARD);
    let query = "subscription ($r: String!) { boat(where: {name: {_regex: $r}}, order_by: {id: asc}, limit: 2) { name } }";
    let mut members = Vec::new();
    for expression in ["A", "(", "B", "C", "^$"] {
        members.push(subscribe((&served.engine, &live), query, &format!(r#"{{"r": "{expression}"}}"#)).await);
    }
    let mut seen = Vec::new();
    for member in &mut members {
        seen.push(next(member).await.0);
    }
    assert!(seen[1].contains("regular expression"), "{}", seen[1]);
    seen.remove(1);
    let names =
        |of: &[&str]| of.iter().map(|it| format!(r#"{{"name":"{it}"}}"#)).collect::<Vec<_>>().join(",");
    let expected =
        [&["Ada"][..], &["Bel"], &["Cyd"], &[]].map(|it| format!(r#"{{"data":{{"boat":[{}]}}}}"#, names(it)));
    assert_eq!(seen, expected);
}

const OWN: &str = r#"[{"table": "harbour", "select_permissions": [{"role": "user", "permission": {"columns": "*", "filter": {}}}]},
  {"table": "boat", "select_permissions": [{"role": "user", "permission": {
    "columns": "*", "filter": {"harbour_id": {"_eq": "X-Hasura-Harbour"}}}}]}]"#;

async fn callers_of_one_role_get_what_each_may_see() {
    let tables: Vec<TableEntry> = serde_json::from_str(OWN).unwrap();
    let model = ModelOptions { tables: &tables, ..ModelOptions::default() };
    let served = serve_as(database(TABLES), model).await;
    served
        .database
        .run("INSERT INTO boat SELECT 10 + i, 1 + i % 2, 'b' || i FROM generate_series(1, 40) AS i");
    let live = LiveQueries::of(&served.engine, LiveSettings::STANDARD);
    let query = "subscription { boat(order_by: {id: asc}, limit: 40) { id harbour_id } }";
    let mut members = Vec::new();
    for harbour in ["1", "2", "3", "1"] {
        let caller = served.engine.caller(&caller_with("user", false, &[("x-hasura-harbour", harbour)]));
        let request = Request::new(query, Instant::now() + PATIENCE);
        let bound = served.engine.bind(request, &caller).await.unwrap();
        members.push((harbour, live.subscribe(bound).unwrap()));
    }
    for (harbour, member) in &mut members {
        let rows = boats(&next(member).await.0);
        let rows = rows.as_array().unwrap();
        assert!(
            rows.iter().all(|it| it["harbour_id"].as_u64() == harbour.parse().ok()),
            "{harbour}: {rows:?}"
        );
        assert_eq!(rows.len(), if *harbour == "3" { 0 } else { 20 + if *harbour == "1" { 2 } else { 1 } });
    }
}

/// The variables with other values of the same types, a few times.
fn variants(variables: &Value) -> Vec<Value> {
    fn other(value: &Value, by: i64) -> Value {
        match value {
            Value::Number(number) => Value::from((number.as_i64().unwrap_or(0) * 7 + by * 31) % 300),
            Value::Array(items) => items.iter().map(|it| other(it, by)).collect(),
            Value::Object(members) => {
                // The names of columns and orders stay.
                members.iter().map(|(key, it)| (key.clone(), other(it, by))).collect()
            }
            Value::String(_) | Value::Bool(_) | Value::Null => value.clone(),
        }
    }
    std::iter::once(variables.clone()).chain((1..4).map(|by| other(variables, by))).collect()
}

fn random_members_get_what_each_is_answered_alone() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let served = runtime.block_on(serve_with(chinook(), &["public"], |_| {}));
    let live = LiveQueries::of(&served.engine, LiveSettings::STANDARD);
    let several = std::cell::Cell::new(0);
    run_tapes(120, |tape| {
        let asked = write(CHINOOK, tape, Style::default());
        let variants = variants(&asked.variables);
        runtime.block_on(async {
            let mut members = Vec::new();
            for variables in &variants {
                let of = (&served.engine, &live);
                members.push(subscribe(of, &asked.graphql, &variables.to_string()).await);
            }
            several.set(several.get() + u32::from(live.state().operations > 1));
            for (variables, member) in variants.iter().zip(&mut members) {
                let variables = variables.to_string();
                let (got, _) = next(member).await;
                let alone = served.ask_with(&asked.graphql, &variables).await;
                if got != alone {
                    let text = format!("{} {variables}\n{got:.2000}\n{alone:.2000}", asked.graphql);
                    return Err(TestCaseError::fail(text));
                }
            }
            Ok(())
        })
    });
    assert!(several.get() > 20, "{} questions had several members", several.get());
}

on_each_release! {
    random_members_get_what_each_is_answered_alone,
}

on_each_release! {
    async
    lists_of_members_are_one_statement_and_each_gets_its_rows_in_order,
    a_thousand_lists_that_are_polled_are_one_statement_for_a_hundred,
    what_one_member_asks_in_vain_costs_the_others_nothing,
    callers_of_one_role_get_what_each_may_see,
}
