//! Parsing, printing and evaluation.

mod unified;

use super::eval::eval;
use super::inputs::{Args, ConfigValues, Inputs, Keys};
use super::value::Value;
use super::{DEPTH_MAX, Grammar, Selection};
use proptest::prelude::*;
use weir_engine::plan::output_plan::OutputPlan;
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
fn check_refusal(text: &str, at: u32, message: &str) {
    let error = Selection::parse(text).err().unwrap_or_else(|| panic!("accepted: {text}"));
    assert_eq!((error.span.start, error.message.as_str()), (at, message), "{text}");
}

/// Value of `$config`.
pub(crate) const CONFIG: &str = r#"{"unit": "EUR", "deep": {"a": [1, 2]}}"#;

/// The value of `text` over `answer`, as JSON, or why there is none.
pub(crate) fn evaluate(text: &str, answer: &str) -> String {
    evaluate_by(text, Grammar::Early, answer)
}

fn evaluate_by(text: &str, grammar: Grammar, answer: &str) -> String {
    let selection =
        Selection::parse_by(text, grammar).unwrap_or_else(|error| panic!("{text}: {}", error.message));
    let schema = Schema::from_sdl("type Query { a: Int }").expect("a schema");
    let output = OutputPlan::default();
    let variables = Variables::default();
    let ids = Ids::default();
    let object = |text| Value::read(text, 9).expect("JSON");
    let settings = ConfigValues { config: object(CONFIG), env: object("{}"), context: object("{}") };
    let args = Args { schema: &schema, ids: &ids, output: &output, variables: &variables, arguments: &[] };
    let inputs = Inputs {
        args,
        keys: Keys::NONE,
        settings: &settings,
        headers: &NoHeaders,
        caller: None,
        selection: "",
        response: None,
    };
    let json = Json::parse(answer.as_bytes(), 64).expect("JSON");
    let found = eval(&selection, selection.root(), usize::MAX, &Value::of(json.root()), &inputs);
    match found {
        Ok(Value::Missing) => "missing".to_owned(),
        Ok(value) => {
            let mut out = Vec::new();
            value.write(&mut out);
            String::from_utf8(out).expect("UTF-8")
        }
        Err(fault) => fault.to_string(),
    }
}

/// The same, and clients get it where it is taken apart into columns.
#[track_caller]
fn check(text: &str, answer: &str, expected: &str) {
    assert_eq!(evaluate(text, answer), expected, "{text} over {answer}");
    crate::project::tests::agree(text, answer);
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
    prints("a? b? { c } d?.e { f }", "a? b? { c } d?.e { f }");
    prints("x: $(a ?! b->nope(1) ?! 'n')", "x: $(a ?! b->nope(1) ?! \"n\")");
    prints("x: $([007, -.5, 5., 1e3])", "x: $([7, -0.5, 5.0, 1e3])");
    prints("x: $('a\\n\\t\\'\\\\\"')", "x: $(\"a\\nt'\\\\\\\"\")");
    prints("id ... $.a { b } ... c->first", "id ... $.a { b } ... c->first");
    prints("x: $({a, b: 1})", "x: $({a: a, b: 1})");
    prints("x: $(nullable)", "x: nullable");
    prints("a->as( $x )->map({b: @, c: $x . d})", "a->as($x)->map({b: @, c: $x.d})");
    prints("a->as($x, b->first,) { c: $x }", "a->as($x, b->first) { c: $x }");
}

#[test]
fn what_is_no_selection_is_refused_where_it_goes_wrong() {
    check_refusal("  ", 0, "nothing is selected: name the members to take, or write `$` for all");
    check_refusal("id,name", 2, "members are set apart by spaces, not commas");
    check_refusal("a { }", 4, "nothing is selected between these braces");
    check_refusal("a {", 3, "expected `}`, found the end");
    check_refusal("a }", 2, "expected a member, found `}`");
    check_refusal("id a.b", 3, "this path needs a name (`name: a.b`), or members of its own in braces");
    check_refusal("a: 1", 3, "a value that is written out stands in `$(…)`, as in `$(1)` or `$([a, b])`");
    check_refusal("a: b->first(1)", 6, "`->first` takes no argument, not 1");
    check_refusal("a: b->get", 6, "`->get` takes one argument, not 0");
    let variables = "$args $this $batch $config $context $request $env $status $response $claims $role";
    check_refusal("a: $arg.b", 3, &format!("there is no variable `$arg`: there are {variables}"));
    check_refusal("a: b ?? c", 5, "`??` stands in `$(…)`: write `$(a ?? b)`");
    check_refusal("a: b ?! c", 5, "`?!` stands in `$(…)`: write `$(a ?! b)`");
    check_refusal("a: $(b ?? c ?! d)", 12, "`??` and `?!` are not mixed: put one of them in `$(…)`");
    check_refusal("a: b? ?", 6, "one `?` is enough");
    check_refusal("a: 'b", 3, "this text has no end: its quote is missing");
    check_refusal("a: $(1x)", 5, "this is no number");
    check_refusal("a: $(-)", 5, "this is no number");
    check_refusal("a: $({b: 1, b: 2})", 12, "`b` is given twice");
    check_refusal("a: ...b", 3, "expected a value, found `...`");
    check_refusal("a->as(b)", 6, "`->as` names a value: write `->as($name)`");
    check_refusal("a: b->as($x) c: $x", 16, &format!("there is no variable `$x`: there are {variables}"));
    check_refusal("a->as($x, 1, 2)", 3, "`->as` names one value");
    check_refusal("a & b", 2, "`&` cannot stand here");
    let deep = format!("a: $({}1{})", "[".repeat(DEPTH_MAX), "]".repeat(DEPTH_MAX));
    check_refusal(&deep, 37, "more than 32 brackets are open");
}

#[test]
fn paths_go_through_objects_and_lists() {
    check("$.a.b", r#"{"a": {"b": 1.50}}"#, "1.50");
    check("$.a.b", r#"{"a": [{"b": 1}, {"b": "x"}, {}]}"#, r#"[1,"x",null]"#);
    check("$.a.b", r#"{"a": 1}"#, "missing");
    check(
        "id city: a.c $.a { s } g: { i: id }",
        r#"{"id": 1, "a": {"c": "x", "s": 2}}"#,
        r#"{"id":1,"city":"x","s":2,"g":{"i":1}}"#,
    );
    check("a { b }", r#"{"a": [{"b": 1, "c": 2}, null, {"c": 3}]}"#, r#"{"a":[{"b":1},null,{}]}"#);
    check("u: $config.unit d: $config.deep.a x: $config.y", "{}", r#"{"u":"EUR","d":[1,2]}"#);
    check(
        "x: $(a ?? b ?? 'none') y: $(a ?! 1) z: $(b ?! 1)",
        r#"{"a": null}"#,
        r#"{"x":"none","y":null,"z":1}"#,
    );
    check("x: a?.b->size y: $(a)->eq(null) z: b->eq(null)", r#"{"a": null}"#, r#"{"y":true}"#);
    check("a? b? c?", r#"{"a": 1, "b": null}"#, r#"{"a":1}"#);
}

#[test]
fn a_bare_name_begins_at_the_innermost_braces_also_in_arguments() {
    let answer = r#"{"port": "Oslo", "k": 7, "l": [1, 2], "active": false, "admin": true, "price": 2.5, "qty": 2,
        "tags": ["a", "b"], "wanted": "b", "kind": "b", "nameA": "A", "nameB": "B",
        "boats": [{"name": "Alk", "crew": [{"n": "Ida", "age": 30}, {"n": "Bo", "age": 3}]}]}"#;
    for (text, expected) in [
        ("$.l->map({n: @, m: k, o: $.k})", r#"[{"n":1,"m":7,"o":7},{"n":2,"m":7,"o":7}]"#),
        ("$.active->or(admin)", "true"),
        ("$.kind->eq(wanted)", "true"),
        ("$.tags->contains(wanted)", "true"),
        ("$.kind->match([\"a\", nameA], [\"b\", nameB])", "\"B\""),
        ("$.price->mul(qty)", "5.0"),
        ("$.admin->and($.active)->or(admin)", "true"),
        ("$(200)->eq(200)->and($(active->eq(false)))", "true"),
        ("$.boats->map({label: @.name, town: port})", r#"[{"label":"Alk","town":"Oslo"}]"#),
        ("$.boats->map(name)", "[null]"),
        ("town: port boats { name town: port }", r#"{"town":"Oslo","boats":[{"name":"Alk"}]}"#),
        ("$.boats { adults: crew->filter(@.age->gte(18)) { n } }", r#"[{"adults":[{"n":"Ida"}]}]"#),
        ("$.boats->map(@ { name p: $.name q: port })", r#"[{"name":"Alk","p":"Alk"}]"#),
        ("$.boats->map(@.crew->map(@.n))", r#"[["Ida","Bo"]]"#),
        ("$.boats.crew->map(@->size)", "[2]"),
        ("$.boats.name->first", "\"Alk\""),
        ("x: $([{a: port}, {a: k}])", r#"{"x":[{"a":"Oslo"},{"a":7}]}"#),
    ] {
        check(text, answer, expected);
    }
}

#[test]
fn members_of_values_that_are_no_objects() {
    for (text, answer, expected) in [
        (
            "friends: ids { id: $ }",
            r#"{"ids": [4, 9, null]}"#,
            r#"{"friends":[{"id":4},{"id":9},{"id":null}]}"#,
        ),
        ("friends: ids { id: @ n: name }", r#"{"ids": [[4], []]}"#, r#"{"friends":[[{"id":4}],[]]}"#),
        ("$.ids { id: $ }", r#"{"ids": ["a"]}"#, r#"[{"id":"a"}]"#),
        ("l: $config.deep.a { n: $ }", "{}", r#"{"l":[{"n":1},{"n":2}]}"#),
        (
            "l: $([1, 'a']) { n: $->toString u: $config.unit }",
            "{}",
            r#"{"l":[{"n":"1","u":"EUR"},{"n":"a","u":"EUR"}]}"#,
        ),
        // Null has no members: only an item of a list stands for itself.
        ("n { id: $ }", r#"{"n": null}"#, r#"{"n":null}"#),
        ("n { id: $ }", r#"{"n": [null, [null]]}"#, r#"{"n":[{"id":null},[{"id":null}]]}"#),
        ("$.n { id: $ }", r#"{"n": null}"#, "null"),
        ("i $.n { id: $ }", r#"{"i": 1, "n": null}"#, r#"{"i":1}"#),
        ("x: $(n) { id: @ }", r#"{"n": null}"#, r#"{"x":null}"#),
        // Members that a scalar does not have leave it unchanged.
        ("a { b }", r#"{"a": 5}"#, r#"{"a":5}"#),
        ("a { b c: $('x') }", r#"{"a": null}"#, r#"{"a":null}"#),
        ("a { b c: $('x') }", r#"{"a": 5}"#, r#"{"a":{"c":"x"}}"#),
        ("id $.a { b } $.c { d: $ }", r#"{"id": 1, "a": [{"b": 2}], "c": 3}"#, r#"{"id":1,"d":3}"#),
        ("id $.a { b: $('x') }", r#"{"id": 1, "a": null}"#, r#"{"id":1}"#),
        // The answer as a whole may be null.
        ("done: $(true) id", "null", r#"{"done":true}"#),
        ("id name", "null", "null"),
    ] {
        check(text, answer, expected);
    }
}

#[test]
fn a_name_that_is_given_twice_by_members_taken_in_becomes_one_value() {
    check(
        "x: $.s { $.a { o l v } $.b { o l v } }",
        r#"{"s": {"a": {"o": {"p": 1, "n": null}, "l": [{"a": 1}], "v": 1}, "b": {"o": {"q": 2, "n": 3}, "l": [{"b": 2}, 4], "v": "x"}}}"#,
        r#"{"x":{"o":{"p":1,"n":null,"q":2},"l":[{"a":1,"b":2},4],"v":"x"}}"#,
    );
}

#[test]
fn what_a_method_cannot_make_is_missing_and_nothing_else() {
    let answer = r#"{"t": "x", "n": null, "l": [1, "a"], "o": {}}"#;
    for (text, expected) in [
        ("$(t->not ?? false)", "false"),
        ("$(t->not ?! 1)", "1"),
        ("$(o.gone->not ?? t->add(1))", "`->add` cannot take a string"),
        ("a: t->not b: t", r#"{"b":"x"}"#),
        ("$([t->not, {a: t->not, b: 1}])", r#"[null,{"b":1}]"#),
        ("$.l->map(@->add(1))", "[2,null]"),
        ("$.t->nope(1)->eq(1)", "missing"),
        // A method of null has no value and no reason.
        ("$.n->not", "missing"),
        ("$.n->add(1)", "missing"),
        ("$(n->add(1) ?! 2)", "2"),
    ] {
        check(text, answer, expected);
    }
}

const LIST: &str = r#"{"l": [1, 2, null, 4], "t": "héllo", "o": {"a": 1, "b": "x"}, "e": [], "n": null, "b": [{"ok": true}, {}]}"#;

fn kind(method: &str, given: &str) -> String {
    format!("`->{method}` cannot take {given}")
}

fn argument(method: &str, given: &str) -> String {
    format!("`->{method}` cannot take {given} as its argument")
}

#[test]
fn methods_of_lists() {
    for (text, expected) in [
        ("$.l->echo(@->first)", "1"),
        ("$.l->echo(o.a)", "1"),
        ("$.l->echo(o.z)", "missing"),
        ("$.l->first", "1"),
        ("$.l->first()", "1"),
        ("$.l->last", "4"),
        ("$.t->first", "\"h\""),
        ("$.e->first", "missing"),
        ("$.o->first", r#"{"a": 1, "b": "x"}"#),
        ("$.n->last", "null"),
        ("$.l->map(@->mul(2))", "[2,4,null,8]"),
        ("$.l->map(@)->size", "4"),
        ("$.t->map(@->size)", "[5]"),
        ("$.t->map(o.z)", "missing"),
        ("$.n->map(o.a)", "[1]"),
        ("$.no->map(@)", "missing"),
        ("$.l->joinNotNull(',')", "\"1,2,4\""),
        ("$.t->joinNotNull(',')", "\"héllo\""),
        ("$.n->joinNotNull(',')", "\"\""),
        ("$.e->joinNotNull(',')", "\"\""),
        ("$(true)->joinNotNull(',')", "\"true\""),
        ("$.l->joinNotNull(1)", &argument("joinNotNull", "a number")),
        ("$.b->joinNotNull(',')", &kind("joinNotNull", "an object")),
        ("$.l->get(-1)", "4"),
        ("$.l->get(9)", "missing"),
        ("$.l->get(1.0)", &argument("get", "a number")),
        ("$.l->get('a')", &argument("get", "a string")),
        ("$.t->get(1)", "\"é\""),
        ("$.o->get('b')", "\"x\""),
        ("$.o->get('z')", "missing"),
        ("$.o->get(0)", &argument("get", "a number")),
        ("$(1)->get(0)", &kind("get", "a number")),
    ] {
        check(text, LIST, expected);
    }
}

#[test]
fn methods_that_choose_and_count() {
    for (text, expected) in [
        ("$.l->size", "4"),
        ("$.t->size", "5"),
        ("$.o->size", "2"),
        ("$.n->size", "missing"),
        ("$(1)->size", &kind("size", "a number")),
        ("$.o->entries", r#"[{"key":"a","value":1},{"key":"b","value":"x"}]"#),
        ("$.o->entries.key", r#"["a","b"]"#),
        ("$.l->entries", &kind("entries", "a list")),
        ("$.l->filter(@->ne(null))", "[1,2,4]"),
        ("$.l->filter(@)", &argument("filter", "a number")),
        ("$.b->filter(@.ok)", &argument("filter", "nothing")),
        ("$.b->filter($(@.ok ?? false))", r#"[{"ok": true}]"#),
        ("$(3)->filter(@->gt(1))", "[3]"),
        ("$(3)->filter(@->gt(4))", "[]"),
        ("$.l->find(@->eq(2.0))", "2"),
        ("$.l->find(@->eq(3))", "missing"),
        ("$.b->find(@.ok)", r#"{"ok": true}"#),
        ("$.l->find(@)", &argument("find", "a number")),
        ("$.l->slice(1, 3)", "[2,null]"),
        ("$.l->slice(-1)", "[1,2,null,4]"),
        ("$.l->slice(2.5, 1)", "[1]"),
        ("$.l->slice()", "[1,2,null,4]"),
        ("$.l->slice(3, 1)", "[]"),
        ("$.t->slice(1, 3)", "\"él\""),
        ("$.o->slice(1)", &kind("slice", "an object")),
        ("$.l->contains(4.0)", "true"),
        ("$.l->contains(o.z)", &argument("contains", "nothing")),
        ("$.t->contains('ll')", &kind("contains", "a string")),
        ("$(4)->in([1, 4])", "true"),
        ("$(4)->as($x)->add(1)->mul($x)", "20"),
        ("$(4)->as($x, @->add(1))->add($x)", "9"),
        ("$([1, 2])->as($all)->map(@->add($all->size))", "[3,4]"),
        ("$(1)->as($x)->echo($(2)->as($x)->add($x))->add($x)", "5"),
        ("o->as($x) { b: $x.a of: a->as($x)->add($x) }", r#"{"b":1,"of":2}"#),
        ("$(4)->in(1, 4)", "true"),
        ("$(4)->in(1)", &argument("in", "a number")),
        ("$(4)->in({a: 4})", &argument("in", "an object")),
        ("$(4)->in(o.z)", &argument("in", "nothing")),
        ("$.n->in([null])", "true"),
    ] {
        check(text, LIST, expected);
    }
}

#[test]
fn methods_of_numbers_and_truth_never_lose_digits() {
    let nothing = |method: &str| format!("`->{method}` cannot take nothing as its argument");
    for (text, expected) in [
        ("$(9007199254740993)->add(1)", "9007199254740994"),
        ("$(0.1)->add(0.2)", "0.3"),
        ("$(1)->add(1.0)", "2.0"),
        ("$(1)->div(3)", "0.333333333333333333"),
        ("$(6)->div(2)", "3.0"),
        ("$(-7)->div(2)", "-3.5"),
        ("$(7)->mod(4)->mul(1.5)->sub(5)", "-0.5"),
        ("$(-7)->mod(3)", "-1"),
        ("$(1)->mod(0)", "`->mod` has no result for these numbers"),
        ("$(1)->div(0)", "`->div` has no result for these numbers"),
        ("$(1)->div(0.0)", "`->div` has no result for these numbers"),
        ("$(1.5e300)->mul(2)", "3e+300"),
        ("$(1e400)->add(1)", "`->add` has no result for these numbers"),
        ("$('1')->add(1)", "`->add` cannot take a string"),
        ("$(1)->add('1')", "`->add` cannot take a string as its argument"),
        ("$(1)->add(gone)", &nothing("add")),
        ("$(1.0)->eq(1)", "true"),
        ("$([1, {a: 2}])->eq([1, {a: 2}])", "true"),
        ("$([1])->eq([1.0])", "false"),
        ("$({a: 1, b: 2})->eq({b: 2, a: 1})", "true"),
        ("$(1)->ne('1')", "true"),
        ("$(1)->eq(gone)", &nothing("eq")),
        ("$(1)->ne(gone)", &nothing("ne")),
        ("$('b')->gt('a')", "true"),
        ("$(2)->lte(2)", "true"),
        ("$(2)->lt('3')", "`->lt` cannot take a string as its argument"),
        ("$(true)->lt(3)", "`->lt` cannot take a boolean"),
        ("$(true)->and(true, false)", "false"),
        ("$(false)->and('x')", "false"),
        ("$(true)->and('x')", "`->and` cannot take a string as its argument"),
        ("$(true)->and(gone)", &nothing("and")),
        ("$(false)->or(gone)", &nothing("or")),
        ("$(true)->or(gone)", "true"),
        ("$('x')->or(true)", "`->or` cannot take a string"),
        ("$(false)->or(false, true)->not", "false"),
        ("$('x')->not", "`->not` cannot take a string"),
    ] {
        check(text, "{}", expected);
    }
}

#[test]
fn methods_of_texts() {
    for (text, expected) in [
        ("$('ff')->parseInt(16)", "255"),
        ("$('FF')->parseInt(16)", "255"),
        ("$(10)->parseInt(2)", "2"),
        ("$(123.6)->parseInt", "123"),
        ("$(-123.6)->parseInt()", "-123"),
        ("$('+7')->parseInt", "7"),
        ("$(' 7')->parseInt", "`->parseInt` cannot read this text"),
        ("$('0x7')->parseInt(16)", "`->parseInt` cannot read this text"),
        ("$('7.5')->parseInt", "`->parseInt` cannot read this text"),
        ("$('9223372036854775808')->parseInt", "`->parseInt` cannot read this text"),
        ("$('7')->parseInt(1)", "`->parseInt` cannot take a number as its argument"),
        ("$('x')->parseInt", "`->parseInt` cannot read this text"),
        ("$([])->parseInt", "`->parseInt` cannot take a list"),
        ("$(12)->toString", "\"12\""),
        ("$(null)->toString", "\"\""),
        ("$([1])->toString", "`->toString` cannot take a list"),
        ("$({a: [1]})->jsonStringify", "\"{\\\"a\\\":[1]}\""),
        ("$(null)->jsonStringify", "\"null\""),
        ("$.s->jsonStringify", "\"{\\\"b\\\":[1,\\\"é\\\"],\\\"a\\\":null}\""),
        ("$('{\"a\": [1]}')->jsonParse.a", "[1]"),
        ("$('{')->jsonParse", "`->jsonParse` cannot read this text"),
        ("$('b')->match(['a', 1], ['b', 2], [@, 3])", "2"),
        ("$('c')->match(['a', 1], [@, 3])", "3"),
        ("$('c')->match(['a', 1], [9])", "missing"),
        ("$(1)->match([1.0, 'a'], [1, 'b'])", "\"b\""),
        ("$(null)->match([null, 'a'])", "\"a\""),
        ("$({a: 1, b: 2})->match([{b: 2, a: 1}, 'a'])", "\"a\""),
    ] {
        check(text, r#"{"s": { "b" : [1, "\u00e9"], "a" : null }}"#, expected);
    }
}

#[test]
fn methods_of_texts_of_the_fourth_version() {
    let answer = r#"{"t": " a, b ", "n": 7, "o": {"user_id": 1, "IN": {"first-name": 2}, "l": [{"x_y": 3}]}, "e": "", "two": {"a_b": 1, "aB": 2}}"#;
    check("$.t->split(',')", answer, r#"[" a"," b "]"#);
    check("$.t->split(',')->map(@->trim)", answer, r#"["a","b"]"#);
    check("$.t->trimStart", answer, r#""a, b ""#);
    check("$.t->trimEnd", answer, r#"" a, b""#);
    check("$('äbc')->split('')", answer, r#"["ä","b","c"]"#);
    check("$.e->split('')", answer, "[]");
    check("$.e->split(',')", answer, r#"[""]"#);
    check("$('a,b,c')->split(',', 2)", answer, r#"["a","b"]"#);
    check("$('a,b,c')->split(',', 0)", answer, "[]");
    check("$('abc')->split('', 2)", answer, r#"["a","b"]"#);
    check("$('a,b,c')->split(',', -1)", answer, &argument("split", "a number"));
    check("$.n->withError('too', 'many', $.t)->add(1)", answer, "8");
    check("$.none->withError('lost')", answer, "missing");
    check("$.n->split(',')", answer, &kind("split", "a number"));
    check("$.t->split(7)", answer, &argument("split", "a number"));
    check("$.n->trim", answer, &kind("trim", "a number"));
    check("$.o->keysToCamelCase", answer, r#"{"userId":1,"in":{"first-name": 2},"l":[{"x_y": 3}]}"#);
    check("$.o->keysToCamelCaseDeep", answer, r#"{"userId":1,"in":{"firstName":2},"l":[{"xY":3}]}"#);
    check("$.o.l->keysToCamelCase { xY }", answer, r#"[{"xY":3}]"#);
    check("$.two->keysToCamelCase", answer, r#"{"aB":2}"#);
    check("$.n->keysToCamelCase", answer, &kind("keysToCamelCase", "a number"));
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
        let member = |(key, value): (&String, &String)| {
            if is_path(value) { format!("{key}: {value}") } else { format!("{key}: $({value})") }
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
            evaluate(&text, r#"{"a": [{"b": 1}, "c"], "b": null}"#);
        }
        if let Err(error) = Selection::parse_expression(&text) {
            prop_assert!(text.is_char_boundary(error.span.start as usize));
        }
    }
}
