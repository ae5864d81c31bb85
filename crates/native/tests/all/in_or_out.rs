//! Each root field of a mutation is in or out, and the answer says which: random mutations over values that do not fit their scalar,
//! compared with what is in the store after.

use crate::kit;
use crate::kit::in_postgres;
use crate::wall_kit::ask::Random;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const SDL: &str = "type Mote { id: ID!, key: Int! @id, tag: Int, loose: Float, area: Polygon }";

const AREA: &str = "{coordinates: [{points: [{longitude: 1, latitude: 1}, {longitude: 2, latitude: 1}, {longitude: 2, latitude: 2}]}]}";

/// Fields whose values may not fit.
const VALUES: [&str; 2] = ["loose", "area { coordinates { points { longitude } } }"];

/// The one of [`VALUES`] that does not fit in the object with `key`, if one does not.
const fn spoiled(key: u32) -> usize {
    key as usize % VALUES.len()
}

/// Keys with tags, and whether a value of theirs does not fit.
type Motes = BTreeMap<u32, (u32, bool)>;

/// A root field: its text, the objects after it, and whether its answer has a value that does not fit.
fn field(random: &mut Random, motes: &Motes) -> (String, Motes, bool) {
    let mut after = motes.clone();
    let from = 1 + random.below(6);
    let tag = 10 + random.below(90);
    let shown: Vec<bool> = (0..VALUES.len()).map(|_| random.below(2) == 0).collect();
    let values = VALUES.iter().zip(&shown).filter(|it| *it.1).map(|it| *it.0);
    let mut members: Vec<&str> = values.collect();
    if members.is_empty() || random.below(2) == 0 {
        members.push("key");
    }
    let selected = format!("{{ mote {{ {} }} }}", members.join(" "));
    let keys: Vec<u32> = (from..from + 2).collect();
    let is_bad = keys.iter().any(|it| shown[spoiled(*it)] && motes.get(it).is_some_and(|it| it.1));
    match random.below(3) {
        0 => {
            let key = motes.keys().last().map_or(1, |it| it + 1);
            after.insert(key, (tag, false));
            (format!("addMote(input: [{{key: {key}, tag: {tag}}}]) {selected}"), after, false)
        }
        1 => {
            for key in &keys {
                after.entry(*key).and_modify(|it| it.0 = tag);
            }
            let input = format!("{{filter: {{key: {{in: {keys:?}}}}}, set: {{tag: {tag}}}}}");
            (format!("updateMote(input: {input}) {selected}"), after, is_bad)
        }
        _ => {
            after.retain(|key, _| !keys.contains(key));
            (format!("deleteMote(filter: {{key: {{in: {keys:?}}}}}) {selected}"), after, is_bad)
        }
    }
}

/// Asks random mutations of a store that begins with `motes`; `now` gives its objects as [`state`] writes them.
fn check(random: &mut Random, mut motes: Motes, ask: &dyn Fn(&str) -> String, now: &dyn Fn() -> String) {
    for _ in 0..12 {
        let mut query = "mutation {".to_owned();
        let mut done = Vec::new();
        let mut after = motes.clone();
        let mut failed = None;
        for at in 0..1 + random.below(3) {
            let (text, next, is_bad) = field(random, &after);
            query.push_str(&format!(" f{at}: {text}"));
            if is_bad && failed.is_none() {
                failed = Some(format!("f{at}"));
            }
            if failed.is_none() {
                done.push(format!("f{at}"));
                after = next;
            }
        }
        query.push_str(" }");
        let answer = ask(&query);
        let story = format!("{query}\n{answer}\nbefore {}", state(&motes));
        let json: Value = serde_json::from_str(&answer).expect("JSON");
        assert_eq!(now(), state(&after), "{story}");
        match failed {
            None => assert!(json["errors"].is_null(), "{story}"),
            Some(key) => {
                let first = &json["errors"][0];
                assert_eq!((&first["path"][0], &json["data"][&key]), (&json!(key), &Value::Null), "{story}");
                let committed = if done.is_empty() { Value::Null } else { json!(done) };
                for error in json["errors"].as_array().expect("a list") {
                    assert_eq!(error["extensions"]["committed"], committed, "{story}");
                }
            }
        }
        motes = after;
    }
}

fn state(motes: &Motes) -> String {
    let motes: Vec<String> = motes.iter().map(|(key, (tag, _))| format!("{key}={tag}")).collect();
    motes.join(",")
}

fn some_motes(random: &mut Random) -> Motes {
    (1..=1 + random.below(5)).map(|key| (key, (key, random.below(3) == 0))).collect()
}

/// The mutation that adds them, and the statements that make values of theirs not fit: a number that is `bad`, or a text that is no shape.
fn filling(motes: &Motes, bad: &str) -> (String, String) {
    let input =
        motes.iter().map(|(key, (tag, _))| format!("{{key: {key}, tag: {tag}, loose: 1.5, area: {AREA}}}"));
    let input: Vec<String> = input.collect();
    let spoil = motes.iter().filter(|it| it.1.1);
    let spoil = spoil.map(|(key, _)| {
        let set = if spoiled(*key) == 0 { format!("loose = {bad}") } else { "area = 'x'".to_owned() };
        format!(r#"UPDATE "Mote" SET {set} WHERE key = {key};"#)
    });
    (format!("mutation {{ addMote(input: [{}]) {{ numUids }} }}", input.join(", ")), spoil.collect())
}

#[test]
fn random_mutations_are_in_or_out_on_sqlite() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let motes = some_motes(&mut random);
        let (add, spoil) = filling(&motes, "9e999");
        let served = kit::serve(SDL, "");
        served.ask(&add, "");
        served.beside.execute_batch(&spoil).expect("values are changed");
        let sql = r#"SELECT coalesce(group_concat(key || '=' || tag, ',' ORDER BY key), '') FROM "Mote""#;
        let now = || served.beside.query_row(sql, [], |row| row.get(0)).expect("it is read");
        check(&mut random, motes, &|query| served.ask(query, ""), &now);
    }
}

#[test]
fn random_mutations_are_in_or_out_on_postgres() {
    for seed in 0..16 {
        let mut random = Random::new(seed);
        let motes = some_motes(&mut random);
        let (add, spoil) = filling(&motes, "'Infinity'");
        let served = in_postgres::serve(SDL, "");
        served.ask(&add, "");
        served.database.run(&spoil);
        let sql = r#"SELECT coalesce(string_agg(key || '=' || tag, ',' ORDER BY key), '') FROM "Mote""#;
        let now = || served.database.run(sql).trim().to_owned();
        check(&mut random, motes, &|query| served.ask(query, ""), &now);
    }
}
