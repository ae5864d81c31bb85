//! What is read, how it is printed, and what comes of it.

use super::eval::eval;
use super::value::Value;
use super::{DEPTH_MAX, Selection};
use crate::inputs::{Args, Inputs, Keys, Settings};
use proptest::prelude::*;
use weir_engine::plan::shape::Shape;
use weir_engine::source::{Ids, NoHeaders};
use weir_language::json::Json;
use weir_language::schema::Schema;
use weir_language::value::Variables;

/// `text` reads, and prints as `expected`, which reads and prints the same.
#[track_caller]
fn prints(text: &str, expected: &str) {
    let selection = Selection::parse(text).unwrap_or_else(|error| panic!("{text}: {}", error.message));
    assert_eq!(selection.print(), expected);
    assert_eq!(Selection::parse(expected).expect("a printed text").print(), expected);
}

#[track_caller]
fn refused(text: &str, at: u32, message: &str) {
    let error = Selection::parse(text).err().unwrap_or_else(|| panic!("accepted: {text}"));
    assert_eq!((error.span.start, error.message.as_str()), (at, message), "{text}");
}

/// The value of `text` over `answer`, as JSON, or why there is none.
fn evaluated(text: &str, answer: &str) -> String {
    let selection = Selection::parse(text).unwrap_or_else(|error| panic!("{text}: {}", error.message));
    let schema = Schema::from_sdl("type Query { a: Int }").expect("a schema");
    let (shape, variables, ids) = (Shape::default(), Variables::default(), Ids::default());
    let object = |text| Value::read(text, 9).expect("JSON");
    let settings = Settings {
        config: object(r#"{"unit": "EUR", "deep": {"a": [1, 2]}}"#),
        env: object("{}"),
        context: object("{}"),
    };
    let args = Args { schema: &schema, ids: &ids, shape: &shape, variables: &variables, arguments: &[] };
    let inputs = Inputs { args, keys: Keys::NONE, settings: &settings, headers: &NoHeaders, response: None };
    let json = Json::parse(answer.as_bytes(), 64).expect("JSON");
    match eval(&selection, selection.root(), usize::MAX, &Value::of(json.root()), &inputs) {
        Ok(Value::Missing) => "missing".to_owned(),
        Ok(value) => {
            let mut out = Vec::new();
            value.write(&mut out);
            String::from_utf8(out).expect("UTF-8")
        }
        Err(fault) => fault.to_string(),
    }
}

#[track_caller]
fn check(text: &str, answer: &str, expected: &str) {
    assert_eq!(evaluated(text, answer), expected, "{text} over {answer}");
}

#[test]
fn selections_print_in_one_form() {
    prints("id   name\n# and\n  avatar", "id name avatar");
    prints("team: {id: teamId}", "team: { id: teamId }");
    prints("city: address.city 'x-y': \"a b\"", "city: address.city \"x-y\": \"a b\"");
    prints("$.results { id\nowner { name } }", "$.results { id owner { name } }");
    prints("teams: $([{id: homeTeamId}, {id: 'away',}])", "teams: $([{id: homeTeamId}, {id: \"away\"}])");
    prints("a: b->first->get(-1)?.c", "a: b->first->get(-1)?.c");
    prints("id $.address { street }", "id $.address { street }");
    prints("$", "$");
    prints("x: $(a ?? $(b ?? 1) ?? null)", "x: $(a ?? $(b ?? 1) ?? null)");
    prints("h: $request.headers.'x-id'->first", "h: $request.headers.\"x-id\"->first");
    prints("s: status->match(['a', 'A'], [@, null])", "s: status->match([\"a\", \"A\"], [@, null])");
    prints("n: $(1.50e3)->add(@, true)", "n: $(1.50e3)->add(@, true)");
    prints("true: true null", "true null");
    prints("$([1])->map(@ { a })", "$([1])->map(@ { a })");
}

#[test]
fn what_is_no_selection_is_refused_where_it_goes_wrong() {
    refused("  ", 0, "nothing is selected: name the members to take, or write `$` for all");
    refused("id,name", 2, "members are set apart by spaces, not commas");
    refused("id id", 3, "`id` is selected twice");
    refused("a { }", 4, "nothing is selected between these braces");
    refused("a {", 3, "expected `}`, found the end");
    refused("a }", 2, "expected a member, found `}`");
    refused("id a.b", 3, "this path needs a name (`name: a.b`), or members of its own in braces");
    refused("a: 1", 3, "a value that is written out stands in `$(…)`, as in `$(1)` or `$([a, b])`");
    refused("a: b->frist", 6, "there is no method `->frist`; did you mean `->first`?");
    refused("a: b->echo(1)", 6, "there is no method `->echo`");
    refused("a: b->first(1)", 6, "`->first` takes no argument, not 1");
    refused("a: b->get", 6, "`->get` takes one argument, not 0");
    refused("a: b->match([1])", 12, "`->match` takes pairs: `[\"a\", 1]`, and `[@, 0]` for all the rest");
    let variables = "$args $this $batch $config $context $request $env $status $response";
    refused("a: $arg.b", 3, &format!("there is no variable `$arg`: there are {variables}"));
    refused("a: b ?? c", 5, "`??` stands in `$(…)`: write `$(a ?? b)`");
    refused("a: $(b ?! c)", 7, "`?!` is not known here: `??` takes what is neither null nor missing");
    refused("a: 'b", 3, "this text has no end: its quote is missing");
    refused("a: $(01)", 5, "this is no number as JSON writes them");
    refused("a: $({b: 1, b: 2})", 12, "`b` is given twice");
    refused("a: ...b", 3, "expected a value, found `.`");
    refused("a & b", 2, "`&` cannot stand here");
    let deep = format!("a: $({}1{})", "[".repeat(DEPTH_MAX), "]".repeat(DEPTH_MAX));
    refused(&deep, 37, "more than 32 brackets are open");
}

#[test]
fn paths_go_through_objects_and_lists() {
    check("$.a.b", r#"{"a": {"b": 1.50}}"#, "1.50");
    check("$.a.b", r#"{"a": [{"b": 1}, {"b": "x"}]}"#, r#"[1,"x"]"#);
    check("$.a.b", r#"{"a": 1}"#, "missing");
    check(
        "id city: a.c $.a { s } g: { i: id }",
        r#"{"id": 1, "a": {"c": "x", "s": 2}}"#,
        r#"{"id":1,"city":"x","s":2,"g":{"i":1}}"#,
    );
    check("a { b }", r#"{"a": [{"b": 1, "c": 2}, null, {"c": 3}]}"#, r#"{"a":[{"b":1},null,{}]}"#);
    check("u: $config.unit d: $config.deep.a x: $config.y", "{}", r#"{"u":"EUR","d":[1,2]}"#);
    check("x: $(a ?? b ?? 'none')", r#"{"a": null}"#, r#"{"x":"none"}"#);
    check("x: a?.b->size y: $(a)->eq(null)", r#"{"a": null}"#, r#"{"y":true}"#);
    // `$` is the object whose members are taken, `@` the item.
    check("x: l->map({n: @, m: $.k})", r#"{"k": 7, "l": [1, 2]}"#, r#"{"x":[{"n":1,"m":7},{"n":2,"m":7}]}"#);
}

#[test]
fn methods_of_lists() {
    let list = r#"{"l": [1, 2, null, 4], "t": "héllo", "o": {"a": 1, "b": "x"}, "e": []}"#;
    for (text, expected) in [
        ("$.l->first", "1"),
        ("$.l->last", "4"),
        ("$.t->first", "\"h\""),
        ("$.e->first", "missing"),
        ("$.l->joinNotNull(',')", "\"1,2,4\""),
        ("$.l->get(-1)", "4"),
        ("$.l->get(9)", "missing"),
        ("$.t->get(1)", "\"é\""),
        ("$.o->get('b')", "\"x\""),
        ("$.l->size", "4"),
        ("$.t->size", "5"),
        ("$.o->entries", r#"[{"key":"a","value":1},{"key":"b","value":"x"}]"#),
        ("$.o->entries->map(@.key)", r#"["a","b"]"#),
        ("$.l->filter(@->gt(1)->or(@->eq(null)))", "[2,null,4]"),
        ("$.l->map(@->mul(2))", "[2,4,null,8]"),
        ("$.l->filter(@->ne(null))", "[1,2,4]"),
        ("$.l->find(@->eq(2.0))", "2"),
        ("$.l->slice(1, 3)", "[2,null]"),
        ("$.l->slice(-1)", "[4]"),
        ("$.t->slice(1, 3)", "\"él\""),
        ("$.l->contains(4)", "true"),
        ("$(4)->in([1, 4])", "true"),
        ("$.t->contains('ll')", "true"),
        ("$.o->first", r#"{"a": 1, "b": "x"}"#),
        ("$.o->slice(1)", "`->slice` cannot take an object"),
        ("$.l->map(@)->size", "4"),
        ("$.no->map(@)", "missing"),
    ] {
        check(text, list, expected);
    }
}

#[test]
fn methods_of_numbers_and_truth_never_lose_digits() {
    for (text, expected) in [
        ("$(9007199254740993)->add(1)", "9007199254740994"),
        ("$(0.1)->add(0.2)", "0.3"),
        ("$(1)->div(3)", "0.333333333333333333"),
        ("$(-7)->div(2)", "-3.5"),
        ("$(7)->mod(4)->mul(1.5)->sub(5)", "-0.5"),
        ("$(1)->div(0)", "`->div` has no result for these numbers"),
        ("$(1e400)->add(1)", "`->add` has no result for these numbers"),
        ("$('1')->add(1)", "`->add` cannot take a string"),
        ("$(1.0)->eq(1)", "true"),
        ("$([1, {a: 2}])->eq([1.0, {a: 2}])", "true"),
        ("$({a: 1, b: 2})->eq({b: 2, a: 1})", "true"),
        ("$(1)->ne('1')", "true"),
        ("$('b')->gt('a')", "true"),
        ("$(2)->lte(2)", "true"),
        ("$(true)->and(true, false)", "false"),
        ("$(false)->or(false, true)->not", "false"),
        ("$('ff')->parseInt(16)", "255"),
        ("$('x')->parseInt", "`->parseInt` cannot read this text"),
        ("$(12)->toString", "\"12\""),
        ("$({a: [1]})->jsonStringify", "\"{\\\"a\\\":[1]}\""),
        ("$('{\"a\": [1]}')->jsonParse.a", "[1]"),
        ("$('{')->jsonParse", "`->jsonParse` cannot read this text"),
        ("$('b')->match(['a', 1], ['b', 2], [@, 3])", "2"),
        ("$('c')->match(['a', 1], [@, 3])", "3"),
        ("$('c')->match(['a', 1])", "missing"),
    ] {
        check(text, "{}", expected);
    }
}

#[test]
fn an_evaluation_ends_whatever_the_mapping_asks_for() {
    let list = format!("[{}0]", "0,".repeat(999));
    check("$->map($->map($->map(1)))", &list, "the mapping makes too many values");
    check("$->map($->in($))->size", &list, "the mapping makes too many values");
    let long = format!("{{\"l\": {list}, \"t\": \"{}\"}}", "x".repeat(100_000));
    check("$.l->map($.t)->jsonStringify", &long, "the mapping makes too many values");
    check("$.l->map($.t)->joinNotNull('')", &long, "the mapping makes too many values");
}

/// A selection in the form it is printed in.
fn printed_selection() -> impl Strategy<Value = String> {
    let name = "[a-z_][a-z0-9_]{0,3}";
    let literal = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        "-?[1-9][0-9]{0,3}(\\.[0-9]{1,2})?",
        "[a-z \\-é]{0,4}".prop_map(|it| format!("\"{it}\""))
    ];
    let path = (
        prop_oneof![Just("$".to_owned()), Just("@".to_owned()), Just("$args.a".to_owned())],
        proptest::collection::vec(name, 0..3),
        prop_oneof![Just(""), Just("->first"), Just("?"), Just("->size->add(1, @)")],
    )
        .prop_map(|(start, keys, tail)| {
            format!("{start}{}{tail}", keys.iter().map(|it| format!(".{it}")).collect::<String>())
        });
    let value = prop_oneof![literal, path].prop_recursive(3, 12, 3, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(|it| format!("[{}]", it.join(", "))),
            proptest::collection::btree_map(name, inner.clone(), 0..3).prop_map(|it| {
                let members: Vec<String> = it.iter().map(|(key, value)| format!("{key}: {value}")).collect();
                format!("{{{}}}", members.join(", "))
            }),
            (inner.clone(), inner).prop_map(|(a, b)| format!("@->match([{a}, {b}])")),
        ]
    });
    let members = proptest::collection::btree_map("[a-z]{2,4}", value, 1..4);
    members.prop_map(|it| {
        let is_path = |value: &str| value.starts_with(['$', '@']);
        let member = |(key, value): (&String, &String)| match is_path(value) {
            true => format!("{key}: {value}"),
            false => format!("{key}: $({value})"),
        };
        it.iter().map(member).collect::<Vec<_>>().join(" ")
    })
}

proptest! {
    #[test]
    fn what_is_printed_reads_as_what_it_was(text in printed_selection()) {
        let selection = Selection::parse(&text).map_err(|it| TestCaseError::fail(format!("{text}: {}", it.message)))?;
        prop_assert_eq!(selection.print(), text);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[a-c$@.:{}()\\[\\]>?,'\"# \\\\é0-9-]{0,40}|.{0,20}") {
        if let Ok(selection) = Selection::parse(&text) {
            let printed = selection.print();
            let again = Selection::parse(&printed).map_err(|it| TestCaseError::fail(format!("{text} | {printed}: {}", it.message)))?;
            prop_assert_eq!(again.print(), printed);
            evaluated(&text, r#"{"a": [{"b": 1}, "c"], "b": null}"#);
        }
        if let Err(error) = Selection::parse_expression(&text) {
            prop_assert!(text.is_char_boundary(error.span.start as usize));
        }
    }
}
