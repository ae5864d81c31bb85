//! The grammar of v0.4, in which selections and values are one language.

use super::{evaluate_by, printed_selection};
use crate::selection::{Grammar, Selection};
use proptest::prelude::*;

const ANSWER: &str = r#"{"a": {"b": {"c": 1, "d": "s"}}, "x-y": {"z": {"w": 3}, "v": 4}, "true": {"k": 1}, "nul": null,
    "l": [{"id": 1, "n": {"m": 1}}, {"id": 2, "n": {"m": 2}}], "s": "str", "i": 5}"#;

fn parse(text: &str) -> Result<Selection, String> {
    Selection::parse_by(text, Grammar::Unified).map_err(|it| it.message)
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(evaluate_by(text, Grammar::Unified, ANSWER), expected, "{text}");
    let printed = parse(text).unwrap().print();
    assert_eq!(evaluate_by(&printed, Grammar::Unified, ANSWER), expected, "{text} printed as {printed}");
    assert_eq!(parse(&printed).unwrap().print(), printed, "{text}");
}

#[test]
fn a_quoted_text_is_a_literal_where_a_value_stands() {
    check(r#"x: "x-y""#, r#"{"x":"x-y"}"#);
    check(r#"x: "x-y".v"#, "{}");
    check(r#"x: "x-y"->size"#, r#"{"x":3}"#);
    check(r#"x: $."x-y".v"#, r#"{"x":4}"#);
    check(r#"x: "x-y" { v }"#, r#"{"x":{"v":4}}"#);
    check(r#""x-y" { v }"#, r#"{"x-y":{"v":4}}"#);
    check(r#""x-y".z { w } s"#, r#"{"w":3,"s":"str"}"#);
    check(r#""x-y""#, r#""x-y""#);
    check(r#""x-y" i"#, r#"{"x-y":{"z": {"w": 3}, "v": 4},"i":5}"#);
    check("x: 'it\\'s'", r#"{"x":"it's"}"#);
}

#[test]
fn words_of_json_are_literals_where_a_value_stands() {
    check("x: true y: null z: false", r#"{"x":true,"y":null,"z":false}"#);
    check("x: true { k }", r#"{"x":{"k":1}}"#);
    check("true { k }", r#"{"true":{"k":1}}"#);
    check("true i", r#"{"true":{"k": 1},"i":5}"#);
    check("true,", r#"{"true":{"k": 1}}"#);
    check("true", "true");
    check("x: $.true.k y: trueish", r#"{"x":1}"#);
    check("x: -1->add(2) y: .5 z: 5.", r#"{"x":1,"y":0.5,"z":5.0}"#);
    check("x: 1.foo", "{}");
}

#[test]
fn commas_stand_between_all_members_or_none() {
    check("s, i", r#"{"s":"str","i":5}"#);
    check("s, i,", r#"{"s":"str","i":5}"#);
    check("x: l { id, k: $.n.m, }", r#"{"x":[{"id":1,"k":1},{"id":2,"k":2}]}"#);
    for text in ["s, i s", "s i,", "x: { s i, }", "x: $({s, i l})"] {
        let message = "commas stand between all members of these braces, or between none";
        assert_eq!(parse(text).err().as_deref(), Some(message), "{text}");
    }
    let early = Selection::parse("s, i").err().map(|it| it.message);
    assert_eq!(early.as_deref(), Some("members are set apart by spaces, not commas"));
}

#[test]
fn a_selection_may_be_any_value() {
    check("[1, s, { i }]", r#"[1,"str",{"i":5}]"#);
    check("{ s: 1 }", r#"{"s":1}"#);
    check("{ s i }", r#"{"s":"str","i":5}"#);
    check("{ a: $.i }->get('a')", "5");
    check("s ?? i", r#""str""#);
    check("nope ?? nul ?? 3", "3");
    check("nope ?! nul", "null");
    check("x: nope ?? \"d\" y: i", r#"{"x":"d","y":5}"#);
    check("{}", "{}");
    check("x: {}", r#"{"x":{}}"#);
    check("s->slice(0, 1)", r#""s""#);
    check("a", r#"{"a":{"b": {"c": 1, "d": "s"}}}"#);
}

#[test]
fn an_object_has_what_members_have_and_keeps_what_is_around_it() {
    check("x: $({s i})", r#"{"x":{"s":"str","i":5}}"#);
    check("x: $({s, ... a.b})", r#"{"x":{"s":"str","c":1,"d":"s"}}"#);
    check("x: $({ $.a.b { c }, i })", r#"{"x":{"c":1,"i":5}}"#);
    check("x: $({ a { b { c } } })", r#"{"x":{"a":{"b":{"c":1}}}}"#);
    check("x: l->map({ id: @.id, s })", r#"{"x":[{"id":1,"s":"str"},{"id":2,"s":"str"}]}"#);
    check("x: l->map({ ...@.n, q: { s, m: @.id } })->first", r#"{"x":{"m":1,"q":{"m":1}}}"#);
    check("x: $({ p: 1, p: 2 })", r#"{"x":{"p":2}}"#);
    check("x: $({ p: {a: 1}, p: {b: 2} })", r#"{"x":{"p":{"a":1,"b":2}}}"#);
    check("x: $({ \"x-y\" })", r#"{"x":{"x-y":{"z": {"w": 3}, "v": 4}}}"#);
    check("x: l { id k: { m: n.m } }", r#"{"x":[{"id":1,"k":{"m":1}},{"id":2,"k":{"m":2}}]}"#);
    check("s ... $({ q: 1 })", r#"{"s":"str","q":1}"#);
    check("s ... { q: $.i }", r#"{"s":"str","q":5}"#);
    check("x: { p: 1 }->entries", r#"{"x":[{"key":"p","value":1}]}"#);
    check("x: { p: 1 } ?? 2", r#"{"x":{"p":1}}"#);
    check("s ... nope ?? a.b", r#"{"s":"str","c":1,"d":"s"}"#);
    check("... true i", r#"{"k":1,"i":5}"#);
    check("s ... 'x-y'.z", r#"{"s":"str","w":3}"#);
    check("x: l->map({ k: { id } })", r#"{"x":[{"k":{"id":1}},{"k":{"id":2}}]}"#);
    check("x: i->echo({ k: { s }, n: { a: @ } })", r#"{"x":{"k":5,"n":{"a":5}}}"#);
    check("x: l->echo({ k: { z: 1 } })", r#"{"x":{"k":[{"z":1},{"z":1}]}}"#);
    check("x: l->map([{ id: @.id, s }])->last", r#"{"x":[{"id":2,"s":"str"}]}"#);
    check("a {}", r#"{"a":{}}"#);
    check("... s->match(['str', { t: 1 }], [@, { t: 2 }]) i", r#"{"t":1,"i":5}"#);
}

/// A JSON value.
fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        (-9999i64..9999).prop_map(serde_json::Value::from),
        "[a-z {}:,.$@\\->?é]{0,6}".prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            proptest::collection::btree_map("[a-z_ -]{1,5}|true|null", inner, 0..4)
                .prop_map(|it| serde_json::Value::Object(it.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn json_is_a_selection_that_gives_itself(value in json()) {
        let text = value.to_string();
        let found = evaluate_by(&text, Grammar::Unified, "{\"a\": 2}");
        prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&found).ok(), Some(value));
        let printed = parse(&text).map_err(TestCaseError::fail)?.print();
        prop_assert_eq!(evaluate_by(&printed, Grammar::Unified, "{}"), found);
    }

    #[test]
    fn what_both_grammars_read_is_one_value(text in printed_selection()) {
        prop_assert_eq!(evaluate_by(&text, Grammar::Unified, ANSWER), evaluate_by(&text, Grammar::Early, ANSWER));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[a-c$@.:{}()\\[\\]>?,'\"# \\\\é0-9-]{0,40}|(true|null|a|'b'|\\.\\.\\.|\\{|\\}|:|,| |->map\\(@|\\)|1){0,16}") {
        if let Ok(selection) = parse(&text) {
            let printed = selection.print();
            let again = parse(&printed).map_err(|it| TestCaseError::fail(format!("{text} | {printed}: {it}")))?;
            prop_assert_eq!(again.print(), printed.clone());
            prop_assert_eq!(
                evaluate_by(&printed, Grammar::Unified, ANSWER),
                evaluate_by(&text, Grammar::Unified, ANSWER)
            );
        }
    }
}
