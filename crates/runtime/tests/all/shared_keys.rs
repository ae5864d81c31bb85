//! Fields of one type that are asked by the same keys: the keys are gathered once for all of them.

use crate::kit::{Log, block_on, built, json, note, noted};
use serde_json::{Value, json as value};
use weir_runtime::{Context, Request, Schema, keyed, record, root};

struct User {
    id: String,
    name: Option<String>,
}
record!(User { id, name });

const SDL: &str = "
type Query { users: [User!]! }
type User { id: String! name: String first: String second: String! third: Int named: Int alone: Int }
";

/// As many users, of whom every third repeats the one before and has no name.
fn users(len: usize) -> Vec<User> {
    let user = |at: usize| {
        let number = at - usize::from(at % 3 == 2);
        User { id: format!("user {}", len - number), name: (at % 3 < 2).then(|| format!("name {number}")) }
    };
    (0..len).map(user).collect()
}

fn schema(len: usize, log: &Log) -> Schema {
    let told = |field: &'static str| {
        let log = log.clone();
        move |ids: &[String], _: &(), _: &Context| {
            note(&log, format!("{field} {}", ids.len()));
            ids.iter().map(|id| format!("{field} of {id}")).collect::<Vec<_>>()
        }
    };
    let lengths = |ids: &[String], _: &(), _: &Context| {
        ids.iter().map(String::len).map(|it| it as i32).collect::<Vec<_>>()
    };
    built(
        Schema::builder(SDL)
            .resolve("Query.users", root(move |_: &(), _: &Context| users(len)))
            .resolve("User.first", keyed(["id"], told("first")))
            .resolve("User.second", keyed(["id"], told("second")))
            .resolve("User.third", keyed(["id"], lengths))
            .resolve("User.named", keyed(["name"], lengths))
            .resolve("User.alone", keyed(["id"], lengths)),
    )
}

#[test]
fn fields_with_the_same_keys_and_with_others_have_their_own_values() {
    let log = Log::default();
    let schema = schema(5, &log);
    let answer = json(&schema, "{ users { third first named second again: first } }");
    let user = |id: &str, named: Value| {
        value!({"third": 6, "first": format!("first of {id}"), "named": named, "second": format!("second of {id}"),
            "again": format!("first of {id}")})
    };
    let expected = value!({"data": {"users": [
        user("user 5", value!(6)), user("user 4", value!(6)), user("user 4", Value::Null),
        user("user 2", value!(6)), user("user 1", value!(6))]}});
    assert_eq!(answer, expected);
    let mut calls = noted(&log);
    calls.sort();
    assert_eq!(calls, ["first 4", "second 4"]);
}

#[cfg(debug_assertions)]
#[test]
fn keys_are_hashed_once_for_all_fields_that_share_them() {
    let schema = schema(300, &Log::default());
    let hashed = |query: &str| {
        block_on(schema.execute(Request::new(query)));
        let before = weir_engine::keys::hashed_by_this_thread();
        block_on(schema.execute(Request::new(query)));
        weir_engine::keys::hashed_by_this_thread() - before
    };
    let one = hashed("{ users { first } }");
    assert!(one >= 300, "{one}");
    assert_eq!(hashed("{ users { first second third alone } }"), one);
    // Names are other keys.
    assert_eq!(hashed("{ users { first named } }"), one + 200);
}
