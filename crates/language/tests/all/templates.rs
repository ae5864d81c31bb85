//! JSON literals with variables inside: what is filled in, in both readings.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use weir_language::coerce::{Reading, Settings, VariableTypes, literal};
use weir_language::error::Code;
use weir_language::json::{Json, JsonRef};
use weir_language::limits::Limits;
use weir_language::parser;
use weir_language::schema::{InputId, Schema};
use weir_language::validate::{Options, validate_for};
use weir_language::value::{Node, Values, Variables};

const SDL: &str = "
    type Query { a(x: jsonb, many: [jsonb!], where: Where, n: Int): Int }
    scalar jsonb
    scalar date
    input Where { extras: Compare = {is: 5}  and: [Where!] }
    input Compare { is: jsonb  in: [jsonb!] }
    enum Colour { RED }
";

const OPTIONS: Options = Options {
    limits: Limits::STANDARD,
    suggestions: false,
    edition_2026: false,
    subscriptions_beside: false,
};

/// Values of the literals of JSON in the first argument of `query`, or code and message of the first error.
fn filled(reading: Reading, query: &str, variables: &str) -> Result<Vec<String>, (Code, String)> {
    let schema = Schema::from_sdl(SDL).expect("a sound schema");
    let document = parser::parse(query, &Limits::STANDARD).expect("a document");
    let first = |errors: Vec<weir_language::error::Error>| (errors[0].code, errors[0].message.clone());
    let valid = validate_for(&schema, &document, &OPTIONS, reading).map_err(first)?;
    let selected = valid.select(0);
    let settings = Settings::new(reading, &Limits::STANDARD);
    let definitions = selected.operation().ast.variables;
    let types = VariableTypes::new(&schema, &document, definitions, settings, &[]).map_err(first)?;
    let types = types.with_templates(&document, selected.json_literals(), &|it| selected.variable(it));
    let json = Json::parse(variables.as_bytes(), 200).expect("JSON");
    let mut sent = Variables::default();
    let coerced = types.coerce(&schema, Some(JsonRef { json: &json, at: 0 }), settings, &mut sent);
    coerced.map_err(|errors| (errors[0].error.code, errors[0].error.message.clone()))?;
    let mut out = Values::default();
    let value = document.arguments[0].value;
    let input: InputId = valid.input(0);
    let number = |it| selected.variable(it).or_else(|| types.template(it));
    literal(&schema, &document, value, schema.input(input).ty, settings, &number, &mut out).map_err(first)?;
    let shown = out.nodes.iter().filter_map(|node| match *node {
        Node::Json(text) => Some(out.str(text).to_owned()),
        Node::Variable(number) => match sent.node(number) {
            Node::Json(text) => Some(sent.values.str(text).to_owned()),
            other => Some(format!("{other:?}")),
        },
        _ => None,
    });
    Ok(shown.collect())
}

/// The literal `x` with these variables, read strictly and leniently.
fn check(definitions: &str, x: &str, variables: &str, strict: &str, lenient: &str) {
    let query = format!("query ({definitions}) {{ a(x: {x}) }}");
    for (reading, expected) in [(Reading::Strict, strict), (Reading::Lenient, lenient)] {
        let found = filled(reading, &query, variables);
        assert_eq!(found, Ok(vec![expected.to_owned()]), "{reading:?} {query} {variables}");
    }
}

/// The same in both readings.
fn both(definitions: &str, x: &str, variables: &str, expected: &str) {
    check(definitions, x, variables, expected, expected);
}

#[test]
fn a_variable_stands_for_its_value_anywhere_in_a_literal() {
    both("$c: String", "{colour: $c}", r#"{"c": "red"}"#, r#"{"colour":"red"}"#);
    both(
        "$c: String",
        "{colour: $c, deep: [1, {b: $c}]}",
        r#"{"c": "a\"b"}"#,
        r#"{"colour":"a\"b","deep":[1,{"b":"a\"b"}]}"#,
    );
    both(
        "$y: Float",
        "{type: Point, coordinates: [1, $y]}",
        r#"{"y": 2.5}"#,
        r#"{"type":"Point","coordinates":[1,2.5]}"#,
    );
    both("$y: Int!", "[$y, $y, []]", r#"{"y": -7}"#, "[-7,-7,[]]");
    both("$y: jsonb", "[[$y], {}]", r#"{"y": {"a": [1.50]}}"#, r#"[[{"a": [1.50]}],{}]"#);
    both(
        "$y: Boolean, $z: Colour",
        "{a: {b: $y}, c: $z, d: null}",
        r#"{"y": true, "z": "RED"}"#,
        r#"{"a":{"b":true},"c":"RED","d":null}"#,
    );
    both("$w: Compare", "{w: $w}", r#"{"w":{"is":{"k":1}}}"#, r#"{"w":{"is":{"k":1}}}"#);
}

#[test]
fn what_was_not_sent_is_null_so_that_no_condition_fits_more() {
    both("$c: String", "{colour: $c, size: 1}", "{}", r#"{"colour":null,"size":1}"#);
    both("$c: String", "{colour: $c}", "{}", r#"{"colour":null}"#);
    both("$c: String", "[{a: [$c]}, {colour: $c}]", "{}", r#"[{"a":[null]},{"colour":null}]"#);
    both("$c: String", "{colour: $c}", r#"{"c": null}"#, r#"{"colour":null}"#);
    both("$c: String = \"blue\"", "{colour: $c}", "{}", r#"{"colour":"blue"}"#);
    both("$c: jsonb = {a: [b]}", "[$c]", "{}", r#"[{"a":["b"]}]"#);
    for reading in [Reading::Strict, Reading::Lenient] {
        let found = filled(reading, "query ($c: String!) { a(x: {colour: $c}) }", "{}");
        assert_eq!(found.map_err(|it| it.0), Err(Code::Variable));
    }
}

#[test]
fn hasura_fills_in_what_was_sent_and_the_specification_what_it_is_coerced_to() {
    check("$i: Int", "[$i]", r#"{"i": 1.0}"#, "[1]", "[1.0]");
    check("$i: [Int]", "{a: $i}", r#"{"i": 1}"#, r#"{"a":[1]}"#, r#"{"a":1}"#);
    check("$i: ID", "{a: $i}", r#"{"i": 1}"#, r#"{"a":"1"}"#, r#"{"a":1}"#);
    let found = filled(Reading::Lenient, "query ($i: Int) { a(x: [$i]) }", r#"{"i": "5"}"#);
    assert_eq!(found, Ok(vec![r#"["5"]"#.to_owned()]));
}

#[test]
fn every_place_that_takes_json_takes_them() {
    let check = |query: &str, expected: &[&str]| {
        for reading in [Reading::Strict, Reading::Lenient] {
            let found = filled(reading, query, r#"{"c": 1, "d": "x"}"#).expect(query);
            assert_eq!(found, expected, "{query}");
        }
    };
    check("query ($c: Int) { a(many: [{k: $c}, [$c], 2]) }", &[r#"{"k":1}"#, "[1]", "2"]);
    check("query ($c: Int) { a(many: {k: $c}) }", &[r#"{"k":1}"#]);
    check(
        "query ($c: Int, $d: String) { a(where: {extras: {is: {k: $c, l: $d}, in: [{k: $d}]}}) }",
        &[r#"{"k":1,"l":"x"}"#, r#"{"k":"x"}"#],
    );
    check("query ($c: Int) { ...F } fragment F on Query { a(x: {k: $c}) }", &[r#"{"k":1}"#]);
    check("query ($c: Int) { a(x: {k: 2}, n: $c) }", &[r#"{"k":2}"#]);
}

#[test]
fn literals_of_other_operations_are_none_of_ours() {
    let query = "query A($c: Int) { a(x: {k: $c}) } query B($c: Int, $d: Int) { a(x: {k: [$d, $c]}) }";
    assert_eq!(filled(Reading::Strict, query, r#"{"c": 1}"#), Ok(vec![r#"{"k":1}"#.to_owned()]));
}

#[test]
fn a_large_variable_that_stands_in_a_literal_many_times_is_refused() {
    let gaps = "$c ".repeat(5_000);
    let query = format!("query ($c: String) {{ a(x: [{gaps}]) }}");
    let variables = format!(r#"{{"c": "{}"}}"#, "x".repeat(10_000));
    for reading in [Reading::Strict, Reading::Lenient] {
        assert_eq!(filled(reading, &query, &variables).map_err(|it| it.0), Err(Code::LimitBytes));
    }
}

/// A value of JSON, parts of which come by variables.
#[derive(Clone, Debug)]
enum Tree {
    Leaf(Value),
    List(Vec<Tree>),
    Object(Vec<Tree>),
    /// A variable's value, and true if it is sent.
    Variable(Value, bool),
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[ -~é😀\n]{0,5}".prop_map(Value::from),
    ]
}

fn tree() -> impl Strategy<Value = Tree> {
    let value = prop_oneof![
        leaf(),
        prop::collection::vec(leaf(), 0..3).prop_map(Value::from),
        leaf().prop_map(|it| json!({"a,b": it})),
    ];
    let end = prop_oneof![
        2 => leaf().prop_map(Tree::Leaf),
        1 => (value, any::<bool>()).prop_map(|(value, is_sent)| Tree::Variable(value, is_sent)),
    ];
    let inner = end.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Tree::List),
            prop::collection::vec(inner, 0..4).prop_map(Tree::Object),
        ]
    });
    prop::collection::vec(inner, 0..4).prop_map(Tree::Object)
}

/// Writes the literal; says what it stands for.
fn write(tree: &Tree, sent: &mut Vec<Option<Value>>, out: &mut String) -> Value {
    match tree {
        Tree::Leaf(value) => {
            let _ = write!(out, "{value}");
            value.clone()
        }
        Tree::Variable(value, is_sent) => {
            let _ = write!(out, "$v{}", sent.len());
            sent.push(is_sent.then(|| value.clone()));
            if *is_sent { value.clone() } else { Value::Null }
        }
        Tree::List(items) => {
            out.push('[');
            let items = items.iter().map(|it| {
                let value = write(it, sent, out);
                out.push(' ');
                value
            });
            let items = items.collect();
            out.push(']');
            Value::Array(items)
        }
        Tree::Object(members) => {
            out.push('{');
            let mut object = Map::new();
            for (at, member) in members.iter().enumerate() {
                let _ = write!(out, " k{at}: ");
                object.insert(format!("k{at}"), write(member, sent, out));
            }
            out.push('}');
            Value::Object(object)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_filled_literal_is_the_value_without_variables(tree in tree()) {
        for reading in [Reading::Strict, Reading::Lenient] {
            let mut sent = Vec::new();
            let mut text = String::new();
            let expected = write(&tree, &mut sent, &mut text);
            let definitions: String = (0..sent.len()).map(|at| format!("$v{at}: jsonb ")).collect();
            let query = format!("query ({definitions} $n: Int) {{ a(x: {text}, n: $n) }}");
            let variables = sent.iter().enumerate();
            let variables = variables.filter_map(|(at, it)| Some((format!("v{at}"), it.clone()?)));
            let variables = Value::Object(variables.collect()).to_string();
            let found = filled(reading, &query, &variables).expect("all of it fits");
            let found: Value = serde_json::from_str(&found[0]).expect("JSON");
            prop_assert_eq!(found, expected, "{} with {}", query, variables);
        }
    }
}
